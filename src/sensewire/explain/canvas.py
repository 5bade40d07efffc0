"""Boxes, lines and measured words of an SVG, as strings.

The font is the reader's, so widths are estimates: those of a wide font (DejaVu), scripts other than
Latin, Greek and Cyrillic counted double, ligatures by the letters that they stand for, up to four.
The cost is linear in what is shown.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Literal

from sensewire.explain.explanation import Outcome
from sensewire.explain.wording import visible

_NARROW = frozenset("iljtfrI.,:;'|!()[] /\\-")
_BROAD = frozenset("MWmw@%…")
_ROUNDING = 0.01  # a box as wide as its words takes them
_SANS = "Verdana,'DejaVu Sans',Arial,sans-serif"
_MONO = "Menlo,Consolas,'DejaVu Sans Mono',monospace"


@dataclass(frozen=True, slots=True)
class Type:
    """How words are set."""

    family: Literal["sans", "mono"]
    size: float
    leading: float
    colour: str = "#1f2430"
    weight: str = "normal"

    def measured(self, text: str) -> float:
        """How wide a text is at most.

        >>> CODE.measured("price") < CODE.measured("prices") < CODE.measured("東京東京")
        True
        """
        return sum(map(self._measured, text)) * self.size

    def _measured(self, character: str) -> float:
        if unicodedata.combining(character):
            return 0.1
        if ord(character) > 0x52F and character != "…":
            letters = unicodedata.normalize("NFKC", character) if character.isalpha() else " "
            return 1.25 * min(len(letters), 4)
        if self.family == "mono":
            return 0.61
        bold = 1.12 if self.weight == "bold" else 1.0
        if character in _NARROW:
            return 0.42 * bold
        return (1.0 if character in _BROAD else 0.8 if character.isupper() else 0.65) * bold


@dataclass(frozen=True, slots=True)
class Look:
    """How a box looks."""

    fill: str
    stroke: str
    dash: str = ""

    def dashed(self) -> "Look":
        """The same with a dashed border."""
        return replace(self, dash="5 3")


CODE = Type("mono", 12, 16)
PROSE = Type("sans", 11.5, 15)
LABEL = Type("sans", 10, 13, "#57606a")
TITLE = Type("sans", 16, 21, weight="bold")
GREEN = Look("#e7f5ea", "#1a7f37")
RED = Look("#fdeceb", "#b3261e")
AMBER = Look("#fff5d9", "#8a5a00")
FACT = Look("#f3f5f8", "#6b7583")
KNOWN = Look("#e6effc", "#3a66a8")
FUNCTION = Look("#f1eafb", "#6f47ae")
PLAIN = Look("#ffffff", "#6b7583")
_LINE = "#6b7583"
LOOKS: Mapping[Outcome, Look] = {Outcome.YES: GREEN, Outcome.NO: RED, Outcome.UNDECIDED: AMBER}
_SIGNS: Mapping[Outcome, str] = {
    Outcome.YES: "m-4 0 3 3 5-6",
    Outcome.NO: "m-3.5-3.5 7 7m0-7-7 7",
    Outcome.UNDECIDED: "m-2.6-2a2.6 2.6 0 1 1 3.8 2.3q-1.2.6-1.2 1.9m0 2.6v.1",
}


def wrapped(text: str, width: float, type: Type, most: int) -> list[str]:
    """The text in lines of at most this width; what goes beyond the last ends in an ellipsis.

    >>> wrapped("price at most 1600", 75, CODE, 2)
    ['price at', 'most 1600']
    >>> wrapped("price at most 1600 and more", 75, CODE, 2)
    ['price at', 'most 1600…']
    """
    lines: list[str] = []
    rest = text.strip()
    while rest and len(lines) < most:
        fitting = _fitting(rest, width, type)
        if fitting == len(rest):
            return [*lines, rest]
        if len(lines) == most - 1:
            room = width - type.measured("…")
            return [*lines, rest[: _fitting(rest, room, type)].rstrip() + "…"]
        space = rest.rfind(" ", 1, fitting + 1)
        fitting = space if space > 0 else fitting
        lines.append(rest[:fitting].rstrip())
        rest = rest[fitting:].lstrip()
    return lines or [""]


def _fitting(text: str, width: float, type: Type) -> int:
    """How many characters fit; one always does, so that every text comes to an end."""
    used = 0.0
    for place, character in enumerate(text):
        used += type.measured(character)
        if used > width + _ROUNDING:
            return max(place, 1)
    return len(text)


class Canvas:
    """The elements of a drawing so far."""

    def __init__(self) -> None:
        self.elements: list[str] = []

    def words(
        self, x: float, baseline: float, text: str, type: Type, anchor: str = "start"
    ) -> None:
        """One line of words."""
        weight = f' font-weight="{type.weight}"' if type.weight != "normal" else ""
        placed = f' text-anchor="{anchor}"' if anchor != "start" else ""
        family = _MONO if type.family == "mono" else _SANS
        self.elements.append(
            f'<text x="{x:g}" y="{baseline:g}" font-family="{family}" font-size="{type.size:g}" '
            f'fill="{type.colour}"{weight}{placed}>{escape(text)}</text>'
        )

    def prose(
        self,
        column: tuple[float, float],
        top: float,
        text: str,
        type: Type,
        most: int,
        anchor: str = "start",
    ) -> float:
        """Words in a column, from the top down; returns where they end."""
        lines = wrapped(text, column[1] - column[0], type, most)
        x = column[0] if anchor == "start" else (column[0] + column[1]) / 2
        self.elements.append(f"<g>{_title(text)}")
        for line in lines:
            self.words(x, top + type.leading * 0.75, line, type, anchor)
            top += type.leading
        self.elements.append("</g>")
        return top

    def box(
        self,
        column: tuple[float, float],
        top: float,
        lines: Sequence[str],
        type: Type,
        look: Look,
        title: str,
        *,
        least: float = 0.0,
        left: float | None = 8.0,
    ) -> float:
        """A box at least so high, its lines so far from the left or else centred; its height."""
        height = max(least, type.leading * len(lines) + (8 if len(lines) == 1 else 10))
        dash = f' stroke-dasharray="{look.dash}"' if look.dash else ""
        self.elements.append(
            f'<g>{_title(title)}<rect x="{column[0]:g}" y="{top:g}" '
            f'width="{column[1] - column[0]:g}" height="{height:g}" rx="5" fill="{look.fill}" '
            f'stroke="{look.stroke}"{dash}/>'
        )
        baseline = top + (height - type.leading * len(lines)) / 2 + type.leading * 0.76
        x = (column[0] + column[1]) / 2 if left is None else column[0] + left
        anchor = "middle" if left is None else "start"
        for number, line in enumerate(lines):
            self.words(x, baseline + number * type.leading, line, type, anchor)
        self.elements.append("</g>")
        return height

    def mark(self, outcome: Outcome, x: float, y: float) -> None:
        """The sign of an outcome, as a form that needs no font."""
        self.elements.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="9" fill="{LOOKS[outcome].stroke}"/>'
            f'<path d="M{x:g} {y:g}{_SIGNS[outcome]}" fill="none" stroke="#fff" stroke-width="2" '
            'stroke-linecap="round" stroke-linejoin="round"/>'
        )

    def line(
        self, x1: float, y1: float, x2: float, y2: float, stroke: str = _LINE, dash: str = ""
    ) -> None:
        """A line."""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.elements.append(
            f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{stroke}" fill="none"{dashes}/>'
        )

    def arrow(self, start: float, end: float, y: float, stroke: str = _LINE) -> None:
        """A level arrow, its head at the end."""
        back = end + (6 if start > end else -6)
        self.line(start, y, back, y, stroke)
        self.elements.append(
            f'<path d="M{end:g} {y:g}L{back:g} {y - 3.5:g}V{y + 3.5:g}Z" fill="{stroke}"/>'
        )


def _title(text: str) -> str:
    return f"<title>{escape(visible(text))}</title>"
