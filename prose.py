"""Check the wording of docs, help, pages, docstrings, comments and messages, and the subjects of commits.

`python prose.py` lists phrases that readers stumble over, each with its location and a better one. `--count` prints
how often each phrase occurs. `./dev check` runs it.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import shutil
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent
MAX_SUBJECT: Final = 72
# Older commits were written before subjects had a form.
FIRST_CHECKED_COMMIT: Final = "19d4ffc26cec97917f36c78e4bb1f16ee784a65b"
SUBJECT: Final = re.compile(r"(Merge|Revert) |[a-z][a-z0-9 ,/_.-]*: \S")
# A phrase and its replacement. Few and certain: each has to be wrong nearly everywhere.
PHRASES: Final = {
    r"; else\b": "(default: X)",
    r"\b(whoever|whichever|whatever (?!the\b|its\b))\b": "the noun: the caller, the value, any",
    r"\bthose who\b": "the noun: users, callers, clients",
    r"\b(nobody|somebody)\b": "the noun: no worker, a user",
    r"\banew\b": "again",
    r"\bso (many|long|far|much|often) (is|are|as|a|an|of|the|at|seconds|may|it|for)\b": "N, at most N, how many",
    r"\bgo(es)? on\b(?! standby)": "continue, is still running",
    r"\b(is|are) told\b": "is notified, receives, the message says",
    r"(?<!there )\b(is|are) no (?!longer\b|more\b|such\b)[a-z]+": "is not a …",
    r"\bbe it\b": "even if",
    r"\bshall\b": "must, will",
    r"(?<!queue )\bbehind (it|them|that|this|the (last|first|page|name|key))\b": "after",
    r"\bwhere (that|this|it|there) (is|are) (so|none|one|nothing)\b": "if",
    r"\bone (logs|types|looks|wants|sees)\b": "you",
    r"\bas it stands\b": "unchanged, currently",
    r"\blengths? of time\b": "duration",
    r"\bparted by\b": "separated by",
    r"\bwhat becomes of\b": "the outcome of",
    r"\bput(s)? back\b": "requeue, restore",
    r"\blet(s)? go of\b": "release, close",
    r"\bby which (it|they) (is|are)\b": "name the thing",
    r"\bcan(not)? be gone by\b": "is valid, is used",
}
MARKDOWN: Final = ("*.md", "docs/*.md", "docs/**/*.md", "bench/*.md", "examples/**/*.md")
PYTHON: Final = (
    "src/**/*.py",
    "lab/**/*.py",
    "conformance/**/*.py",
    "bench/**/*.py",
    "examples/**/*.py",
    "*.py",
    "dev",
)
TEXT: Final = ("src/**/*.txt",)
HTML: Final = ("src/**/*.html",)
SQL: Final = ("src/**/*.sql",)
# Landed migrations are never edited; this file names the phrases.
EXCLUDED: Final = re.compile(r"/migrations/|^prose\.py$|^CHANGELOG\.md$")


Read = Callable[[str], Iterator[tuple[int, str]]]


class Finding(NamedTuple):
    path: str
    line: int
    phrase: str
    replacement: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", action="store_true", help="print how often each phrase occurs")
    options = parser.parse_args()
    findings = list(find_phrases())
    if options.count:
        for phrase, count in Counter(finding.replacement for finding in findings).most_common():
            print(f"{count:6}  instead of: {phrase}")
        print(f"{len(findings):6}  in all")
        return 0
    lines = [f'{path}:{line}: "{phrase}": write {better}' for path, line, phrase, better in findings]
    lines += check_subjects()
    print("\n".join(lines), file=sys.stderr)
    return 1 if lines else 0


def find_phrases() -> Iterator[Finding]:
    """The phrases in all texts of the repository."""
    patterns = [(re.compile(phrase, re.IGNORECASE), better) for phrase, better in PHRASES.items()]
    for path, read in list_files():
        for line, text in read((ROOT / path).read_text()):
            for pattern, better in patterns:
                for match in pattern.finditer(text):
                    yield Finding(path, line + text[: match.start()].count("\n"), " ".join(match[0].split()), better)


def list_files() -> Iterator[tuple[str, Read]]:
    """The files, each with the function that yields its texts by line."""
    for globs, read in ((MARKDOWN, markdown), (PYTHON, python), (TEXT, plain), (HTML, html), (SQL, sql)):
        files = {path.relative_to(ROOT).as_posix() for glob in globs for path in ROOT.glob(glob) if path.is_file()}
        yield from ((path, read) for path in sorted(files) if not EXCLUDED.search(path))


def markdown(text: str) -> Iterator[tuple[int, str]]:
    """The text without code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"`[^`]*`", "`", line)


def python(text: str) -> Iterator[tuple[int, str]]:
    """Comments, docstrings and other strings with several words."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") > 1:
            yield node.lineno, re.sub(r"`[^`]*`", "`", node.value)


def plain(text: str) -> Iterator[tuple[int, str]]:
    yield from enumerate(text.splitlines(), 1)


def html(text: str) -> Iterator[tuple[int, str]]:
    """The text between tags, and the attributes that people read."""
    for number, line in enumerate(text.splitlines(), 1):
        yield number, re.sub(r"\{[{%#].*?[}%#]\}", " ", line)


def sql(text: str) -> Iterator[tuple[int, str]]:
    """Comments."""
    for number, line in enumerate(text.splitlines(), 1):
        if "--" in line:
            yield number, line.partition("--")[2]


def check_subjects() -> list[str]:
    """Commits whose subject is too long, or lacks its area."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        return []
    command = [git, "log", "--no-merges", "--format=%h %s", f"{FIRST_CHECKED_COMMIT}..HEAD"]
    log = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    # A shallow clone lacks the first commit.
    commits = [line.partition(" ") for line in log.stdout.splitlines()] if log.returncode == 0 else []
    return [
        f"commit {commit}: {subject!r}: write `area: change` in at most {MAX_SUBJECT} characters"
        for commit, _, subject in commits
        if len(subject) > MAX_SUBJECT or not SUBJECT.match(subject)
    ]


if __name__ == "__main__":
    sys.exit(main())
