"""The oracle: what a match is, as code, from the raw event and the knowledge.

Short, slow and plain on purpose: it is the definition that every matcher is held to, and the last
resort of dispatch. Each clause is judged on its own (`oracle_judgement`), over the facts that were
sent and all that follow from them (`oracle_facts`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.matcher import Answer, Operator
from sensewire.match.oracle_facts import star_of
from sensewire.match.oracle_judgement import BUDGET, Judgement
from sensewire.match.oracle_operators import Replies
from sensewire.model.batch import Batch
from sensewire.model.canonical import Clause
from sensewire.model.event import Event
from sensewire.model.features import Feature


@dataclass(slots=True)
class Oracle:
    """The oracle as a matcher: it takes every clause."""

    knowledge: Knowledge
    operators: Mapping[str, Operator] = field(default_factory=dict)
    budget: int = BUDGET
    _clauses: dict[int, Clause] = field(default_factory=dict)

    @property
    def accepts(self) -> frozenset[Feature]:
        return frozenset(Feature)

    def add(self, number: int, clause: Clause) -> None:
        self._clauses[number] = clause

    def remove(self, number: int) -> None:
        del self._clauses[number]

    def match(self, batch: Batch) -> Sequence[Sequence[Answer]]:
        return (
            [self._answers(event) for event in batch.events] if self._clauses else [()] * len(batch)
        )

    def _answers(self, event: Event) -> list[Answer]:
        replies = Replies(event, self.operators)
        star = star_of(event, self.knowledge)
        made = (
            Judgement(clause, event, star, self.knowledge, replies, self.budget).answer(number)
            for number, clause in self._clauses.items()
        )
        return [answer for answer in made if answer.rows or answer.reasons]
