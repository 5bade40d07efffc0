"""The oracle: what a match is, as code, from the raw event and the knowledge.

Short, slow and plain on purpose: it is the definition that every matcher is held to, and the last
resort of dispatch. Each clause is judged on its own (`oracle_judgement`), over the facts that were
sent and all that follow from them (`oracle_facts`).
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.asked import Asked
from sensewire.match.matcher import Answer, Found, Operator, found
from sensewire.match.oracle_facts import star_of
from sensewire.match.oracle_judgement import BUDGET, Judgement
from sensewire.match.oracle_operators import Replies
from sensewire.model.batch import Batch
from sensewire.model.canonical import Clause
from sensewire.model.event import Event
from sensewire.model.features import Feature
from sensewire.model.terms import Term


@dataclass(slots=True)
class Oracle:
    """The oracle as a matcher: it takes every clause."""

    knowledge: Knowledge
    operators: Mapping[str, Operator] = field(default_factory=dict)
    budget: int = BUDGET
    _clauses: dict[int, Clause] = field(default_factory=dict)
    _asked: Asked = field(default_factory=Asked)

    wants_canonical: ClassVar[bool] = True

    @property
    def accepts(self) -> frozenset[Feature]:
        return frozenset(Feature)

    def add(self, number: int, clause: Clause) -> None:
        self._clauses[number] = clause
        self._asked.add(clause)

    def remove(self, number: int) -> None:
        self._asked.remove(self._clauses.pop(number))

    def asks_for(self, property: Term) -> bool:
        """Whether facts with a property can make a difference to some clause."""
        return self._asked.may_be(property, self.knowledge)

    @property
    def without_pivot(self) -> int:
        return len(self._clauses)

    def key(self, clause: Clause) -> Hashable:
        return clause

    def match(self, batch: Batch) -> Found:
        if not self._clauses:
            return found()
        rows = enumerate(batch.events)
        return found([(row, answer) for row, event in rows for answer in self._answers(event)])

    def _answers(self, event: Event) -> list[Answer]:
        replies = Replies(event, self.operators)
        star = star_of(event, self.knowledge)
        made = (
            Judgement(clause, event, star, self.knowledge, replies, self.budget).answer(number)
            for number, clause in list(self._clauses.items())  # others may add meanwhile
        )
        return [answer for answer in made if answer.rows or answer.reasons]
