"""Strict subscriptions as SPARQL: the query that asks the same of an event's own facts.

Every strict subscription has a query, `injective` ones too (their vertices are told apart by
filters), but for what SPARQL cannot say: the home vertex, properties that are no IRIs, and `is a`,
which reads the knowledge. `within` has nothing to measure in a strict subscription, and is left
out. Cost: linear; with `injective`, in the pairs of vertices.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import assert_never

from sensewire.language.limits import LONGEST_QUERY
from sensewire.language.sparql_tokens import VARIABLE, tokens_of
from sensewire.language.values import number_term
from sensewire.language.words import is_absolute, is_language, is_number, surrogate_in
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
    OneOf,
    Order,
    Text,
    TextRelation,
    Variable,
)
from sensewire.model.errors import UnsupportedError
from sensewire.model.expressions import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Expression,
    Minus,
    Negation,
    Or,
    Test,
)
from sensewire.model.subscription import (
    Bind,
    Conjunction,
    Home,
    Not,
    Subscription,
    TriplePattern,
    Vertex,
)
from sensewire.model.terms import Kind, Term, escaped

_FUNCTIONS = {
    TextRelation.PREFIX: "STRSTARTS",
    TextRelation.SUFFIX: "STRENDS",
    TextRelation.CONTAINS: "CONTAINS",
    TextRelation.MATCHES: "REGEX",
}


def unparse_sparql(subscription: Subscription) -> str:
    """A strict subscription as a query.

    >>> from sensewire.language.parse import parse
    >>> asked = parse("select ?x where (?x, <http://x.org/price>, ?y) and ?y < 5 strict")
    >>> unparse_sparql(asked)
    'SELECT DISTINCT ?x WHERE { ?x <http://x.org/price> ?y . FILTER(?y < 5) }'
    """
    if not subscription.strict:
        raise _unsayable("a subscription that is not strict, and reads by meaning or by name,")
    writing = _Writing(subscription.injective)
    groups = [writing.group(each, ()) for each in subscription.conjunctions]
    body = groups[0] if len(groups) == 1 else " UNION ".join(f"{{ {group} }}" for group in groups)
    where = f"{{ {body} }}" if body else "{ }"
    text = f"ASK {where}"
    if subscription.select:
        selected = " ".join(_variable(each) for each in dict.fromkeys(subscription.select))
        text = f"SELECT DISTINCT {selected} WHERE {where}"
    if len(text) > LONGEST_QUERY:
        raise _unsayable(f"a query of more than {LONGEST_QUERY:,} characters")
    return text


class _Writing:
    """Writes the groups of one query."""

    def __init__(self, injective: bool) -> None:
        self._injective = injective

    def group(self, conjunction: Conjunction, around: Sequence[Vertex]) -> str:
        """What stands between { and }; `around` are the vertices outside, which are others."""
        vertices = [each for each in _vertices(conjunction) if each not in around]
        parts = []
        for atom in conjunction.atoms:
            match atom:
                case TriplePattern():
                    parts.append(_pattern(atom))
                case Bind():
                    parts.append(f"VALUES {_variable(atom.variable)} {{ {_term(atom.term)} }}")
                case Not():
                    inner = self.group(atom.body, (*around, *vertices))
                    parts.append(f"FILTER NOT EXISTS {{ {inner} }}")
                case _:
                    raise _unsayable(f"a {type(atom).__name__}")
        parts += [f"FILTER{_bracketed(each)}" for each in conjunction.constraints]
        if self._injective:
            parts += _different(combinations(vertices, 2))
            parts += _different(product(vertices, around))
        return " ".join(parts)


def _vertices(conjunction: Conjunction) -> list[Vertex]:
    patterns = [atom for atom in conjunction.atoms if isinstance(atom, TriplePattern)]
    ends = [end for pattern in patterns for end in (pattern.subject, pattern.object)]
    return list(dict.fromkeys(ends))


def _different(pairs: Iterator[tuple[Vertex, Vertex]]) -> Iterator[str]:
    """Filters that tell vertices apart; literals may be the same."""
    for pair in pairs:
        one, other = sorted(pair, key=lambda end: isinstance(end, Constant))
        if isinstance(one, Constant):
            continue
        if isinstance(other, Constant):
            if isinstance(other.value, Term) and other.value.kind is Kind.IRI:
                yield f"FILTER(!sameTerm({_vertex(one)}, {_vertex(other)}))"
        else:
            left, right = _vertex(one), _vertex(other)
            yield f"FILTER(isLiteral({left}) || !sameTerm({left}, {right}))"


def _pattern(pattern: TriplePattern) -> str:
    property = pattern.property
    if isinstance(property, Constant) and not _is_iri(property):
        raise _unsayable(f"the property {property.value}, which is no IRI,")
    parts = (pattern.subject, property, pattern.object)
    return " ".join(_vertex(part) for part in parts) + " ."


def _is_iri(constant: Constant) -> bool:
    return isinstance(constant.value, Term) and constant.value.kind is Kind.IRI


def _vertex(vertex: Vertex) -> str:
    match vertex:
        case Variable():
            return _variable(vertex)
        case Home():
            raise _unsayable("the home vertex")
        case _:
            return _constant(vertex)


def _variable(variable: Variable) -> str:
    text = f"?{variable.name}"
    kinds, texts, _ = tokens_of(text)
    if kinds[0] != VARIABLE or texts[0] != text:
        raise _unsayable(f"a variable named {variable.name!r}")
    return text


def _constant(constant: Constant) -> str:
    assert isinstance(constant.value, Term), "a strict subscription has no bare names"
    return _term(constant.value)


def _term(term: Term) -> str:
    if surrogate_in(term.text) is None:
        match term.kind:
            case Kind.IRI if is_absolute(term.text):
                return f"<{term.text}>"
            case Kind.LANGUAGE if term.language and is_language(term.language):
                return f'"{escaped(term.text)}"@{term.language}'
            case Kind.BOOLEAN if term.text in ("true", "false"):
                return term.text
            case Kind.NUMBER if is_number(term.text) and number_term(term.text) == term:
                return term.text
            case Kind.IRI | Kind.BLANK | Kind.LANGUAGE:
                pass
            case _ if term.datatype and is_absolute(term.datatype):
                return str(term)
    raise _unsayable(f"the term {term}")


def _bracketed(expression: Expression) -> str:
    text = _expression(expression)
    return text if text.startswith("(") else f"({text})"


def _expression(expression: Expression) -> str:
    """An expression; what has an operator stands in brackets."""
    match expression:
        case Variable():
            return _variable(expression)
        case Constant():
            return _constant(expression)
        case Arithmetic():
            left, right = _expression(expression.left), _expression(expression.right)
            return f"({left} {expression.sign} {right})"
        case Minus():
            return f"(- {_expression(expression.operand)})"
        case Comparison():
            left, right = _expression(expression.left), _expression(expression.right)
            return f"({left} {expression.relation} {right})"
        case Call():
            arguments = ", ".join([_expression(part) for part in expression.arguments])
            return f"{expression.function}({arguments})"
        case And() | Or():
            sign = " && " if isinstance(expression, And) else " || "
            return f"({sign.join([_expression(part) for part in expression.parts])})"
        case Negation():
            return f"(! {_expression(expression.part)})"
        case Test():
            return _test(_variable(expression.variable), expression.condition)
        case _:
            assert_never(expression)


def _test(variable: str, condition: Condition) -> str:
    match condition:
        case Equal():
            return f"({variable} = {_constant(condition.constant)})"
        case Different():
            return f"({variable} != {_constant(condition.constant)})"
        case OneOf():
            listed = ", ".join([_constant(each) for each in condition.constants])
            return f"({variable} IN ({listed}))"
        case Order():
            return f"({variable} {condition.relation} {_term(condition.bound)})"
        case Between():
            low, high = _term(condition.low), _term(condition.high)
            return f"({variable} >= {low} && {variable} <= {high})"
        case Text():
            return f'{_FUNCTIONS[condition.relation]}({variable}, "{escaped(condition.text)}")'
        case Exists():
            return f"bound({variable})"
        case IsA() | IsDirectlyA() | IsAbove():
            words = {IsA: "is a", IsDirectlyA: "is directly a", IsAbove: "is above"}
            raise _unsayable(f"`{words[type(condition)]}`, which reads the knowledge,")
        case Binds():
            raise _unsayable("a test that binds a variable")
        case _:
            assert_never(condition)


def _unsayable(what: str) -> UnsupportedError:
    return UnsupportedError(f"{what} has no SPARQL form", 0)
