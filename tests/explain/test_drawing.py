"""Explanations as SVG: well formed, harmless, and nothing overflows or overlaps.

Proved by breaking, each caught: lines wider than their box, an ellipsis beyond it, wide letters
counted as narrow ones; the height of a miss, a function or a row left out; a way in one lane, or
the other way round; the arrow of a function at the height of other lines; a miss without dashes;
one mark for two outcomes; text not escaped, and a title with control characters.
"""

import re
import unicodedata
from itertools import combinations, pairwise
from typing import NamedTuple, TypeVar
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from sensewire.explain.canvas import CODE, LABEL, PROSE, TITLE
from sensewire.explain.drawing import as_svg
from sensewire.explain.explanation import (
    Alternative,
    Evidence,
    Explanation,
    Link,
    Miss,
    Outcome,
    Part,
    Source,
    Step,
)
from sensewire.explain.text import as_text
from sensewire.knowledge.content import in_scheme
from sensewire.model.event import Fact
from sensewire.model.terms import HOME, Term, blank, string, term_of
from sensewire.testing.terms import one_of_these, terms
from sensewire.testing.terms import texts as tame
from tests.explain.test_text import EXAMPLES, HOSTILE, LONG

T = TypeVar("T")
SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "title", "desc", "rect", "text", "path", "circle", "g"}
TYPES = {type.size: type for type in (CODE, LABEL, PROSE, TITLE)}


class Extent(NamedTuple):
    """Where something lies."""

    left: float
    top: float
    right: float
    bottom: float
    what: str

    def overlaps(self, other: "Extent") -> bool:
        across = self.left < other.right - 0.1 and other.left < self.right - 0.1
        return across and self.top < other.bottom - 0.1 and other.top < self.bottom - 0.1

    def inside(self, other: "Extent") -> bool:
        across = other.left - 0.1 <= self.left and self.right <= other.right + 0.1
        return across and other.top - 0.1 <= self.top and self.bottom <= other.bottom + 0.1


def boxes_of(root: ElementTree.Element) -> list[Extent]:
    found = []
    for rect in root.iter(f"{SVG}rect"):
        x, y, width, height = (float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
        found.append(Extent(x, y, x + width, y + height, rect.attrib["fill"]))
    return found


def words_of(root: ElementTree.Element) -> list[Extent]:
    found = []
    for text in root.iter(f"{SVG}text"):
        type = TYPES[float(text.attrib["font-size"])]
        width = type.measured(text.text or "")
        left = float(text.attrib["x"]) - (width / 2 if "text-anchor" in text.attrib else 0)
        baseline = float(text.attrib["y"])
        top, bottom = baseline - 0.75 * type.size, baseline + 0.22 * type.size
        found.append(Extent(left, top, left + width, bottom, text.text or ""))
    return found


def check_drawing(drawn: str) -> None:
    """Well formed, of known elements only, and everything in its place."""
    root = ElementTree.fromstring(drawn)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= ELEMENTS
    assert not re.search(r"href|url\(|<style|\son\w+=", re.sub(r">[^<]*<", "><", drawn))
    assert not [c for c in drawn if unicodedata.category(c) in ("Cc", "Cs") and c != "\n"]
    page, *boxes = boxes_of(root)
    words = words_of(root)
    outside = [each for each in (*boxes, *words) if not each.inside(page)]
    assert outside == []
    assert [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])] == []
    assert [pair for pair in combinations(words, 2) if pair[0].overlaps(pair[1])] == []
    over = [(w, b) for w in words for b in boxes if w.overlaps(b) and not w.inside(b)]
    assert over == []
    assert [pair for pair in combinations(levels_of(drawn), 2) if too_near(*pair)] == []


def levels_of(drawn: str) -> list[Extent]:
    """The level lines; they have no height."""
    found = []
    for start, y, end, level in re.findall(r'd="M(\S+) ([^L"]+)L(\S+) ([^"]+)"', drawn):
        if y == level:
            left, right = sorted((float(start), float(end)))
            found.append(Extent(left, float(y), right, float(y), "line"))
    return found


def too_near(one: Extent, other: Extent) -> bool:
    across = one.left < other.right - 0.1 and other.left < one.right - 0.1
    return across and abs(one.top - other.top) < 6


@pytest.mark.parametrize("example", EXAMPLES)
def test_everything_is_in_its_place(example: str) -> None:
    check_drawing(as_svg(EXAMPLES[example]))


def shown_in(drawn: str) -> set[str]:
    return {text.text or "" for text in ElementTree.fromstring(drawn).iter(f"{SVG}text")}


def test_shows_what_was_asked_the_way_and_the_fact() -> None:
    drawn = shown_in(as_svg(EXAMPLES["match"]))
    assert {"product = computer", "computer", "is a kind of", "laptop"} <= drawn
    assert {'product: "laptop"', "900 <= 1600", "means", "by experience"} <= drawn
    assert {"professional_experience: 36", "graduation_date: 1990"} <= drawn


def test_shows_a_miss_with_a_dashed_line_and_the_remedy() -> None:
    drawn = as_svg(EXAMPLES["miss"])
    assert {"1700 is 100 too much", "price of at most 1600 would match"} <= shown_in(drawn)
    assert drawn.count("stroke-dasharray") == 3  # the reason, and a line on each side of it
    assert "stroke-dasharray" not in as_svg(EXAMPLES["either"]).partition(">or<")[0]


def test_wide_letters_have_room() -> None:
    assert min(type.measured("東") / type.size for type in TYPES.values()) >= 1
    assert CODE.measured("ﷺ") > 2 * CODE.size  # one character, and three words


def test_broader_terms_stand_towards_what_was_asked() -> None:
    root = ElementTree.fromstring(as_svg(EXAMPLES["long"]))
    places = {each.what: each for each in words_of(root)}
    row = [places[name] for name in ("feline, felid", "cat", "means", "pussycat")]
    assert all(one.right < other.left for one, other in pairwise(row))
    assert max(each.top for each in row) - min(each.top for each in row) < 12


def test_a_fact_is_drawn_once_for_a_condition() -> None:
    source = Source(Fact(HOME, string("used"), term_of(True)))
    miss = Miss("it must not be so, but it is", source)
    part = Part("not used = true", Outcome.NO, (Evidence(source),), miss)
    alternative = Alternative(Outcome.NO, (part,))
    drawn = as_svg(Explanation("anna", "", "e", Outcome.NO, (alternative,)))
    assert drawn.count(">used: true</text>") == 1


def test_one_hears_what_one_cannot_see() -> None:
    root = ElementTree.fromstring(as_svg(EXAMPLES["miss"]))
    assert root.attrib["role"] == "img"
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert root[0].text == "no: e2 does not match anna"
    assert root[1].text == as_text(EXAMPLES["miss"])


def test_a_mark_tells_without_colour() -> None:
    marks = {
        outcome: as_svg(Explanation("a", "", "e", outcome, (Alternative(outcome, ()),)))
        for outcome in Outcome
    }
    signs = {o: re.findall(r'd="M25 27(m[^"]*)"', drawn)[0] for o, drawn in marks.items()}
    assert len(set(signs.values())) == 3


def test_hostile_text_is_only_text() -> None:
    drawn = as_svg(EXAMPLES["hostile"])
    assert "<script" not in drawn
    assert drawn.count("</svg>") == 1
    assert "&lt;/svg&gt;&lt;script&gt;" in drawn


def test_what_is_cut_stands_in_full_beside_it() -> None:
    root = ElementTree.fromstring(as_svg(EXAMPLES["long"]))
    assert all(LONG not in (text.text or "") for text in root.iter(f"{SVG}text"))
    assert any(LONG in (title.text or "") for title in root.iter(f"{SVG}title"))


def some(items: SearchStrategy[T], most: int) -> SearchStrategy[tuple[T, ...]]:
    return st.lists(items, max_size=most).map(tuple)


# Strategies are built once, and drawn from in composites: one built of many prints all of them.
NASTY = (HOSTILE, LONG, "W" * 90, "﷽ﷺ" * 30, "two words " * 40)
ANYTHING = tame() | one_of_these(NASTY) | st.text(st.characters(exclude_categories=()), max_size=12)
DISTANCES = st.floats(0) | st.just(0.0)
OUTCOMES = st.sampled_from(Outcome)
NAMED = st.builds(in_scheme, ANYTHING, st.sampled_from(["shop", "school"]))
TERMS = st.just(HOME) | terms() | NAMED | st.builds(blank, ANYTHING)


@st.composite
def texts(draw: DrawFn) -> str:
    """Texts of any character, half characters too, hostile and long ones."""
    return draw(ANYTHING)


@st.composite
def any_terms(draw: DrawFn) -> Term:
    """Terms of events and of the knowledge."""
    return draw(TERMS)


@st.composite
def sources(draw: DrawFn, depth: int = 0) -> Source:
    """Facts, some of them made of others."""
    fact = Fact(HOME if draw(st.booleans()) else draw(TERMS), draw(TERMS), draw(TERMS))
    if depth == 3 or draw(st.booleans()):
        return Source(fact)
    return Source(fact, draw(ANYTHING), draw(some(sources(depth + 1), 8 if depth == 0 else 2)))


PERHAPS = st.none() | texts()
STEPS = some(st.builds(Step, st.sampled_from(Link), any_terms()), 7)
EVIDENCE = some(st.builds(Evidence, sources(), STEPS, STEPS, PERHAPS), 2)
MISSES = st.builds(Miss, texts(), st.none() | sources(), PERHAPS, st.none() | any_terms())
PARTS = st.builds(
    Part, texts(), OUTCOMES, EVIDENCE, st.none() | MISSES, some(texts(), 8), DISTANCES
)
ALTERNATIVES = some(st.builds(Alternative, OUTCOMES, some(PARTS, 3), PERHAPS, DISTANCES), 3)
ROWS = some(some(st.tuples(texts(), any_terms()), 2), 12)
EXPLANATIONS = st.builds(
    Explanation,
    texts(),
    texts(),
    texts(),
    OUTCOMES,
    ALTERNATIVES,
    DISTANCES,
    ROWS,
    st.none() | DISTANCES,
)


@st.composite
def explanations(draw: DrawFn) -> Explanation:
    """Explanations of any shape; what they say need not go together."""
    return draw(EXPLANATIONS)


@settings(max_examples=60, deadline=None)
@given(explanations())
def test_every_explanation_can_be_drawn(explanation: Explanation) -> None:
    check_drawing(as_svg(explanation))


@settings(max_examples=60, deadline=None)
@given(explanations())
def test_every_explanation_can_be_told_to_a_terminal(explanation: Explanation) -> None:
    hidden = {"Cc", "Cs", "Zl", "Zp"}
    lines = as_text(explanation).split("\n")
    assert not [c for line in lines for c in line if unicodedata.category(c) in hidden]
    assert "\u202e" not in "".join(lines)
