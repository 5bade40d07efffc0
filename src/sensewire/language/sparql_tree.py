"""What a SPARQL query says, before its groups are spread into conjunctions.

A path with `|` or `!` is a `Union` of groups, as if it had been written so; blank nodes and the
middles of paths are variables that no query can name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sensewire.model.conditions import Constant, Variable
from sensewire.model.expressions import Expression
from sensewire.model.subscription import TriplePattern
from sensewire.model.terms import Term


@dataclass(slots=True, eq=False)
class Triples:
    """Triple patterns that stand together, and the variables that they bind."""

    patterns: list[TriplePattern] = field(default_factory=list)
    binds: set[Variable] = field(default_factory=set)


@dataclass(frozen=True, slots=True, eq=False)
class Union:
    """One of several groups; of one, a group inside a group."""

    groups: tuple["Group", ...]
    position: int


@dataclass(frozen=True, slots=True, eq=False)
class Minus:
    """What stands before it, without what is compatible with the group."""

    group: "Group"
    position: int


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """A conjunct of a FILTER, and where its variables stand."""

    expression: Expression
    position: int
    places: Mapping[Variable, int]


@dataclass(frozen=True, slots=True, eq=False)
class Exists:
    """FILTER EXISTS or NOT EXISTS."""

    group: "Group"
    negated: bool
    position: int


@dataclass(frozen=True, slots=True, eq=False)
class Below:
    """`?p rdfs:subPropertyOf* P` under meaning: the property may be any that is ⊑ P."""

    variable: Variable
    property: Constant
    position: int


@dataclass(frozen=True, slots=True, eq=False)
class Assigned:
    """BIND of a constant."""

    variable: Variable
    term: Term
    position: int


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """A table of terms; None is UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[Constant | None, ...], ...]
    position: int


Element = Triples | Union | Minus | Condition | Exists | Below | Assigned | Values


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """What stands between { and }."""

    elements: list[Element]
    position: int


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """SELECT or ASK; `select` is None for ASK."""

    where: Group
    select: tuple[Variable, ...] | None
    places: dict[Variable, int]
    """Where each variable stands first."""
    fresh: Callable[[], Variable]
    """Makes variables that the query does not name."""
