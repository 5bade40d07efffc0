"""Hypothesis strategies for patterns of graphs, made out of events, so that most of them match.

Some facts of an event become patterns, each end now a variable, a constant, the home vertex or
something else; constraints are drawn about what the variables stand for there.

    >>> words = vocabulary(attributes=["p", "q"], terms=[term_of(1), iri("http://x.org/a")])
    >>> cases(["p", "q"], [term_of(1), iri("http://x.org/a")], words).validate()
"""

import random
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

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
from sensewire.model.event import Event, Fact
from sensewire.model.expressions import (
    Arithmetic,
    Call,
    Comparison,
    Equality,
    Expression,
    Negation,
    Or,
    Sign,
    Test,
)
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
from sensewire.model.terms import (
    RDF_TYPE,
    Kind,
    Term,
    iri,
    local_name,
    string,
    term_of,
)
from sensewire.testing.constraints import constraints
from sensewire.testing.graphs import NOWHERE, below, dense_graphs, name_of, places
from sensewire.testing.subscriptions import Vocabulary, conditions, strictly, vocabulary

T = TypeVar("T")

_VERTICES = (iri("http://x.org/a"), iri("http://x.org/b"))

_ORDERED = (Kind.NUMBER, Kind.DATE, Kind.QUANTITY, Kind.STRING, Kind.UNTYPED)


class Case(NamedTuple):
    """Subscriptions, and events that some of them were made out of."""

    asked: list[Subscription]
    sent: list[Event]


@st.composite
def fitting(
    draw: DrawFn,
    event: Event,
    words: Vocabulary,
    *,
    strict: bool = False,
    most: int = 6,
    nots: int = 5,
) -> Subscription:
    """A subscription of up to `most` patterns, one in `nots` with a `not`, made out of an event;
    most match it."""
    first = _Drawing(draw, event, words, strict, most, nots)
    made = [first.conjunction()]
    bound = sorted(set(bound_by(made[0])), key=str)
    select: tuple[Variable, ...] | None = None
    if bound and draw(below(3)) == 0:
        select = tuple(bound[place] for place in draw(places(len(bound), 0, 3, unique=True)))
    if not select and draw(below(5)) == 0:
        made.append(_Drawing(draw, event, words, strict, most, nots).conjunction())
    tolerance = draw(st.sampled_from((0.5, 2.0))) if draw(below(12)) == 0 else None
    injective = draw(below(3)) == 0
    return Subscription(tuple(made), select, injective, strict, tolerance)


@st.composite
def cases(
    draw: DrawFn,
    attributes: Sequence[str],
    terms: Sequence[Term],
    words: Vocabulary | None = None,
    *,
    graphs: SearchStrategy[Event] | None = None,
    most: int = 5,
    patterns: int = 6,
    nots: int = 5,
) -> Case:
    """Subscriptions, and events that they were made out of."""
    words = vocabulary(attributes=attributes, terms=terms) if words is None else words
    graphs = dense_graphs(attributes, terms) if graphs is None else graphs
    sent = draw(st.lists(graphs, min_size=1, max_size=3))
    asked = []
    for _ in range(draw(st.integers(1, most))):
        strict = draw(below(5)) == 0
        asked.append(
            draw(
                fitting(
                    sent[draw(below(len(sent)))], words, strict=strict, most=patterns, nots=nots
                )
            )
        )
    return Case(asked, sent)


@st.composite
def alike(draw: DrawFn, attribute: str, least: int = 36, most: int = 90) -> list[Subscription]:
    """Patterns of one property alone, so many that all begin alike and share a trie or several."""
    count, seed, injective = draw(
        st.tuples(
            st.integers(least, most), st.integers(0, 2**32), st.sampled_from((0.0, 0.1, 0.5, 1.0))
        )
    )
    dice = random.Random(seed)
    return [_one_alike(dice, attribute, injective) for _ in range(count)]


def _one_alike(dice: random.Random, attribute: str, injective: float) -> Subscription:
    variables = [Variable(f"v{number}") for number in range(5)]
    property = meaning(string(attribute))
    atoms: list[Atom] = [TriplePattern(variables[0], property, variables[1])]
    for _ in range(dice.choice((0, 1, 1, 2, 2, 3, 4))):
        one, other = dice.choices(variables[: 2 + len(atoms)], k=2)
        atoms.append(TriplePattern(one, property, other))
    bound = sorted(set(bound_by(Conjunction(tuple(atoms)))), key=str)
    limits: list[Expression] = []
    while dice.random() < 0.4:
        number = term_of(dice.choice((1, 2, 1.5, 2**53 + 1)))
        conditions: list[Condition] = [
            Order(dice.choice(tuple(Relation)), number),
            Different(meaning(dice.choice((number, *_VERTICES[:2])))),
            Text(TextRelation.CONTAINS, dice.choice("ab/r")),
            Between(number, term_of(2)),
        ]
        limits.append(Test(dice.choice(bound), dice.choice(conditions)))
    return Subscription(
        (Conjunction(tuple(atoms), tuple(limits)),), injective=dice.random() < injective
    )


class _Drawing:
    """Draws one conjunction out of an event."""

    def __init__(
        self, draw: DrawFn, event: Event, words: Vocabulary, strict: bool, most: int, nots: int
    ) -> None:
        self._draw = draw
        self._event = event
        self._facts = event.facts
        self._words = strictly(words) if strict else words
        self._strict = strict
        self._most = most
        self._nots = nots
        self._variables: dict[Term, Variable] = {}
        self._constants: dict[Term, Constant] = {}
        self._stands: dict[Variable, Term] = {}
        self._classes: dict[Term, list[Term]] = {}
        for fact in event.facts:
            if fact.property == RDF_TYPE:
                self._classes.setdefault(fact.subject, []).append(fact.object)

    def conjunction(self) -> Conjunction:
        atoms: list[Atom] = []
        count = self._draw(st.integers(1, self._most))
        near: set[Term] = set()
        for _ in range(count):
            fact = self._fact(near)
            near |= {fact.subject, fact.object}
            atoms.append(self._pattern(fact))
        if not self._strict and self._one_in(4):
            atoms += self._predicates()
        if not self._strict and self._one_in(12):
            atoms.append(self._call())
        stands = dict(self._stands)
        if stands and self._one_in(6):
            variable = self._of(sorted(stands, key=str))
            term = stands[variable]
            if term.kind is not Kind.BLANK:
                atoms.append(Bind(self._of((variable, variable, _FREE)), term))
        limits: list[Expression] = []
        if stands:
            variables = sorted(stands, key=str)
            for _ in range(self._of((0, 0, 0, 1, 1, 2))):
                limits.append(self._limit(variables))
        if self._one_in(self._nots):
            atoms.append(self._not(sorted(stands, key=str)))
        if len(atoms) > 1 and self._one_in(3):
            atoms = self._draw(st.permutations(atoms))
        return Conjunction(tuple(atoms), tuple(limits))

    def _fact(self, near: set[Term]) -> Fact:
        touching = [each for each in self._facts if each.subject in near or each.object in near]
        return self._of(touching if touching and not self._one_in(5) else self._facts)

    # Patterns

    def _pattern(self, fact: Fact) -> TriplePattern:
        return TriplePattern(
            self._end(fact.subject), self._property(fact.property), self._end(fact.object)
        )

    def _end(self, term: Term) -> Variable | Constant | Home:
        match self._of(_ENDS):
            case "home" if term == self._event.home:
                return Home()
            case "constant" if term.kind is not Kind.BLANK:
                return self._constant(term)
            case "other":
                others: tuple[Variable | Constant | Home, ...] = (
                    *(self._draw(self._words.variables), self._other(), self._other()),
                    Home(),
                )
                return self._of(others)
        known = self._variables.get(term)
        if known is None or self._one_in(8):
            known = self._variables[term] = Variable(f"v{len(self._stands)}")
            self._stands[known] = term
        return known

    def _constant(self, term: Term) -> Constant:
        if self._strict:
            return exact(term)
        if term in self._constants and not self._one_in(3):
            return self._constants[term]
        name = local_name(term.text) if term.kind is Kind.IRI else term.text
        kinds = [meaning(term), meaning(term), exact(term)]
        if name and term.kind is not Kind.NUMBER:
            kinds += [exact(Name(name)), meaning(string(name))]
        made = self._constants[term] = self._of(kinds)
        return made

    def _other(self) -> Constant:
        return self._draw(self._words.constants)

    def _property(self, term: Term) -> Variable | Constant:
        kind = self._of(_PROPERTIES)
        if kind == "variable":
            variable = self._of((Variable("p"), Variable("q"), Variable("v0"), Variable("p2")))
            self._stands.setdefault(variable, term)
            return variable
        if self._strict:
            return exact(term)
        if kind == "other":
            return self._draw(self._words.attributes)
        if term == RDF_TYPE:
            return self._of((meaning(term), exact(term)))
        name = name_of(term)
        return self._of((meaning(string(name)), meaning(term), exact(Name(name)), exact(term)))

    def _predicates(self) -> list[Atom]:
        """About the home vertex, some of them with variables that patterns have."""
        own = [fact for fact in self._facts if fact.subject == self._event.home]
        made: list[Atom] = []
        for _ in range(self._of((1, 1, 2))):
            if not own or self._one_in(4):
                made.append(
                    Predicate(
                        self._draw(self._words.attributes), self._draw(conditions(self._words))
                    )
                )
                continue
            fact = self._of(own)
            attribute = meaning(string(name_of(fact.property)))
            if fact.property == RDF_TYPE:
                attribute = meaning(RDF_TYPE)
            if self._one_in(3):
                variable = self._variables.setdefault(
                    fact.object, Variable(f"v{len(self._stands)}")
                )
                self._stands[variable] = fact.object
                made.append(Predicate(attribute, Binds(variable)))
            else:
                made.append(Predicate(attribute, self._condition(fact.object)))
        return made

    def _call(self) -> OperatorCall:
        known = sorted(self._stands, key=str) or [_FREE]
        arguments: list[Variable | Constant] = []
        for _ in range(self._of((0, 1, 2))):
            arguments.append(self._other() if self._one_in(2) else self._of(known))
        return OperatorCall(self._draw(self._words.operators), tuple(arguments))

    def _not(self, variables: Sequence[Variable]) -> Not:
        """Of a pattern or of a few, with constraints or without, perhaps with a `not` of its own;
        mostly it blocks nothing."""
        outer = dict(self._variables), dict(self._stands)
        body: list[Atom] = []
        for _ in range(self._of((1, 1, 2))):
            made = self._pattern(self._fact(set()))
            match self._of(_NOTS):
                case "nowhere":
                    made = TriplePattern(made.subject, self._property(NOWHERE), made.object)
                case "apart":
                    made = TriplePattern(_APART[0], made.property, _APART[1])
                case "half apart":
                    made = TriplePattern(made.subject, made.property, _APART[1])
            body.append(made)
        if not self._strict and self._one_in(4):
            body.append(Predicate(self._draw(self._words.attributes), Exists()))
        inside = sorted({*variables, *bound_by(Conjunction(tuple(body)))}, key=str)
        limits = [self._limit(inside)] if inside and self._one_in(3) else []
        if self._one_in(3):
            body.append(self._not(inside))
        self._variables, self._stands = outer
        return Not(Conjunction(tuple(body), tuple(limits)))

    # Constraints

    def _limit(self, variables: Sequence[Variable]) -> Expression:
        if self._one_in(3):
            constants = self._words.constants
            return self._draw(constraints(variables, constants, conditions(self._words)))
        one, other = self._of(variables), self._of(variables)
        term = self._stands.get(one, _VERTICES[0])
        match self._of(_LIMITS):
            case "test":
                return Test(one, self._condition(term))
            case "class":
                return Test(one, self._class(term))
            case "same":
                same = term == self._stands.get(other)
                relation = Equality.EQUAL if same else Equality.DIFFERENT
                return Comparison(relation, one, other)
            case "sum":
                second: Expression = other if self._one_in(2) else exact(term_of(2))
                right: Expression = other if self._one_in(2) else _HUNDRED
                left = Arithmetic(self._of(tuple(Sign)), one, second)
                return Comparison(self._of(tuple(Relation)), left, right)
            case "kind":
                kinds = ("isIRI", "isLiteral", "isBlank", "bound")
                asked = Call(self._of(kinds), (one,))
                both: tuple[Expression, ...] = (asked, Call("sameTerm", (one, one)))
                made: tuple[Expression, ...] = (asked, Negation(asked), Or(both))
                return self._of(made)
            case _:
                text = exact(string(term.text[:1]))
                named = Call(self._of(("strStarts", "contains")), (Call("str", (one,)), text))
                return self._of((named, Call("regex", (Call("str", (one,)), exact(string("."))))))

    def _condition(self, term: Term) -> Condition:
        """A condition that a term mostly meets."""
        choice = self._of(_CONDITIONS)
        if choice == "any":
            return self._draw(conditions(self._words))
        if choice == "equal" and term.kind is not Kind.BLANK:
            return Equal(self._constant(term))
        if choice == "one" and term.kind is not Kind.BLANK:
            return OneOf((self._constant(term), self._other()))
        if choice == "different":
            return Different(self._other())
        if term.kind is Kind.NUMBER or (term.kind in _ORDERED and not self._strict):
            ordered: tuple[Condition, ...] = (
                Order(Relation.AT_LEAST, term),
                Order(Relation.AT_MOST, term),
                Order(Relation.LESS, term),
                Between(term, term),
            )
            return self._of(ordered)
        if self._strict or term.kind is Kind.BLANK:
            return Different(self._other())
        return Text(self._of((TextRelation.PREFIX, TextRelation.CONTAINS)), term.text[:1])

    def _class(self, term: Term) -> Condition:
        found = [each for each in self._classes.get(term, ()) if each.kind is not Kind.BLANK]
        if self._strict:
            return Equal(exact(term)) if term.kind is not Kind.BLANK else Different(self._other())
        if found:
            named = self._constant(self._of(found))
            return IsDirectlyA(named) if self._one_in(3) else IsA(named)
        return IsA(self._of((meaning(string("Thing")), self._other())))

    def _one_in(self, count: int) -> bool:
        return self._draw(below(count)) == count - 1

    def _of(self, choices: Sequence[T]) -> T:
        return choices[self._draw(below(len(choices)))]


_ENDS = (*("variable",) * 10, *("constant",) * 5, "home", "home", "other")
_PROPERTIES = (*("constant",) * 8, "variable", "variable", "other")
_LIMITS = ("test", "test", "class", "class", "same", "sum", "kind", "text")
_CONDITIONS = ("equal", "one", "different", "order", "order", "any")
_NOTS = (*("nowhere",) * 4, "apart", "half apart", "any")
_APART = Variable("v90"), Variable("v91")
_FREE = Variable("free")
_HUNDRED = exact(term_of(100))
