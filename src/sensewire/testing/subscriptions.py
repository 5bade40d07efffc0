"""Hypothesis strategies for subscriptions: every node of the model, valid ones only.

A `Vocabulary` says which names and values occur. With few of them the same turn up again and again,
so that generated events really match; `HOSTILE` has names and values of any Unicode and every kind
of term. What no text of our language can say (a constraint without variables, a bound without an
order, a meaning in a strict subscription) is not generated.

    >>> few = vocabulary(attributes=["price", "size"], terms=[term_of(1), term_of(2)])
    >>> subscriptions(few).filter(lambda s: len(s.conjunctions) == 2)  # doctest: +ELLIPSIS
    subscriptions...
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

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
    Relation,
    Text,
    TextRelation,
    Variable,
    exact,
    meaning,
)
from sensewire.model.expressions import FUNCTIONS
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
    bound_by,
)
from sensewire.model.terms import Kind, Term, string, term_of
from sensewire.testing import terms
from sensewire.testing.constraints import constraints
from sensewire.testing.terms import one_of_these

_ORDERED = (Kind.NUMBER, Kind.DATE, Kind.QUANTITY, Kind.STRING, Kind.UNTYPED)
_MOST_ATOMS = 3
_FUNCTIONS = {name.lower() for name in FUNCTIONS}


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names and values that generated subscriptions use."""

    attributes: SearchStrategy[Constant]
    constants: SearchStrategy[Constant]
    bounds: SearchStrategy[Term]
    texts: SearchStrategy[str]
    variables: SearchStrategy[Variable]
    operators: SearchStrategy[str]


def vocabulary(
    *,
    attributes: Sequence[str] = ("price", "colour", "size"),
    terms: Sequence[Term] = tuple(map(term_of, ("red", "green", 1, 2, 1.5, True))),
    texts: Sequence[str] = ("", "re", "ee"),
    variables: Sequence[str] = ("x", "y", "z"),
    operators: Sequence[str] = ("near", "seen"),
) -> Vocabulary:
    """A vocabulary of a few names and values, each read by meaning and exactly."""
    ordered = [term for term in terms if term.kind in _ORDERED]
    return Vocabulary(
        _read_both_ways(one_of_these([string(name) for name in attributes])),
        _read_both_ways(one_of_these(terms)),
        one_of_these(ordered),
        st.sampled_from(texts),
        st.sampled_from(variables).map(Variable),
        st.sampled_from(operators),
    )


def _read_both_ways(values: SearchStrategy[Term]) -> SearchStrategy[Constant]:
    names = values.filter(lambda term: term.kind is Kind.STRING).map(lambda term: Name(term.text))
    return values.map(meaning) | values.map(exact) | names.map(exact)


SMALL = vocabulary()
HOSTILE = Vocabulary(
    _read_both_ways(terms.texts().map(string) | terms.iris()),
    _read_both_ways(terms.terms()),
    terms.terms().filter(lambda term: term.kind in _ORDERED),
    terms.texts(),
    st.sampled_from(("x", "y", "0", "größe", "変数", "and")).map(Variable),
    terms.texts().filter(lambda name: name.lower() not in _FUNCTIONS),
)


@st.composite
def subscriptions(draw: DrawFn, words: Vocabulary = SMALL) -> Subscription:
    """Valid subscriptions of one to three conjunctions."""
    strict = draw(st.sampled_from((False, False, False, True)))
    words = strictly(words) if strict else words
    several = st.lists(conjunctions(words, strict=strict), min_size=1, max_size=3)
    made = tuple(draw(several))
    common = set.intersection(*[set(bound_by(conjunction)) for conjunction in made])
    selectable = sorted(common, key=lambda variable: variable.name)
    chosen = st.lists(st.sampled_from(selectable), max_size=3) if selectable else st.just([])
    return Subscription(
        made,
        draw(st.none() | chosen.map(tuple)),
        draw(st.booleans()),
        strict,
        draw(st.none() | st.floats(min_value=0, exclude_min=True, allow_infinity=False)),
    )


@st.composite
def conjunctions(
    draw: DrawFn,
    words: Vocabulary = SMALL,
    *,
    strict: bool = False,
    outside: frozenset[Variable] = frozenset(),
    depth: int = 2,
) -> Conjunction:
    """Conjunctions where `outside` is bound already, with `not` nested at most `depth` times."""
    kinds = [patterns(words), binds(words)]
    if not strict:
        kinds += [predicates(words), predicates(words), calls(words)]
    atoms: list[Atom] = draw(st.lists(st.one_of(kinds), max_size=_MOST_ATOMS))
    bound = outside.union(bound_by(Conjunction(tuple(atoms))))
    if depth:
        inner = conjunctions(words, strict=strict, outside=bound, depth=depth - 1)
        atoms = draw(st.permutations(atoms + draw(st.lists(inner.map(Not), max_size=1))))
    found = []
    if bound:
        variables = sorted(bound, key=lambda variable: variable.name)
        asked = constraints(variables, words.constants, conditions(words))
        found = draw(st.lists(asked, max_size=2))
    return Conjunction(tuple(atoms), tuple(found))


@cache
def predicates(words: Vocabulary = SMALL) -> SearchStrategy[Atom]:
    """Predicates with every condition, also those that bind."""
    asked = conditions(words) | words.variables.map(Binds)
    tags = words.constants.map(lambda constant: Predicate(meaning("tags"), Equal(constant)))
    return st.builds(Predicate, words.attributes, asked) | tags


@cache
def patterns(words: Vocabulary = SMALL) -> SearchStrategy[Atom]:
    """Triple patterns."""
    ends = words.variables | words.constants | st.just(Home())
    return st.builds(TriplePattern, ends, words.variables | words.constants, ends)


@cache
def calls(words: Vocabulary = SMALL) -> SearchStrategy[Atom]:
    """Operator calls of up to three arguments."""
    arguments = st.lists(words.variables | words.constants, max_size=3)
    return st.builds(OperatorCall, words.operators, arguments.map(tuple))


@cache
def binds(words: Vocabulary = SMALL) -> SearchStrategy[Atom]:
    """Variables that stand for a term."""
    return st.builds(Bind, words.variables, words.bounds)


@cache
def conditions(words: Vocabulary = SMALL) -> SearchStrategy[Condition]:
    """Every condition but those that bind."""
    several = st.lists(words.constants, min_size=1, max_size=3)
    plain = st.sampled_from([kind for kind in TextRelation if kind is not TextRelation.MATCHES])
    expressions = words.texts.map(_searched)
    return st.one_of(
        words.constants.map(Equal),
        words.constants.map(Different),
        several.map(lambda constants: OneOf(tuple(constants))),
        st.builds(Order, st.sampled_from(Relation), words.bounds),
        st.builds(Between, words.bounds, words.bounds),
        st.builds(Text, plain, words.texts),
        expressions.map(lambda text: Text(TextRelation.MATCHES, text)),
        st.just(Exists()),
        words.constants.map(IsA),
        words.constants.map(IsDirectlyA),
        words.constants.map(IsAbove),
    )


@cache
def strictly(words: Vocabulary) -> Vocabulary:
    """The vocabulary of strict subscriptions, whose constants are exact terms."""
    constants = words.constants.filter(lambda constant: isinstance(constant.value, Term))
    return replace(words, constants=constants.map(lambda constant: exact(constant.value)))


def _searched(text: str) -> str:
    """An RE2 expression that finds the text, or something after it."""
    quoted = "".join(c if c.isalnum() else f"\\x{{{ord(c):X}}}" for c in text)
    return f"(?s){quoted}.*$"
