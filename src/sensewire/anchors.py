"""Anchors: for a clause, one condition that an event meets wherever the clause has an answer.

An *answer* is a match or a failure. A conjunction answers only where each of its atoms that is not
negated has a solution, or may have one, by itself; so any such atom alone is an anchor, and so is
whatever follows from it. Constraints, `not`, `injective` and operators (which are asked last) only
take solutions away, and are left out.

    a = v, a in (…)       as it is; under `within t` that may be met nearly, so with the same t
    a is a C              as it is; `within` does not soften it
    another condition     a exists: a value, or a doubt about one, has to be there; under `within` a
                          number may be past its bound, but stands under the attribute all the same
    (home, a, v)          a = v; strict terms are told apart in other ways, so there a exists
    (home, a, ?x)         a exists
    another pattern       as it is, alone
    nothing of these      everything

Under `within`, `a = v` is never weakened to `a exists`: it may be met under a more general
attribute than a. Cost: linear in the clause.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import assert_never

from sensewire.model.canonical import renamed, text_of
from sensewire.model.conditions import Constant, Equal, Exists, IsA, Name, OneOf, Variable
from sensewire.model.subscription import (
    Atom,
    Bind,
    Conjunction,
    Home,
    Not,
    OperatorCall,
    Predicate,
    Subscription,
    TriplePattern,
)
from sensewire.model.terms import Kind


class Form(IntEnum):
    """What an anchor asks for, the best forms first."""

    VALUE = 0
    """A value of an attribute; a fact with a constant at one end at least."""
    ATTRIBUTE = 1
    """An attribute, whatever its value; a fact with a property, whatever its ends."""
    EVERYTHING = 2
    """Nothing, or any fact."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A condition of one atom, or none: then every event meets it."""

    atom: Predicate | TriplePattern | None = None
    tolerance: float | None = None
    strict: bool = False

    @property
    def form(self) -> Form:
        """What it asks for."""
        match self.atom:
            case None:
                return Form.EVERYTHING
            case TriplePattern(subject, property, end):
                if isinstance(subject, Constant) or isinstance(end, Constant):
                    return Form.VALUE
                named = isinstance(property, Constant) or Home() in (subject, end)
                return Form.ATTRIBUTE if named else Form.EVERYTHING
            case Predicate(condition=Exists()):
                return Form.ATTRIBUTE
            case _:
                return Form.VALUE

    @property
    def text(self) -> str:
        """A text that no other anchor has."""
        return f"{text_of(self.atom, {})} {self.tolerance} {self.strict}"

    def subscription(self) -> Subscription:
        """The subscription that takes what meets the anchor."""
        atoms = () if self.atom is None else (self.atom,)
        made = Conjunction(atoms)
        return Subscription((made,), strict=self.strict, tolerance=self.tolerance)


EVERYTHING = Anchor()


def anchor_of(atom: Atom, tolerance: float | None, strict: bool) -> Anchor | None:
    """The anchor that an atom is for its clause; None where it asks nothing of an event alone.

    >>> from sensewire.language.parse import parse
    >>> from sensewire.language.unparse import unparse
    >>> (conjunction,) = parse("brand = Ford and price < 9000 and not used = true").conjunctions
    >>> anchors = [anchor_of(atom, tolerance=None, strict=False) for atom in conjunction.atoms]
    >>> [each and unparse(each.subscription()) for each in anchors]
    ['brand = Ford', 'price exists', None]
    """
    match atom:
        case Predicate(condition=Equal()):
            return Anchor(atom, tolerance)
        case Predicate(condition=OneOf()):
            return Anchor(renamed(atom, {}), tolerance)
        case Predicate(condition=IsA()):
            return Anchor(atom)
        case Predicate(attribute):
            return Anchor(Predicate(attribute, Exists()))
        case TriplePattern(Home(), Constant() as property, end) if is_attribute(property):
            asked = Equal(end) if isinstance(end, Constant) and not strict else Exists()
            return Anchor(Predicate(property, asked))
        case TriplePattern():
            return Anchor(_nameless(atom), strict=strict)
        case OperatorCall() | Bind() | Not():
            return None
        case _:
            assert_never(atom)


def is_attribute(property: Constant) -> bool:
    """Whether a pattern's property can stand before a condition; a number, say, cannot."""
    value = property.value
    return isinstance(value, Name) or value.kind in (Kind.STRING, Kind.IRI)


def _nameless(pattern: TriplePattern) -> TriplePattern:
    """A pattern whose variables are numbered in the order in which they stand."""
    parts = (pattern.subject, pattern.property, pattern.object)
    variables = dict.fromkeys(part for part in parts if isinstance(part, Variable))
    return renamed(pattern, {each: Variable(str(n)) for n, each in enumerate(variables)})
