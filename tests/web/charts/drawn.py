"""Checks for all charts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from tickbird.web.charts import Chart

SPACE = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "<script>alert(1)</script>",
    'a" onload="alert(1)',
    "]]></title><img src=x>&amp;&#0;",
    "nul\x00bell\x07esc\x1b[31m",
    "abc\u202eevil\u2066\u2069 שלום عربي",
    "lone\ud800surrogate\uffff",
    "x" * 10_000,
    "",
)

_ELEMENTS = {"svg", "title", "desc", "g", "a", "text", "line", "rect", "circle", "path"}
_ATTRIBUTES = {
    "class", "viewBox", "width", "height", "role", "aria-label", "tabindex", "href", "text-anchor", "x", "y", "x1",
    "y1", "x2", "y2", "cx", "cy", "r", "rx", "d",
}  # fmt: skip
_NUMBERS = _ATTRIBUTES - {"class", "viewBox", "role", "aria-label", "href", "text-anchor", "d"}
_NUMBER = re.compile(r"-?\d+(?:\.\d{1,2})?")
_STEP = re.compile(r"([MLHVAZmlhvaz])([^A-Za-z]*)")
_TOLERANCE = 0.02  # what rounding to two decimals may add up to


def sound(picture: Chart, maximum: int = 1_200_000) -> ET.Element:
    """The drawing of a picture, once everything that holds for all of them has been found to hold."""
    text = str(picture.svg)
    text.encode()
    assert len(text) <= maximum
    root = ET.fromstring(text)
    assert root.get("role") in ("img", "group")
    assert picture.title
    assert picture.summary
    # A small one of many says everything in its title.
    assert root[0].tag == f"{SPACE}title"
    assert root[1].tag == f"{SPACE}desc" or (root.get("role") == "img" and picture.summary in (root[0].text or ""))
    width, height = (float(each) for each in root.attrib["viewBox"].split()[2:])
    for each in root.iter():
        assert each.tag.removeprefix(SPACE) in _ELEMENTS
        assert set(each.attrib) <= _ATTRIBUTES, each.attrib
        for name in _NUMBERS & set(each.attrib):
            assert _NUMBER.fullmatch(each.attrib[name]), (name, each.attrib[name])
        for x, y in _points(each):
            assert math.isfinite(x)
            assert math.isfinite(y)
            assert -_TOLERANCE <= x <= width + _TOLERANCE, (each.tag, each.attrib, x, width)
            assert -_TOLERANCE <= y <= height + _TOLERANCE, (each.tag, each.attrib, y, height)
    stops = [each for each in root.iter() if each.tag == f"{SPACE}a" or "tabindex" in each.attrib]
    for each in stops:
        # Its tooltip is its name.
        assert each[0].tag == f"{SPACE}title"
        assert each[0].text
    # Nothing within an image can be visited.
    assert root.get("role") == "group" or not stops
    for row in picture.table.rows:
        assert len(row) == len(picture.table.heads)
    assert len(picture.table.hrefs) == len(picture.table.rows)
    return root


def marks(root: ET.Element) -> list[ET.Element]:
    """The symbols, in drawing order."""
    return [each for each in root.iter() if each.get("class") == "pic-mark"]


def told(root: ET.Element) -> list[str]:
    """The tooltips of all marks."""
    return [each[0].text or "" for each in marks(root)]


def find(root: ET.Element, name: str) -> list[ET.Element]:
    """Elements of a class."""
    return [each for each in root.iter() if name in each.get("class", "").split()]


def texts(root: ET.Element, name: str) -> list[str]:
    """The words of all elements of a class."""
    return [each.text or "" for each in find(root, name)]


def place(each: ET.Element) -> float:
    """Where an element stands along x: its middle."""
    if "cx" in each.attrib:
        return float(each.attrib["cx"])
    if "x1" in each.attrib:
        return (float(each.attrib["x1"]) + float(each.attrib["x2"])) / 2
    if "width" in each.attrib:
        return float(each.attrib["x"]) + float(each.attrib["width"]) / 2
    if "x" in each.attrib:
        return float(each.attrib["x"])
    xs = [x for x, _ in _points(each)]
    return (min(xs) + max(xs)) / 2


def _points(each: ET.Element) -> Iterator[tuple[float, float]]:
    """The corners of an element; estimated for text."""
    at = {name: float(each.attrib[name]) for name in _NUMBERS & set(each.attrib)}
    match each.tag.removeprefix(SPACE):
        case "line":
            yield from ((at["x1"], at["y1"]), (at["x2"], at["y2"]))
        case "rect":
            assert at["width"] >= 0
            assert at["height"] >= 0
            yield from ((at["x"], at["y"]), (at["x"] + at["width"], at["y"] + at["height"]))
        case "circle":
            assert at["r"] > 0
            yield from ((at["cx"] - at["r"], at["cy"] - at["r"]), (at["cx"] + at["r"], at["cy"] + at["r"]))
        case "text":
            # A letter is about six pixels wide; an isolate none.
            room = 6 * len(re.sub("[\u2068\u2069]", "", each.text or ""))
            left = at["x"] - {"middle": room / 2, "end": room}.get(each.get("text-anchor", ""), 0)
            yield from ((left, at["y"]), (left + room, at["y"]))
        case "path":
            yield from _corners(each.attrib["d"])


def corners(each: ET.Element) -> list[tuple[float, float]]:
    """The points that a path goes through."""
    return list(_corners(each.attrib["d"]))


def _corners(d: str) -> Iterator[tuple[float, float]]:
    x = y = 0.0
    assert re.fullmatch(r"[MLHVAZmlhvaz0-9.\- ]*", d), d
    for step, rest in _STEP.findall(d):
        values = [float(each) for each in re.findall(r"-?\d*\.?\d+", rest)]
        match step:
            case "M" | "L" | "A":
                x, y = values[-2:]
            case "l" | "a" | "m":
                x, y = x + values[-2], y + values[-1]
            case "H":
                x = values[0]
            case "h":
                x += values[0]
            case "V":
                y = values[0]
            case "v":
                y += values[0]
            case _:
                continue
        yield x, y
