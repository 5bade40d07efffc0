"""Why an event matches a subscription, or not: condition by condition, as values.

`inquiry` finds it out, from the oracle's own judgement; `text` and `drawing` show it. What an
explanation names is true: facts stand in the event or were derived, and every step of a way is one
that the event or the knowledge states.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from sensewire.model.event import Fact
from sensewire.model.terms import Term


class Outcome(StrEnum):
    """What came of a condition, or of the whole."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"


class Link(StrEnum):
    """How a step of a way follows from the one before."""

    SENT = "as sent"
    MEANS = "means"  # a word to its root
    CLASS = "is a"  # an individual to its class, declared in the event or listed
    NARROWER = "is a kind of"  # a concept to its parent, a property to a broader one


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a way through the knowledge."""

    link: Link
    term: Term


@dataclass(frozen=True, slots=True)
class Source:
    """A fact, and where it comes from: sent, or made by a function from others."""

    fact: Fact
    function: str | None = None
    inputs: tuple["Source", ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The fact that made a condition hold, and how it reached what was asked.

    `attribute` leads from the event's attribute up to the one that was asked for, `value` from the
    event's value up to the constant; both are empty where nothing had to be known. `compared` says
    asked against actual where two values were compared.
    """

    source: Source
    attribute: tuple[Step, ...] = ()
    value: tuple[Step, ...] = ()
    compared: str | None = None


@dataclass(frozen=True, slots=True)
class Miss:
    """The nearest miss: what there was instead, and a value that would have done.

    `nearest` is None where the event has nothing near; with `instead` as one more value of the
    attribute the condition holds.
    """

    why: str
    nearest: Source | None = None
    remedy: str | None = None
    instead: Term | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One condition: an atom or a constraint."""

    text: str
    outcome: Outcome
    evidence: tuple[Evidence, ...] = ()
    miss: Miss | None = None
    notes: tuple[str, ...] = ()  # bindings, what an operator said, reasons for doubt
    distance: float = 0.0


@dataclass(frozen=True, slots=True)
class Alternative:
    """One conjunction of the subscription."""

    outcome: Outcome
    parts: tuple[Part, ...]
    note: str | None = None  # what is true of all parts together
    distance: float = 0.0


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an event matches a subscription, or not; `str()` is the explanation as text."""

    subscription: str
    text: str
    event: str
    outcome: Outcome
    alternatives: tuple[Alternative, ...]
    distance: float = 0.0
    rows: tuple[tuple[tuple[str, Term], ...], ...] = ()
    tolerance: float | None = None

    @property
    def matches(self) -> bool:
        """Whether the event matches the subscription."""
        return self.outcome is Outcome.YES

    def __str__(self) -> str:
        from sensewire.explain.text import as_text

        return as_text(self)

    def to_json(self) -> str:
        """The explanation as JSON."""
        from sensewire.explain.document import as_json

        return as_json(self)

    def to_svg(self) -> str:
        """The explanation as a drawing that stands by itself."""
        from sensewire.explain.drawing import as_svg

        return as_svg(self)


def facts_in(explanation: Explanation) -> Iterator[Source]:
    """Every fact that an explanation names, inputs of functions included."""
    for alternative in explanation.alternatives:
        for part in alternative.parts:
            sources = [evidence.source for evidence in part.evidence]
            if part.miss is not None and part.miss.nearest is not None:
                sources.append(part.miss.nearest)
            while sources:
                source = sources.pop()
                yield source
                sources.extend(source.inputs)
