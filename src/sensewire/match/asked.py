"""Which properties clauses ask for, so that no others need be read from an event.

Cost: a look-up for each property that a clause has; a question goes through the distinct ones.
"""

from collections import Counter
from collections.abc import Iterator

from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.oracle_members import MEMBER, is_membership, is_part_of_a_list
from sensewire.match.oracle_strict import plain
from sensewire.match.oracle_values import Reader
from sensewire.model.canonical import Clause
from sensewire.model.conditions import Constant, Reading
from sensewire.model.subscription import (
    Bind,
    Conjunction,
    Not,
    OperatorCall,
    Predicate,
    TriplePattern,
)
from sensewire.model.terms import Term

_ANY = None


class Asked:
    """The properties that some clauses ask for, each as often as they do."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[Constant, bool] | None] = Counter()

    def add(self, clause: Clause) -> None:
        """Count what a clause asks for."""
        self._counts.update(_asked_by(clause))

    def remove(self, clause: Clause) -> None:
        """Forget it again."""
        self._counts -= Counter(_asked_by(clause))

    def may_be(self, property: Term, knowledge: Knowledge) -> bool:
        """Whether a property is one of them."""
        if _ANY in self._counts:
            return True
        reader = Reader(knowledge, ())
        in_members = is_membership(property) or is_part_of_a_list(property)
        for each in list(self._counts):
            assert each is not None
            asked, strict = each
            if strict:
                found = isinstance(asked.value, Term) and plain(property) == plain(asked.value)
            else:
                found = reader.names(property, asked)
                if in_members and asked.reading is Reading.MEANING:
                    found = found or reader.names(MEMBER, asked)
            if found:
                return True
        return False


def _asked_by(clause: Clause) -> Iterator[tuple[Constant, bool] | None]:
    for property in _properties_of(clause.conjunction):
        yield _ANY if property is None else (property, clause.strict)


def _properties_of(conjunction: Conjunction) -> Iterator[Constant | None]:
    """The properties that a conjunction names; None: any may be meant, or an operator reads all."""
    for atom in conjunction.atoms:
        match atom:
            case Predicate():
                yield atom.attribute
            case TriplePattern():
                yield atom.property if isinstance(atom.property, Constant) else None
            case OperatorCall():
                yield None
            case Not():
                yield from _properties_of(atom.body)
            case Bind():
                pass
