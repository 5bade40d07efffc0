"""Clauses with triple patterns as codes: numbers that say all of a clause, or at least a part.

    triple pattern   an edge
    predicate        an edge from the home vertex
    constraint       a mark on its variable, where it has one
    bind             a mark on its variable

What has no place in a code is left out, and the clause is not `sure`: whoever its code finds is
judged once more. Under meaning a constant stands for every vertex that is narrower, wherever it
occurs; in an injective pattern it is one vertex, so there it is a variable with a mark.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from sensewire.match.compiled.graph_layout import (
    ANY_PROPERTY,
    EXEMPT,
    HOME,
    INJECTIVE,
    USES_HOME,
)
from sensewire.match.compiled.graph_vocabulary import Vocabulary
from sensewire.match.oracle_distance import graded
from sensewire.model.canonical import Clause
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
    OperatorCall,
    Predicate,
    TriplePattern,
    Vertex,
)
from sensewire.model.terms import Kind, Term

_OF_CLASSES = IsA | IsDirectlyA | IsAbove


class Coded(NamedTuple):
    """A clause as numbers; `sure` if they say all of it."""

    code: tuple[int, ...]
    sure: bool


def has_patterns(clause: Clause) -> bool:
    """Whether a clause has a triple pattern that an event must fit."""
    return any(isinstance(atom, TriplePattern) for atom in clause.conjunction.atoms)


def coded(clause: Clause, vocabulary: Vocabulary) -> Coded:
    """A clause with patterns as numbers."""
    note_properties(clause, vocabulary)
    return _Coding(clause, vocabulary).coded()


def note_properties(clause: Clause, vocabulary: Vocabulary) -> None:
    """Let facts be kept that a clause is judged by, though no code asks for them."""
    _note_properties(clause.conjunction, clause, vocabulary)


def _note_properties(conjunction: Conjunction, clause: Clause, vocabulary: Vocabulary) -> None:
    for atom in conjunction.atoms:
        match atom:
            case OperatorCall():
                vocabulary.everything()
            case Not():
                _note_inside(atom.body, clause, vocabulary)
            case _:
                pass


def _note_inside(conjunction: Conjunction, clause: Clause, vocabulary: Vocabulary) -> None:
    for atom in conjunction.atoms:
        match atom:
            case Predicate():
                vocabulary.property_of(atom.attribute, strict=False)
            case TriplePattern(property=Constant() as property):
                vocabulary.property_of(property, clause.strict)
            case TriplePattern() | OperatorCall():
                vocabulary.everything()
            case Not():
                _note_inside(atom.body, clause, vocabulary)
            case Bind():
                pass


class _Coding:
    def __init__(self, clause: Clause, vocabulary: Vocabulary) -> None:
        self._clause = clause
        self._vocabulary = vocabulary
        self._sure = clause.tolerance is None and clause.select is None
        self._variables: dict[object, int] = {}
        self._edges: dict[tuple[int, int, int], None] = {}
        self._marks: dict[tuple[int, int], None] = {}
        self._mentions = Counter(_mentioned(clause.conjunction))
        self._mentions.update(clause.select or ())
        self._scoped = bool(vocabulary.knowledge.content.scopes)

    def coded(self) -> Coded:
        conjunction = self._clause.conjunction
        if self._clause.tolerance is not None:
            _, conjunction = graded(conjunction)
        for atom in conjunction.atoms:
            match atom:
                case TriplePattern():
                    self._pattern(atom)
                case Predicate():
                    self._predicate(atom)
                case Bind() | Not() | OperatorCall():
                    pass
        for atom in conjunction.atoms:
            match atom:
                case Bind():
                    self._bind(atom)
                case Not() | OperatorCall():
                    self._sure = False
        for constraint in conjunction.constraints:
            if not self._constraint(constraint):
                self._sure = False
        return Coded(self._code(), self._sure)

    def _code(self) -> tuple[int, ...]:
        flags = 0
        if self._clause.injective:
            flags = INJECTIVE
            if Home() not in self._variables and _uses_home(self._clause.conjunction):
                flags |= USES_HOME
        return (
            len(self._variables),
            len(self._edges),
            len(self._marks),
            0,
            flags,
            *(part for edge in self._edges for part in edge),
            *(part for mark in self._marks for part in mark),
        )

    # Edges

    def _pattern(self, pattern: TriplePattern) -> None:
        if isinstance(pattern.property, Variable):
            self._vocabulary.any_property()
            property = ANY_PROPERTY
            if self._mentions[pattern.property] > 1:
                self._sure = False
        else:
            property = self._vocabulary.property_of(pattern.property, self._clause.strict)
        self._edge(
            self._vertex(pattern.subject), property, self._vertex(pattern.object, is_object=True)
        )

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
        self._edges[subject, property, object] = None

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
                    return self._variable(object())
                else:
                    test = self._vocabulary.test(Equal(part))
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
        variable = self._variable(part)
        self._mark(variable, 2 * test)
        return variable

    def _variable(self, part: object) -> int:
        number = self._variables.setdefault(part, len(self._variables))
        return -number - 1

    def _mark(self, variable: int, mark: int) -> None:
        self._marks[variable, mark] = None

    # Marks

    def _bind(self, bind: Bind) -> None:
        if bind.variable not in self._variables:
            self._sure = self._sure and self._mentions[bind.variable] == 1
            return
        make = self._vocabulary.strictly if self._clause.strict else self._vocabulary.same
        self._mark(self._variable(bind.variable), 2 * make(bind.term))

    def _constraint(self, constraint: Expression) -> bool:
        """Mark what a constraint asks for; whether that is all."""
        named = frozenset(variables_in(constraint))
        if len(named) != 1:
            return False
        (variable,) = named
        if variable not in self._variables:
            return False
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
        test = self._vocabulary.constrained(variable, constraint, self._clause.strict)
        self._mark(self._variable(variable), 2 * test)
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
            case OperatorCall():
                yield from (part for part in atom.arguments if isinstance(part, Variable))
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
