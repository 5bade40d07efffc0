"""Clauses with triple patterns as codes: numbers that say all of a clause, or at least a part.

    triple pattern   an edge
    predicate        an edge from the home vertex
    constraint       a mark on its variable, or a join of a few
    bind             a mark on its variable
    not              a block of its own, if all of it can be said

A property's variable that stands nowhere else is any property; where one is selected or repeated,
the facts themselves are vertices, to all of the clause.

What has no place in a code is left out, and the clause is not `sure`: whoever its code finds is
judged once more. Under meaning a constant stands for every vertex that is narrower, wherever it
occurs; in an injective pattern it is one vertex, so there it is a variable with a mark.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from sensewire.match.compiled.graph_layout import (
    ANY_PROPERTY,
    EXEMPT,
    FACT_OBJECT,
    FACT_PROPERTY,
    FACT_SUBJECT,
    HOME,
    INJECTIVE,
    MOST_JOINED,
    MOST_VARIABLES,
    OF_FACTS,
    USES_HOME,
)
from sensewire.match.compiled.graph_vocabulary import Vocabulary
from sensewire.match.oracle_distance import graded
from sensewire.model.canonical import Clause, renamed
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
    Reading,
    Text,
    Variable,
)
from sensewire.model.expressions import Call, Expression, Test, tests_in, variables_in
from sensewire.model.subscription import (
    Bind,
    Conjunction,
    Home,
    Not,
    Predicate,
    TriplePattern,
    Vertex,
    bound_by,
)
from sensewire.model.terms import Kind, Term

_ONLY = Variable("only")
_OF_CLASSES = IsA | IsDirectlyA | IsAbove


class Coded(NamedTuple):
    """A clause as numbers; `sure` if they say all of it."""

    code: tuple[int, ...]
    sure: bool


def has_patterns(clause: Clause) -> bool:
    """Whether a clause has a triple pattern, inside of a `not` too."""
    return next(_patterns(clause.conjunction), None) is not None


def tested_alone(clause: Clause) -> Clause | None:
    """A clause's predicates, by which the index of records may propose it; None if that is not all
    that it asks of them."""
    if clause.tolerance is not None or clause.strict:
        return None
    predicates = tuple(atom for atom in clause.conjunction.atoms if isinstance(atom, Predicate))
    return Clause(Conjunction(predicates)) if predicates else None


def coded(clause: Clause, vocabulary: Vocabulary) -> Coded:
    """A clause with patterns as numbers."""
    return _Coding(clause, vocabulary).coded()


def note_properties(clause: Clause, vocabulary: Vocabulary) -> None:
    """Let facts be kept that a clause is judged by, though neither a code nor a test asks for
    them: those that stand inside of a `not` of more than one predicate."""
    for atom in clause.conjunction.atoms:
        if isinstance(atom, Not) and (
            len(atom.body.atoms) != 1 or not isinstance(atom.body.atoms[0], Predicate)
        ):
            _note_inside(atom.body, clause, vocabulary)


def _note_inside(conjunction: Conjunction, clause: Clause, vocabulary: Vocabulary) -> None:
    for atom in conjunction.atoms:
        match atom:
            case Predicate():
                vocabulary.property_of(atom.attribute, strict=False)
            case TriplePattern(property=Constant() as property):
                vocabulary.property_of(property, clause.strict)
            case TriplePattern():
                vocabulary.everything()
            case Not():
                _note_inside(atom.body, clause, vocabulary)
            case Bind():
                pass


class _Block:
    """What must hold together, or must not; in which `not` it stands, counted from 1."""

    def __init__(self, inside: int = 0) -> None:
        self.inside = inside
        self.edges: dict[tuple[int, int, int], None] = {}
        self.marks: dict[tuple[int, int], None] = {}
        self.joins: dict[tuple[int, ...], None] = {}

    def code(self) -> tuple[int, ...]:
        """As it stands in a code."""
        parts = [*self.edges, *self.marks, *self.joins]
        flat = [number for part in parts for number in part]
        return len(self.edges), len(self.marks), len(self.joins), len(flat), self.inside, *flat

    def within(self, most: int) -> "_Block":
        """What it says of the first variables alone."""
        made = _Block()
        made.edges = {e: None for e in self.edges if min(e[0], e[2]) >= -most}
        made.marks = {m: None for m in self.marks if m[0] >= -most}
        made.joins = {j: None for j in self.joins if min(j[1:]) >= -most}
        return made


class _Coding:
    def __init__(self, clause: Clause, vocabulary: Vocabulary) -> None:
        self._clause = clause
        self._vocabulary = vocabulary
        self._sure = clause.tolerance is None
        self._variables: dict[object, int] = {}
        self._count = 0  # of variables, those inside of nots included
        self._block = _Block()
        self._nots: list[_Block] = []
        self._has_facts = False
        self._scoped = bool(vocabulary.knowledge.content.scopes)

    @cached_property
    def _mentions(self) -> Counter[Variable | Constant]:
        """How often variables, and constants of patterns, are named."""
        found = Counter(_mentioned(self._clause.conjunction))
        found.update(self._clause.select or ())
        return found

    def coded(self) -> Coded:
        conjunction = self._clause.conjunction
        if self._clause.tolerance is not None:
            _, conjunction = graded(conjunction)
        self._atoms(conjunction)
        # What is not said may let two be one vertex: a `not` would find what is not there.
        leaves_nots = self._clause.injective and not self._sure
        for body, bound in _negated(conjunction):
            if leaves_nots or not self._not(body, bound, inside=0):
                self._sure = False
        return Coded(self._code(), self._sure)

    @cached_property
    def _is_of_facts(self) -> bool:
        """Whether a property's variable is selected, or stands elsewhere too."""
        mentions = self._mentions
        return any(mentions[each] > 1 for each in _of_properties(self._clause.conjunction))

    def _atoms(self, conjunction: Conjunction) -> None:
        for atom in conjunction.atoms:
            match atom:
                case TriplePattern():
                    self._pattern(atom)
                case Predicate():
                    self._predicate(atom)
                case _:
                    pass
        for atom in conjunction.atoms:
            if isinstance(atom, Bind):
                self._bind(atom)
        for constraint in conjunction.constraints:
            if not self._constraint(constraint):
                self._sure = False

    def _not(self, body: Conjunction, bound: frozenset[Variable], inside: int) -> bool:
        """Code what must not hold as a block of its own, and what must not inside of that as
        others; False where it cannot all be said."""
        shared = bound.intersection(_mentioned(body))
        is_simple = all(isinstance(atom, TriplePattern | Predicate | Not) for atom in body.atoms)
        if not is_simple or not shared <= self._variables.keys():
            return False
        outer = self._block, self._sure, self._variables
        nots = len(self._nots)
        self._block, self._sure = _Block(inside), True
        self._nots.append(self._block)
        # A variable that stands here alone is another one than elsewhere; the constants of an
        # injective pattern are the same.
        self._variables = {
            part: number
            for part, number in self._variables.items()
            if part in bound or isinstance(part, Constant | Home)
        }
        self._atoms(body)
        is_said = self._sure and bool(self._block.edges or self._block.marks or self._block.joins)
        for nested, known in _negated(body):
            is_said = is_said and self._not(nested, bound | known, inside=nots + 1)
        self._block, self._sure, self._variables = outer
        if not is_said:
            del self._nots[nots:]
        return is_said

    def _code(self) -> tuple[int, ...]:
        flags = 0
        if self._has_facts:
            flags |= OF_FACTS
        if self._clause.injective:
            flags |= INJECTIVE
            if Home() not in self._variables and _uses_home(self._clause.conjunction):
                flags |= USES_HOME
        block, nots, variables = self._block, self._nots, self._count
        select: list[int] = []
        for variable in self._clause.select or ():
            if variable in self._variables:
                select.append(-self._variables[variable] - 1)
            else:
                self._sure = False
        if variables > MOST_VARIABLES:
            block, nots, variables = block.within(MOST_VARIABLES), [], MOST_VARIABLES
            self._sure = False
        if not self._sure:
            select = []
        return (
            variables,
            len(nots),
            len(select),
            flags,
            *block.code(),
            *select,
            *(number for each in nots for number in each.code()),
        )

    # Edges

    def _pattern(self, pattern: TriplePattern) -> None:
        subject = self._vertex(pattern.subject)
        value = self._vertex(pattern.object, is_object=True)
        if isinstance(pattern.property, Variable):
            if self._clause.strict and self._vocabulary.knowledge.mappings:
                self._sure = False  # facts that functions derived are none of its
            if self._is_of_facts:
                self._fact(subject, pattern.property, value)
                return
            self._vocabulary.any_property()
            property = ANY_PROPERTY
        else:
            property = self._vocabulary.property_of(pattern.property, self._clause.strict)
        self._edge(subject, property, value)

    def _fact(self, subject: int, property: Variable, value: int) -> None:
        """A pattern whose property is told, or compared with others: its fact is a vertex."""
        self._vocabulary.of_facts()
        self._has_facts = True
        fact, known = self._variable(object()), self._variable(property)
        if self._clause.injective:
            self._mark(fact, 2 * EXEMPT + 1)
            if property in _of_vertices(self._clause.conjunction):
                self._sure = False  # in one of its places it must be new, in the other need not
            self._mark(known, 2 * EXEMPT + 1)
        self._edge(fact, FACT_SUBJECT, subject)
        self._edge(fact, FACT_PROPERTY, known)
        self._edge(fact, FACT_OBJECT, value)

    def _predicate(self, predicate: Predicate) -> None:
        property = self._vocabulary.property_of(predicate.attribute, strict=False)
        home = self._vertex(Home())
        condition = predicate.condition
        match condition:
            case Binds(variable):
                self._edge(home, property, self._variable(variable))
                return
            case Equal() | OneOf() | IsA() | IsDirectlyA() | IsAbove() if not self._scoped:
                self._edge(home, property, self._vocabulary.test(condition))
                return
        value = self._variable(object())
        if self._clause.injective:
            self._mark(value, 2 * EXEMPT + 1)
        self._edge(home, property, value)
        if self._scoped or not self._asked(value, condition):
            self._sure = self._sure and isinstance(condition, Exists)

    def _edge(self, subject: int, property: int, object: int) -> None:
        self._block.edges[subject, property, object] = None

    def _vertex(self, part: Vertex, *, is_object: bool = False) -> int:
        match part:
            case Variable():
                return self._variable(part)
            case Home():
                return self._one_vertex(part, HOME) if self._clause.injective else HOME
            case Constant():
                if self._clause.strict:
                    assert isinstance(part.value, Term)
                    test = self._vocabulary.strictly(part.value)
                elif is_object and self._scoped and part.reading is Reading.MEANING:
                    self._sure = False
                    value = self._variable(object())
                    if self._clause.injective:  # it may stand elsewhere too
                        self._mark(value, 2 * EXEMPT + 1)
                    return value
                else:
                    test = self._vocabulary.constant(part)
                return self._one_vertex(part, test) if self._clause.injective else test

    def _one_vertex(self, part: Constant | Home, test: int) -> int:
        """A constant of an injective pattern: one vertex, unless it is a literal."""
        if isinstance(part, Constant) and self._mentions[part] > 1:
            is_vertex = isinstance(part.value, Term) and part.value.kind is Kind.IRI
            if not is_vertex or part.reading is Reading.MEANING:
                # A literal here and a vertex there may both be it.
                self._sure = False
                value = self._variable(object())
                self._mark(value, 2 * test)
                self._mark(value, 2 * EXEMPT + 1)
                return value
        is_home_inside = isinstance(part, Home) and self._block in self._nots
        stands_here_alone = is_home_inside and part not in self._variables
        variable = self._variable(part)
        self._mark(variable, 2 * test)
        if stands_here_alone:  # all of the clause leaves home free for it
            self._mark(variable, 2 * EXEMPT + 1)
        return variable

    def _variable(self, part: object) -> int:
        if part not in self._variables:
            self._variables[part] = self._count
            self._count += 1
        return -self._variables[part] - 1

    def _mark(self, variable: int, mark: int) -> None:
        self._block.marks[variable, mark] = None

    # Marks

    def _bind(self, bind: Bind) -> None:
        if bind.variable not in self._variables:
            self._sure = self._sure and self._mentions[bind.variable] == 1
            return
        make = self._vocabulary.strictly if self._clause.strict else self._vocabulary.same
        self._mark(self._variable(bind.variable), 2 * make(bind.term))

    def _constraint(self, constraint: Expression) -> bool:
        """Mark what a constraint asks for; whether that is all."""
        named = tuple(dict.fromkeys(variables_in(constraint)))
        if not all(variable in self._variables for variable in named):
            return False
        if len(named) != 1:
            return self._joined(constraint, named)
        (variable,) = named
        if isinstance(constraint, Test):
            if self._clause.strict:
                if self._asked_strictly(self._variable(variable), constraint.condition):
                    return True
            elif self._asked(self._variable(variable), constraint.condition):
                return True
        return self._unary(variable, constraint)

    def _asked(self, variable: int, condition: Condition) -> bool:
        """Mark a condition on a variable; False where no test or filter can say it."""
        vocabulary = self._vocabulary
        match condition:
            case Equal() | OneOf() | IsA() | IsDirectlyA() | IsAbove() | Text():
                self._mark(variable, 2 * vocabulary.test(condition))
            case Different(constant):
                test = vocabulary.test(Equal(constant))
                self._mark(variable, 2 * vocabulary.not_test(test) + 1)
            case Order() | Between():
                known = vocabulary.between(condition, strict=False)
                if known is None:
                    self._mark(variable, 2 * vocabulary.tried(condition))
                else:
                    self._mark(variable, 2 * known + 1)
            case Exists():
                pass
            case Binds():
                return False
        return True

    def _asked_strictly(self, variable: int, condition: Condition) -> bool:
        if isinstance(condition, Order | Between):
            known = self._vocabulary.between(condition, strict=True)
            if known is not None:
                self._mark(variable, 2 * known + 1)
                return True
        return False

    def _unary(self, variable: Variable, constraint: Expression) -> bool:
        """Mark a constraint on one variable that asks about its term alone."""
        if not self._is_of_term_alone(constraint):
            return False
        named = renamed(constraint, {variable: _ONLY})  # whatever others call it
        test = self._vocabulary.constrained(_ONLY, named, self._clause.strict)
        self._mark(self._variable(variable), 2 * test)
        return True

    def _joined(self, constraint: Expression, named: tuple[Variable, ...]) -> bool:
        """A constraint on several variables, where kernels can calculate it."""
        if len(named) > MOST_JOINED:
            return False
        known = self._vocabulary.of_many(constraint, named, self._clause.strict)
        if known is None:
            return False
        numbers = [self._variable(variable) for variable in named]
        self._block.joins[known, *numbers, *[0] * (MOST_JOINED - len(named))] = None
        return True

    def _is_of_term_alone(self, constraint: Expression) -> bool:
        """Whether classes that an event declares, and labels of blank nodes, make no difference."""
        for test in tests_in(constraint):
            by_classes = isinstance(test.condition, Equal | Different | OneOf | _OF_CLASSES)
            if by_classes and not self._clause.strict:
                return False
            if isinstance(test.condition, _OF_CLASSES):
                return False
        return not isinstance(constraint, Call) or constraint.function != "bound"


def _negated(conjunction: Conjunction) -> Iterator[tuple[Conjunction, frozenset[Variable]]]:
    """What must not hold in a conjunction, and the variables that are bound around it."""
    negated = [atom.body for atom in conjunction.atoms if isinstance(atom, Not)]
    if negated:
        bound = frozenset(bound_by(conjunction))
        yield from ((body, bound) for body in negated)


def _patterns(conjunction: Conjunction) -> Iterator[TriplePattern]:
    """All triple patterns, inside of `not`s too."""
    for atom in conjunction.atoms:
        if isinstance(atom, TriplePattern):
            yield atom
        elif isinstance(atom, Not):
            yield from _patterns(atom.body)


def _of_properties(conjunction: Conjunction) -> frozenset[Variable]:
    """The variables that stand for properties."""
    found = (pattern.property for pattern in _patterns(conjunction))
    return frozenset(part for part in found if isinstance(part, Variable))


def _of_vertices(conjunction: Conjunction) -> frozenset[Variable]:
    """The variables that stand for vertices of patterns."""
    found = (part for each in _patterns(conjunction) for part in (each.subject, each.object))
    return frozenset(part for part in found if isinstance(part, Variable))


def _mentioned(conjunction: Conjunction) -> Iterator[Variable | Constant]:
    """The variables, and the constants of patterns, as often as they stand in a conjunction."""
    for atom in conjunction.atoms:
        match atom:
            case TriplePattern():
                yield from (
                    part
                    for part in (atom.subject, atom.property, atom.object)
                    if isinstance(part, Variable)
                )
                yield from (
                    part for part in (atom.subject, atom.object) if isinstance(part, Constant)
                )
            case Predicate(condition=Binds(variable)):
                yield variable
            case Bind():
                yield atom.variable
            case Not():
                yield from _mentioned(atom.body)
            case Predicate():
                pass
    for constraint in conjunction.constraints:
        yield from variables_in(constraint)


def _uses_home(conjunction: Conjunction) -> bool:
    for atom in conjunction.atoms:
        match atom:
            case Predicate():
                return True
            case TriplePattern() if Home() in (atom.subject, atom.object):
                return True
            case Not() if _uses_home(atom.body):
                return True
    return False
