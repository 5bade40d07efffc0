"""Constants, terms and conditions of the model as our language writes them.

The inverse of `values` and `comparisons`: bare words and numbers where they read back the same,
quotes elsewhere. What no text can say raises `UnsupportedError`.
"""

from dataclasses import dataclass
from typing import assert_never

from sensewire.language.values import UNBOUND_KINDS, date_term, number_term
from sensewire.language.words import (
    is_absolute,
    is_bare,
    is_language,
    is_number,
    is_quantity,
    is_variable,
    quoted,
)
from sensewire.model import terms
from sensewire.model.conditions import (
    Between,
    Binds,
    Condition,
    Constant,
    Different,
    Equal,
    Exists,
    IsA,
    IsAbove,
    IsDirectlyA,
    Name,
    OneOf,
    Order,
    Reading,
    Text,
    Variable,
)
from sensewire.model.errors import UnsupportedError
from sensewire.model.terms import Kind, Term


@dataclass(frozen=True, slots=True)
class Spelling:
    """Writes values; in a strict subscription every constant is exact, and none is a bare word."""

    strict: bool

    def constant(self, constant: Constant) -> str:
        """A constant with its reading."""
        value = constant.value
        if self.strict or constant.reading is Reading.MEANING:
            assert isinstance(value, Term)
            return self.term(value)
        if isinstance(value, Name):
            return f"exactly {name(value.text)}"
        if value.kind is Kind.STRING:
            return f"exactly {quoted(value.text)}"
        return f"exactly {self.term(value)}"

    def attribute(self, constant: Constant) -> str:
        """The attribute of a predicate."""
        if not is_name(constant):
            raise unsayable(f"the attribute {constant.value}, which is no name")
        return self.constant(constant)

    def term(self, term: Term) -> str:
        """A term, where its reading does not matter or is clear."""
        match term.kind:
            case Kind.STRING:
                return term.text if is_bare(term.text) and not self.strict else quoted(term.text)
            case Kind.IRI if is_absolute(term.text):
                return f"<{term.text}>"
            case Kind.LANGUAGE if term.language and is_language(term.language):
                return f"{quoted(term.text)}@{term.language}"
            case Kind.IRI | Kind.BLANK | Kind.LANGUAGE:
                pass
            case _ if _reads_back(term):
                return term.text
            case _ if term.datatype and is_absolute(term.datatype):
                if term == terms.literal(term.text, term.datatype):
                    return f"{quoted(term.text)}^^<{term.datatype}>"
        raise unsayable(f"the term {term}")

    def bound(self, term: Term) -> str:
        """The bound of an order."""
        if term.kind in UNBOUND_KINDS:
            raise unsayable(f"the bound {term}, which has no order")
        return self.term(term)

    def condition(self, condition: Condition) -> str:
        """A condition, as it stands after an attribute or a variable."""
        match condition:
            case Equal():
                return f"= {self.constant(condition.constant)}"
            case Different():
                return f"!= {self.constant(condition.constant)}"
            case OneOf():
                return f"in ({', '.join([self.constant(c) for c in condition.constants])})"
            case Order():
                return f"{condition.relation} {self.bound(condition.bound)}"
            case Between():
                return f"between {self.bound(condition.low)} and {self.bound(condition.high)}"
            case Text():
                return f"{condition.relation} {quoted(condition.text)}"
            case Exists():
                return "exists"
            case IsA():
                return f"is a {self.constant(condition.constant)}"
            case IsDirectlyA():
                return f"is directly a {self.constant(condition.constant)}"
            case IsAbove():
                return f"is above {self.constant(condition.constant)}"
            case Binds():
                return f"= {variable(condition.variable)}"
            case _:
                assert_never(condition)


def variable(found: Variable) -> str:
    """A variable.

    >>> variable(Variable("x"))
    '?x'
    """
    if not is_variable(found.name):
        raise unsayable(f"a variable named {found.name!r}")
    return f"?{found.name}"


def name(text: str) -> str:
    """A word that stands for itself, in backquotes where it cannot stand bare.

    >>> name("laptop"), name("two words")
    ('laptop', '`two words`')
    """
    return text if is_bare(text) else quoted(text, "`")


def is_name(constant: Constant) -> bool:
    """Whether a constant can name an attribute, or be a tag."""
    return isinstance(constant.value, Name) or constant.value.kind in (Kind.STRING, Kind.IRI)


def unsayable(what: str) -> UnsupportedError:
    """The error that our language has no words for something."""
    return UnsupportedError(f"{what} cannot be written", 0)


def _reads_back(term: Term) -> bool:
    """Whether a literal's text, unquoted, is that literal again."""
    match term.kind:
        case Kind.BOOLEAN:
            return term.text in ("true", "false")
        case Kind.NUMBER:
            return is_number(term.text.removeprefix("-")) and number_term(term.text) == term
        case Kind.DATE:
            return date_term(term.text) == term
        case Kind.QUANTITY:
            return is_quantity(term.text.removeprefix("-")) and terms.quantity(term.text) == term
        case _:
            return False
