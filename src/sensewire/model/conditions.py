"""Constants with their readings, and the conditions that a subscription puts on one value."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from sensewire.model.terms import Term, string


class Reading(StrEnum):
    """How a constant is read: with its synonyms and all that is narrower, or as it was sent."""

    MEANING = "meaning"
    EXACT = "exact"


@dataclass(frozen=True, slots=True)
class Name:
    """A bare name read exactly: any IRI with that local name, any literal with that text."""

    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A term or an exact bare name, with its reading and its place in the text it came from."""

    value: Term | Name
    reading: Reading
    position: int | None = field(default=None, repr=False)
    """Makes no difference between constants."""

    # As a dataclass has them, but several times as fast: whoever subscribes looks up each.
    def __eq__(self, other: object) -> bool:
        return self is other or (
            other.__class__ is Constant
            and self.reading is other.reading
            and self.value == other.value
        )

    def __hash__(self) -> int:
        return hash(self.value.text)

    def __post_init__(self) -> None:
        assert not (isinstance(self.value, Name) and self.reading is Reading.MEANING), (
            "under meaning a bare word is the string that it spells"
        )


def meaning(value: Term | str, position: int | None = None) -> Constant:
    """A constant that stands for its meaning; a word is the string that it spells."""
    term = string(value) if isinstance(value, str) else value
    return Constant(term, Reading.MEANING, position)


def exact(value: Term | Name, position: int | None = None) -> Constant:
    """A constant that stands for itself alone."""
    return Constant(value, Reading.EXACT, position)


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """A variable, `?name` in texts; the canonical form keeps the name that its writer chose."""

    name: str
    written: str | None = field(default=None, repr=False)
    """Makes no difference between variables."""

    def __eq__(self, other: object) -> bool:
        return self is other or (other.__class__ is Variable and self.name == other.name)

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return f"?{self.name}"

    def as_written(self) -> "Variable":
        """The variable under the name that its writer chose."""
        return self if self.written is None else Variable(self.written)


class Relation(StrEnum):
    """An order between values."""

    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="

    def holds(self, order: int) -> bool:
        """Whether an order of -1, 0 or 1 is one of this relation.

        >>> Relation.AT_MOST.holds(0), Relation.LESS.holds(0)
        (True, False)
        """
        match self:
            case Relation.LESS:
                return order < 0
            case Relation.AT_MOST:
                return order <= 0
            case Relation.MORE:
                return order > 0
            case Relation.AT_LEAST:
                return order >= 0


class TextRelation(StrEnum):
    """A test of a value's text; `matches` searches with an RE2 expression."""

    PREFIX = "prefix"
    SUFFIX = "suffix"
    CONTAINS = "contains"
    MATCHES = "matches"


@dataclass(frozen=True, slots=True)
class Equal:
    """`= v`."""

    constant: Constant


@dataclass(frozen=True, slots=True)
class Different:
    """`!= v`: the value is not `= v`."""

    constant: Constant


@dataclass(frozen=True, slots=True)
class OneOf:
    """`in (…)`: `=` one of them."""

    constants: tuple[Constant, ...]

    def __post_init__(self) -> None:
        assert self.constants, "`in` takes at least one constant"
        object.__setattr__(self, "constants", tuple(dict.fromkeys(self.constants)))


@dataclass(frozen=True, slots=True)
class Order:
    """`<`, `<=`, `>` or `>=` a number, date, quantity or string."""

    relation: Relation
    bound: Term


@dataclass(frozen=True, slots=True)
class Between:
    """Between two bounds, both included."""

    low: Term
    high: Term


@dataclass(frozen=True, slots=True)
class Text:
    """A test of the text as it was sent."""

    relation: TextRelation
    text: str


@dataclass(frozen=True, slots=True)
class Exists:
    """Always true of a value: the attribute is there."""


@dataclass(frozen=True, slots=True)
class IsA:
    """The value is the class, an instance of it, or narrower."""

    constant: Constant


@dataclass(frozen=True, slots=True)
class IsDirectlyA:
    """The class is a declared class or a declared parent of the value."""

    constant: Constant


@dataclass(frozen=True, slots=True)
class IsAbove:
    """The value is a concept above the class, or an individual with a declared class above it."""

    constant: Constant


@dataclass(frozen=True, slots=True)
class Binds:
    """`= ?x`: any value, which the variable is bound to."""

    variable: Variable


Condition = (
    Equal
    | Different
    | OneOf
    | Order
    | Between
    | Text
    | Exists
    | IsA
    | IsDirectlyA
    | IsAbove
    | Binds
)


def constants_of(condition: Condition) -> Iterator[Constant]:
    """The constants of a condition that have a reading."""
    match condition:
        case Equal() | Different() | IsA() | IsDirectlyA() | IsAbove():
            yield condition.constant
        case OneOf():
            yield from condition.constants
        case Order() | Between() | Text() | Exists() | Binds():
            pass
