"""Candidates judged once more, as the oracle does: whoever found them was not sure."""

from collections.abc import Callable, Mapping

from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.matcher import Answer, Operator
from sensewire.match.oracle_facts import Star
from sensewire.match.oracle_judgement import Judgement
from sensewire.match.oracle_operators import Replies
from sensewire.model.canonical import Clause
from sensewire.model.event import Event

Told = Callable[[int], tuple[Event, Star]]
"""The event of a row, and its facts with what follows from them."""


class Judge:
    """Judges candidates as the oracle does, each event told once."""

    def __init__(self, knowledge: Knowledge, operators: Mapping[str, Operator], told: Told) -> None:
        self._knowledge = knowledge
        self._operators = operators
        self._told = told
        self._known: dict[int, tuple[Event, Star, Replies]] = {}

    def answer(self, row: int, number: int, clause: Clause) -> Answer:
        """What a clause says of the event of a row."""
        if row not in self._known:
            event, star = self._told(row)
            self._known[row] = (event, star, Replies(event, self._operators))
        event, star, replies = self._known[row]
        return Judgement(clause, event, star, self._knowledge, replies).answer(number)
