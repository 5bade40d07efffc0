"""The oracle's judgement of one clause and one event: atoms, joins, `not`, rows, the third value.

By trying every fact for every atom: cost O(facts ^ atoms) at worst, bounded by a budget of steps.
How a value meets a condition is `oracle_values`' matter; how a constraint is evaluated,
`oracle_constraints`'; which facts there are, `oracle_facts`'.

Failure is a third value: an operator that fails, or a fact that is unknown, leaves its atom
undecided. A conjunction is refused where what was decided refuses it already, else undecided.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.matcher import Answer
from sensewire.match.oracle_constraints import BRIDGED, Rules, truth
from sensewire.match.oracle_distance import distance_of, graded, least_of
from sensewire.match.oracle_facts import Star
from sensewire.match.oracle_members import MEMBER, is_membership, memberships
from sensewire.match.oracle_operators import Failed, Replies
from sensewire.match.oracle_strict import STRICT, plain
from sensewire.match.oracle_values import EVERYWHERE, Reader, Scopes
from sensewire.model.canonical import Clause
from sensewire.model.conditions import Binds, Constant, Equal, Reading, Variable
from sensewire.model.derived import Unknown
from sensewire.model.event import Event, Fact
from sensewire.model.expressions import Expression, variables_in
from sensewire.model.match import over_budget
from sensewire.model.subscription import (
    Atom,
    Bind,
    Conjunction,
    Home,
    Not,
    OperatorCall,
    Predicate,
    TriplePattern,
    Vertex,
    bound_by,
)
from sensewire.model.terms import Kind, Term

BUDGET = 100_000
"""Facts tried for one clause and one event, beyond trying every fact once for every atom."""
SLACK = 1e-9

Bindings = Mapping[Variable, Term]
# What the vertices of a pattern stand for, kept where they must all be different.
Places = Mapping[Vertex, Term]


@dataclass(frozen=True, slots=True)
class Solution:
    """Bindings that satisfy a conjunction; with reasons, only perhaps."""

    bindings: Bindings
    places: Places
    reasons: frozenset[str] = frozenset()


class Measured(NamedTuple):
    """A distance; the least that it may be, if what is unknown is near; and why it is unknown."""

    distance: float
    least: float
    doubts: frozenset[str]


class BudgetError(Exception):
    """A search that took too many steps."""


class Judgement:
    """One clause and one event."""

    def __init__(
        self,
        clause: Clause,
        event: Event,
        star: Star,
        knowledge: Knowledge,
        replies: Replies,
        budget: int = BUDGET,
    ) -> None:
        self.facts: tuple[Fact, ...] = star.facts
        self.unknown = star.unknown
        if clause.strict:
            self.facts = tuple(Fact(*(plain(term) for term in fact)) for fact in event.facts)
            self.unknown = ()
        self._clause = clause
        self._home = event.home
        self._replies = replies
        self.reader = Reader(knowledge, self.facts)
        self._rules: Rules = STRICT if clause.strict else BRIDGED
        self._budget = budget + len(self.facts) * len(clause.conjunction.atoms)
        self._steps = 0
        self._members: tuple[Fact, ...] | None = None
        self._named: dict[Constant, list[tuple[Term, Term]]] = {}
        self._met: dict[Predicate, bool] = {}

    def answer(self, number: int) -> Answer:
        """The clause's rows for the event, its distance, and what stayed undecided."""
        near, conjunction = self.parted()
        measured = self.measured(near)
        if not measured.least <= self._most():
            return Answer(number)
        try:
            solutions = self.solutions(conjunction)
        except BudgetError:
            if self._is_refused_by_one(conjunction):
                return Answer(number)
            return Answer(number, reasons=(over_budget(self._budget),))
        select = self._clause.select or ()
        sure = [found for found in solutions if not found.reasons]
        if not measured.distance <= self._most():
            sure = []
        rows = frozenset(tuple(found.bindings[each] for each in select) for found in sure)
        decided = bool(rows) and not select  # what else may hold adds nothing
        doubts = [] if decided else [found.reasons for found in solutions]
        reasons = measured.doubts.union(*doubts) if solutions else ()
        return Answer(number, rows, measured.distance if rows else 0.0, tuple(sorted(reasons)))

    def parted(self) -> tuple[list[Predicate], Conjunction]:
        """The predicates that may be met nearly, and the rest."""
        conjunction = self._clause.conjunction
        return ([], conjunction) if self._clause.tolerance is None else graded(conjunction)

    def _most(self) -> float:
        return (self._clause.tolerance or 0.0) + SLACK

    def measured(self, near: Iterable[Predicate]) -> Measured:
        """How far the event is from the predicates that may be met nearly."""
        values = self._values_at_home()
        unknown = [each for each in self.unknown if each.subject == self._home]
        distance = least = 0.0
        doubts: set[str] = set()
        for predicate in near:
            known = distance_of(predicate, values, self.reader)
            possible = {each: least_of(predicate, each.property, self.reader) for each in unknown}
            distance += known
            least += min((known, *possible.values()))
            doubts.update(each.reason for each, perhaps in possible.items() if perhaps < known)
        return Measured(distance, least, frozenset(doubts))

    def solutions(self, conjunction: Conjunction) -> list[Solution]:
        """The solutions of a conjunction: all that are wanted, the doubtful ones included."""
        self._steps = 0
        start = self._at_home(Solution({}, {}))
        found = self._solve(conjunction, start) if start is not None else iter(())
        return list(found if self._wants_all() else islice(found, 1))

    def solutions_of(self, conjunction: Conjunction, given: Solution, most: int) -> list[Solution]:
        """At most so many solutions of a conjunction that extend a given one, with a budget."""
        self._steps = 0
        return list(islice(self._solve(conjunction, given), most))

    def holds(self, constraint: Expression, solution: Solution) -> bool:
        """Whether a constraint holds for a solution that binds all of its variables."""
        return truth(constraint, solution.bindings, self._rules, self.reader) is True

    def _is_refused_by_one(self, conjunction: Conjunction) -> bool:
        """Whether some atom has no solution even alone; a `not` counts if it shares no variable,
        and no vertex may be taken from it."""
        bound = frozenset(bound_by(conjunction))
        for atom in conjunction.atoms:
            if isinstance(atom, Not) and (
                self._clause.injective or not bound.isdisjoint(_mentioned(atom.body))
            ):
                continue
            self._steps = 0
            with suppress(BudgetError):
                if next(self._solve(Conjunction((atom,)), Solution({}, {})), None) is None:
                    return True
        return False

    def _wants_all(self) -> bool:
        """Whether one solution is not enough: rows are selected, or some may be undecided."""
        doubtful = bool(self.unknown) or _calls_operators(self._clause.conjunction)
        return bool(self._clause.select) or doubtful

    def _solve(self, conjunction: Conjunction, given: Solution) -> Iterator[Solution]:
        """The solutions of a conjunction that extend the given one.

        Operators are costly: they are asked only if all the rest has a solution.
        """
        positive = [atom for atom in conjunction.atoms if not isinstance(atom, Not)]
        calls = [atom for atom in positive if isinstance(atom, OperatorCall)]
        joined = self._joined([atom for atom in positive if atom not in calls], given)
        first = next(joined, None)
        if first is None:
            return
        replies = {call: self._replies.to(call) for call in calls}
        failures = {reply.reason for reply in replies.values() if isinstance(reply, Failed)}
        answered = [call for call, reply in replies.items() if not isinstance(reply, Failed)]
        bound = frozenset(bound_by(conjunction))
        for known in chain((first,), joined):
            for solution in self._joined(answered, known):
                if self._constraints_hold(conjunction, solution):
                    left = self._negations_hold(conjunction, solution, bound)
                    if left is not None:
                        reasons = left.reasons | given.reasons | failures
                        yield Solution(left.bindings, left.places, reasons)

    def _joined(self, atoms: Sequence[Atom], given: Solution) -> Iterator[Solution]:
        """Every way to extend the given solution by one solution of each atom, depth first."""
        open_atoms: list[Iterator[Solution]] = [iter((given,))]
        while open_atoms:
            known = next(open_atoms[-1], None)
            if known is None:
                open_atoms.pop()
            elif len(open_atoms) > len(atoms):
                yield known
            else:
                open_atoms.append(self._extended(atoms[len(open_atoms) - 1], known))

    def _constraints_hold(self, conjunction: Conjunction, solution: Solution) -> bool:
        """Whether no constraint refuses; one that a failed operator left open does not."""
        return all(
            self.holds(constraint, solution)
            for constraint in conjunction.constraints
            if all(variable in solution.bindings for variable in variables_in(constraint))
        )

    def _negations_hold(
        self, conjunction: Conjunction, solution: Solution, bound: frozenset[Variable]
    ) -> Solution | None:
        """The solution, perhaps with doubts; None where a `not` refuses it."""
        reasons: frozenset[str] = frozenset()
        for atom in conjunction.atoms:
            if not isinstance(atom, Not):
                continue
            if any(v in bound and v not in solution.bindings for v in _mentioned(atom.body)):
                continue  # a failed operator leaves this one open
            start = Solution(solution.bindings, solution.places)
            inside = list(self._solve(atom.body, start))
            if any(not found.reasons for found in inside):
                return None
            reasons = reasons.union(*(found.reasons for found in inside))
        return Solution(solution.bindings, solution.places, solution.reasons | reasons)

    def _extended(self, atom: Atom, known: Solution) -> Iterator[Solution]:
        match atom:
            case Predicate(condition=Binds(variable)):
                for _, value in self._values(atom.attribute):
                    self._step()
                    placed = self._placed(known, variable, value)
                    if placed is not None:
                        yield from _join(placed, {variable: value})
                yield from self._perhaps(known, atom.attribute)
            case Predicate():
                if self._is_met(atom):
                    yield known
                else:
                    yield from self._perhaps(known, atom.attribute)
            case TriplePattern():
                yield from self._fitting(atom, known)
            case Bind():
                yield from _join(known, {atom.variable: self._constant(atom.term)})
            case OperatorCall():
                reply = self._replies.to(atom)
                assert not isinstance(reply, Failed)
                for row in reply:
                    self._step()
                    yield from _join(known, row)

    def _is_met(self, predicate: Predicate) -> bool:
        """Whether a value of the home vertex meets a predicate, whatever the variables are."""
        if predicate not in self._met:
            self._met[predicate] = any(
                self.reader.meets(
                    value, predicate.condition, self.reader.scopes(property, predicate.attribute)
                )
                for property, value in self._values(predicate.attribute)
            )
        self._step()
        return self._met[predicate]

    def _perhaps(self, known: Solution, attribute: Constant) -> Iterator[Solution]:
        """The known solution with a doubt, for each unknown value that an attribute may have."""
        for unknown in self.unknown:
            named = self.reader.names(unknown.property, attribute)
            if unknown.subject == self._home and named:
                yield _doubted(known, unknown)

    def _values(self, attribute: Constant) -> Sequence[tuple[Term, Term]]:
        """The properties and values of the home vertex under an attribute."""
        if attribute not in self._named:
            names = self.reader.names
            at_home = self._values_at_home()
            self._named[attribute] = [each for each in at_home if names(each[0], attribute)]
        return self._named[attribute]

    def _values_at_home(self) -> list[tuple[Term, Term]]:
        return [(f.property, f.object) for f in self.facts if f.subject == self._home]

    def _fitting(self, pattern: TriplePattern, known: Solution) -> Iterator[Solution]:
        """The solutions that each fact makes of a known one."""
        for fact in self.facts_for(pattern):
            self._step()
            yield from self.fitted(pattern, fact, known)
        for unknown in self.unknown:
            fitting = self._vertex(pattern.subject, unknown.subject, known)
            for found in self._with_property(pattern, unknown.property, fitting):
                yield _doubted(found, unknown)

    def facts_for(self, pattern: TriplePattern) -> Iterable[Fact]:
        """The facts that may fit a pattern; for `rdfs:member`, the items of lists too."""
        asked = pattern.property
        if not isinstance(asked, Constant) or not self._reads_members(asked):
            return self.facts
        if self._members is None:
            self._members = tuple(islice(memberships(self.facts), self._budget + 1))
        return chain(self.facts, self._members)

    def fitted(self, pattern: TriplePattern, fact: Fact, known: Solution) -> Iterator[Solution]:
        """The known solution extended by one fact that fits a pattern; nothing if it does not."""
        longer = self._vertex(pattern.subject, fact.subject, known)
        scopes = self._scopes(fact.property, pattern)
        longer = longer and self._vertex(pattern.object, fact.object, longer, scopes)
        yield from self._with_property(pattern, fact.property, longer)

    def _with_property(
        self, pattern: TriplePattern, property: Term, known: Solution | None
    ) -> Iterator[Solution]:
        if known is None:
            return
        if isinstance(pattern.property, Variable):
            yield from _join(known, {pattern.property: property})
        elif self._is_property(property, pattern.property):
            yield known

    def _scopes(self, property: Term, pattern: TriplePattern) -> Scopes:
        if isinstance(pattern.property, Constant):
            return self.reader.scopes(property, pattern.property)
        return Scopes(value=self.reader.knowledge.scope_of(property))

    def _vertex(
        self, part: Vertex, term: Term, known: Solution, scopes: Scopes = EVERYWHERE
    ) -> Solution | None:
        """The known solution with a vertex of the pattern standing for a term, if it can."""
        match part:
            case Variable():
                joined = next(iter(_join(known, {part: term})), None)
                return joined and self._placed(joined, part, term)
            case Constant():
                fits = self._is_vertex(term, part, scopes)
            case Home():
                fits = term == self._home
        return self._placed(known, part, term) if fits else None

    def _is_vertex(self, term: Term, constant: Constant, scopes: Scopes) -> bool:
        if self._clause.strict:
            return isinstance(constant.value, Term) and term == plain(constant.value)
        return self.reader.meets(term, Equal(constant), scopes)

    def _is_property(self, term: Term, constant: Constant) -> bool:
        if self._clause.strict:
            return isinstance(constant.value, Term) and term == plain(constant.value)
        if self.reader.names(term, constant):
            return True
        return is_membership(term) and self._reads_members(constant)

    def _reads_members(self, property: Constant) -> bool:
        """Whether a pattern's property is `rdfs:member`, or broader, by meaning."""
        if self._clause.strict or property.reading is Reading.EXACT:
            return False
        return self.reader.names(MEMBER, property)

    def _constant(self, term: Term) -> Term:
        return plain(term) if self._clause.strict else term

    def _at_home(self, known: Solution) -> Solution | None:
        """Injective: home is a place of the pattern where a pattern or a predicate uses it."""
        used = _uses_home(self._clause.conjunction)
        return self._placed(known, Home(), self._home) if used and self._home is not None else known

    def _placed(self, known: Solution, part: Vertex, term: Term) -> Solution | None:
        """Injective: a vertex of the pattern stands for one vertex, and no other does; literals
        are exempt, since RDF merges equal ones."""
        if not self._clause.injective or term.kind not in (Kind.IRI, Kind.BLANK):
            return known
        places = known.places
        if part in places:
            return known if places[part] == term else None
        if term in places.values():
            return None
        return Solution(known.bindings, {**places, part: term}, known.reasons)

    def _step(self) -> None:
        self._steps += 1
        if self._steps > self._budget:
            raise BudgetError


def _join(known: Solution, row: Bindings) -> Iterator[Solution]:
    """The known solution with a row's bindings, if they agree; joins are by same term."""
    if all(known.bindings.get(variable, term) == term for variable, term in row.items()):
        yield Solution({**known.bindings, **row}, known.places, known.reasons)


def _doubted(known: Solution, unknown: Unknown) -> Solution:
    return Solution(known.bindings, known.places, known.reasons | {unknown.reason})


def _calls_operators(conjunction: Conjunction) -> bool:
    return any(
        isinstance(atom, OperatorCall) or (isinstance(atom, Not) and _calls_operators(atom.body))
        for atom in conjunction.atoms
    )


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


def _mentioned(conjunction: Conjunction) -> Iterator[Variable]:
    """The variables of a conjunction, those inside its negations included."""
    yield from bound_by(conjunction)
    for constraint in conjunction.constraints:
        yield from variables_in(constraint)
    for atom in conjunction.atoms:
        if isinstance(atom, Not):
            yield from _mentioned(atom.body)
