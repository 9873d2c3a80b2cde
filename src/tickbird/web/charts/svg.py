"""SVG elements as text; attributes and texts are escaped."""

from __future__ import annotations

from html import escape
from typing import Self

from tickbird.web.charts.labels import clean, number

Attribute = str | float | None


class Svg(str):
    """Safe markup, which templates do not escape."""

    __slots__ = ()

    def __html__(self) -> Self:
        return self


def element(name: str, *children: Svg, **attributes: Attribute) -> Svg:
    """Build an element; `class_` is class, `text_anchor` is text-anchor, and None omits an attribute."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(children)
    return Svg(f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>")


def text_node(text: object) -> Svg:
    return Svg(escape(clean(text), quote=False))


def joined(*parts: Svg) -> Svg:
    return Svg("".join(parts))


def group(class_: str, *children: Svg) -> Svg:
    return element("g", *children, class_=class_)


def label(text: str, x: float, y: float, class_: str = "pic-label", anchor: str | None = None) -> Svg:
    """Draw a text; it starts at x unless `anchor` is middle or end."""
    return element("text", text_node(text), x=x, y=y, class_=class_, text_anchor=anchor)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Svg:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def rect(x: float, y: float, width: float, height: float, class_: str, radius: float | None = None) -> Svg:
    """Draw a box; negative sizes become 0."""
    return element("rect", x=x, y=y, width=max(0.0, width), height=max(0.0, height), rx=radius, class_=class_)


def path(d: str, class_: str) -> Svg:
    return element("path", d=Svg(d), class_=class_)


def focusable(
    description: str, href: str | None, *children: Svg, class_: str = "pic-mark", is_stop: bool = True
) -> Svg:
    """Build a symbol with a tooltip: a link, or without a URL a keyboard stop."""
    description = clean(description, 1_000) or "—"
    title = element("title", Svg(escape(description, quote=False)))
    target = local_address(href)
    if target is not None:
        return element("a", title, *children, href=target, class_=class_)
    if not is_stop:
        return element("g", title, *children, class_=class_)
    return element("g", title, *children, class_=class_, tabindex="0", role="img")


def local_address(href: str | None) -> str | None:
    """Return a URL within the dashboard; None for anything else, such as javascript:."""
    if not href or href[0] not in "/?#" or href[:2] in ("//", "/\\") or len(href) > 2_000:
        return None
    return href if href.isprintable() else None


def _value(value: str | float) -> str:
    # Paths that this module built are never truncated.
    if isinstance(value, Svg):
        return value
    return escape(clean(value, 2_000)) if isinstance(value, str) else number(value)
