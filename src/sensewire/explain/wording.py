"""Words that text and drawing share: terms as people read them, safe to print and cut to a width.

An event may hold anything, so nothing of it is printed as it came: characters that move a cursor,
turn the direction of writing, pile up, sprawl or are none in XML are shown by their number. An IRI
goes by its local name, unless two things in one explanation would then read alike.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from sensewire.explain.explanation import (
    Alternative,
    Explanation,
    Link,
    Miss,
    Outcome,
    Part,
    Step,
    facts_in,
)
from sensewire.knowledge.content import SCHEME
from sensewire.model.event import Fact
from sensewire.model.terms import HOME, Kind, Term, local_name

MARKS: Mapping[Outcome, str] = {Outcome.YES: "✓", Outcome.NO: "✗", Outcome.UNDECIDED: "?"}
MOST_ALTERNATIVES = 8
MOST_ROWS = 10
MOST_INPUTS = 6
LONGEST = 4_000
"""Of a text beyond this, the middle is left out before anything else is done with it."""

_SHORT: Mapping[str, str] = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_JOINERS = "\u200c\u200d"  # format characters that many scripts and emoji cannot do without
_SPRAWLING = frozenset("﷽⸺⸻𒈙𒐫𒀱꧅")  # single characters as wide as a sentence
_MOST_MARKS = 3  # on one letter; more would reach into the lines above and below
_VALUE, _NAME, _ADDRESS = 40, 40, 60


def visible(text: str) -> str:
    """The text with every character that is not plainly seen written by its number.

    >>> print(visible("a\\x1b[31m\\u202eb"))
    a\\u001b[31m\\u202eb
    """
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]}…{text[-LONGEST // 2 :]}"
    return text if text.isascii() and text.isprintable() else "".join(_seen(text))


def _seen(text: str) -> Iterator[str]:
    marks = 0
    for character in text:
        category = unicodedata.category(character)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        hidden = category in ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp") and character not in _JOINERS
        piled = marks > _MOST_MARKS or character in _SPRAWLING
        yield _numbered(character) if hidden or piled else character


def _numbered(character: str) -> str:
    number = ord(character)
    long = f"\\U{number:08x}" if number > 0xFFFF else f"\\u{number:04x}"
    return _SHORT.get(character, long)


def columns(text: str) -> int:
    """How many columns of a terminal a text takes; wide characters take two.

    >>> columns("Zürich"), columns("東京"), columns("e\\u0301")
    (6, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, most: int) -> str:
    """The text in at most so many columns, its middle left out.

    >>> cut("a very long value", 9)
    'a ve…alue'
    """
    if columns(text) <= most:
        return text
    room = most - 1
    head = _beginning(text, room - room // 2)
    return f"{head}…{_beginning(text[::-1], room // 2)[::-1]}"


def _beginning(text: str, most: int) -> str:
    taken = 0
    for place, character in enumerate(text):
        taken += _columns(character)
        if taken > most:
            return text[:place]
    return text


@dataclass(frozen=True, slots=True)
class Wording:
    """Terms in the words of one explanation; `unclear` are the names that two of its terms have."""

    unclear: frozenset[str]

    def value(self, term: Term, most: int = _VALUE) -> str:
        """A term as a value: texts in quotes, everything else bare."""
        match term.kind:
            case Kind.STRING | Kind.UNTYPED | Kind.LANGUAGE if not _is_entity(term):
                inside = visible(term.text.replace("\\", "\\\\").replace('"', '\\"'))
                language = f"@{cut(visible(term.language), most)}" if term.language else ""
                return f'"{cut(inside, most - 2)}"{language}'
            case _:
                return self.name(term, most)

    def name(self, term: Term, most: int = _NAME) -> str:
        """A term as a name: attributes, concepts and individuals as people call them."""
        match term.kind:
            case Kind.IRI:
                own = local_name(term.text)
                if own not in self.unclear and any(map(str.isalpha, own)):
                    return cut(visible(own), most)
                return f"<{cut(visible(term.text), max(most, _ADDRESS) - 2)}>"
            case Kind.BLANK:
                return cut(visible(f"_:{term.text}"), most)
            case _ if _is_entity(term) and term.text in self.unclear:
                scheme = (term.datatype or "").removeprefix(SCHEME)
                return f"{cut(visible(term.text), most)} ({cut(visible(scheme), most)})"
            case _:
                return cut(visible(term.text), most)

    def fact(self, fact: Fact, most: int = _VALUE) -> str:
        """A fact: of the home vertex by its attribute, of another with its subject."""
        name, value = self.name(fact.property, most), self.value(fact.object, most)
        if fact.subject == HOME:
            return f"{name}: {value}"
        return f"({self.value(fact.subject, most)}, {name}, {value})"

    def binding(self, name: str, term: Term) -> str:
        """What a variable stands for."""
        return f"?{cut(visible(name), _NAME)} = {self.value(term)}"

    def remedy(self, miss: Miss) -> str | None:
        """What would have matched, with a value for it where the words name none."""
        if miss.instead is None:
            return miss.remedy
        value = self.value(miss.instead)
        if miss.remedy is None:
            return f"{value} would match"
        told = _says(miss.remedy, miss.instead)
        return miss.remedy if told else f"{miss.remedy}, such as {value}"


def _says(words: str, term: Term) -> bool:
    """Whether a remedy already names its value; of an open one (`any name`) no value is one."""
    return local_name(term.text) in words or words.startswith(("any ", "another "))


def _is_entity(term: Term) -> bool:
    """Whether a term is a plain name of the knowledge, and no text of an event."""
    return term.kind is Kind.STRING and (term.datatype or "").startswith("urn:sensewire:")


def wording_of(explanation: Explanation) -> Wording:
    """The wording for everything that an explanation names.

    >>> from sensewire.model.terms import iri
    >>> Wording(frozenset()).name(iri("http://x.org/bank"))
    'bank'
    >>> Wording(frozenset({"bank"})).name(iri("http://x.org/bank"))
    '<http://x.org/bank>'
    """
    first: dict[str, Term] = {}
    unclear = set()
    for term in _terms(explanation):
        if term.kind is Kind.IRI or (term.datatype or "").startswith(SCHEME):
            own = local_name(term.text) if term.kind is Kind.IRI else term.text
            if first.setdefault(own, term) != term:
                unclear.add(own)
    return Wording(frozenset(unclear))


def _terms(explanation: Explanation) -> Iterator[Term]:
    for source in facts_in(explanation):
        yield from source.fact
    for alternative in explanation.alternatives:
        for part in alternative.parts:
            for evidence in part.evidence:
                yield from (step.term for step in chain(evidence.attribute, evidence.value))
    yield from (term for row in explanation.rows for _, term in row)


def way_from(sent: Term, steps: tuple[Step, ...]) -> tuple[Term, tuple[Step, ...]]:
    """Where a way begins, and the steps after it."""
    if steps and steps[0].link is Link.SENT:
        return steps[0].term, steps[1:]
    return sent, steps


def in_order(explanation: Explanation) -> tuple[Alternative, ...]:
    """The alternatives that are shown: one that holds first, then those in doubt, then the rest."""
    ranks = (Outcome.YES, Outcome.UNDECIDED, Outcome.NO)
    ordered = sorted(explanation.alternatives, key=lambda each: ranks.index(each.outcome))
    return tuple(ordered[:MOST_ALTERNATIVES])


def verdict(explanation: Explanation) -> str:
    """The whole answer in one line."""
    event = cut(visible(explanation.event), 2 * _NAME)
    asker = cut(visible(explanation.subscription), 2 * _NAME)
    match explanation.outcome:
        case Outcome.YES:
            said = f"yes: {event} matches {asker}"
            if explanation.tolerance is not None:
                said += f", at a distance of {explanation.distance:.4g}"
        case Outcome.NO:
            said = f"no: {event} does not match {asker}"
        case Outcome.UNDECIDED:
            said = f"undecided: {event} may match {asker}"
    if explanation.tolerance is not None:
        said += f" (within {explanation.tolerance:.4g})"
    return said


def remarks(part: Part) -> list[str]:
    """The notes on a condition, and how far it is met if they do not tell."""
    far = f"{part.distance:.4g}"
    told = not part.distance or any(far in note for note in part.notes)
    return [*part.notes, *([] if told else [f"{far} away"])]


def more(count: int, noun: str) -> str:
    """How many were left out.

    >>> more(1, "row"), more(1200, "row")
    ('… 1 more row', '… 1,200 more rows')
    """
    return f"… {count:,} more {noun}" + ("" if count == 1 else "s")
