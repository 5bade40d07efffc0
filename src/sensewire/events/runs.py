"""Runs of statements: each unbroken run of one named graph's statements is an event.

    g1  g1  g1 │ g2  g2 │ g1 │ –  – │ g3       four events, two of them g1's (–: the default graph)

A run in which anything is wrong is rejected as a whole: an event that lacks a fact could match a
`not` that it should not. Statements of the default graph belong to no event: a run of them is
rejected too. Blank nodes belong to their event. Memory: one event.
"""

from dataclasses import dataclass, field

from sensewire.events.decoding import KEPT_OF_LONG, Decoded, Decoding, Outcome, Rejected, too_long
from sensewire.model.errors import EventError
from sensewire.model.event import Event, Fact, distinct
from sensewire.model.home import home_vertex
from sensewire.model.terms import Kind, Term


@dataclass(slots=True)
class Run:
    """The run that is being read: its graph (None: the default one), where it began, what it has.

    `place` is that of its first statement, and becomes that of the first thing that is wrong.
    """

    graph: Term | None
    place: str
    decoding: Decoding
    facts: list[Fact] = field(default_factory=list)
    raw: bytearray = field(default_factory=bytearray)
    problem: str | None = None
    too_long: bool = False

    def add(self, fact: Fact, raw: bytes) -> None:
        """Take a statement of this run's graph."""
        self._keep(raw)
        if self.problem is None and not self.too_long:
            self.facts.append(fact)

    def spoil(self, place: str, reason: str, raw: bytes) -> None:
        """Take something that is wrong; the first such thing is reported."""
        self._keep(raw)
        if self.problem is None:
            self.place, self.problem = place, reason
        self.facts.clear()

    def outcome(self) -> Outcome:
        """The event, or why it is none."""
        reason = self._reason()
        if reason is not None:
            return Rejected(self.place, bytes(self.raw), reason)
        try:
            return Decoded(self.place, bytes(self.raw), self._event())
        except EventError as error:
            return Rejected(self.place, bytes(self.raw), str(error))

    def _keep(self, raw: bytes) -> None:
        if self.too_long:
            return
        self.raw += raw + b"\n"
        if len(self.raw) > self.decoding.longest:
            self.too_long = True
            self.facts.clear()
            del self.raw[min(self.decoding.longest, KEPT_OF_LONG) :]

    def _reason(self) -> str | None:
        if self.problem is not None:
            whole = f"; all of the event {self.graph} is rejected with it" if self.graph else ""
            return self.problem + whole
        if self.graph is None:
            return "statements of the default graph, which belong to no event; name a graph"
        if self.too_long:
            return f"event {self.graph}: {too_long(self.decoding.longest, len(self.raw))}"
        return None

    def _event(self) -> Event:
        assert self.graph is not None
        facts = distinct(self.facts)
        home = home_vertex(facts, self.graph)
        return Event(
            # A blank graph name means nothing outside its file, and is no id.
            id=self.graph.text if self.graph.kind is Kind.IRI else self.place,
            time=self.decoding.time_in(facts, home),
            facts=facts,
            home=home,
        )
