"""The oracle: what a match is, as code, from the raw event and the knowledge.

Short, slow and plain on purpose: it is the definition that every matcher is held to, and the last
resort of dispatch. Each clause is answered on its own, by trying every fact for every atom: cost
O(facts ^ atoms) at worst, bounded by a budget of steps. How a value meets a condition is
`oracle_values`' matter; how a constraint is evaluated, `oracle_constraints`'.

Failure is a third value: an operator that fails leaves its atom undecided. A conjunction is refused
where what was decided refuses it already, else undecided.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice

from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.matcher import Answer, Operator
from sensewire.match.oracle_constraints import BRIDGED, Rules, truth
from sensewire.match.oracle_distance import distance_of, graded
from sensewire.match.oracle_operators import Failed, Replies
from sensewire.match.oracle_strict import STRICT, plain
from sensewire.match.oracle_values import Reader
from sensewire.model.batch import Batch
from sensewire.model.canonical import Clause
from sensewire.model.conditions import Binds, Constant, Equal, Variable
from sensewire.model.event import Event, Fact
from sensewire.model.expressions import variables_in
from sensewire.model.features import Feature
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


@dataclass(slots=True)
class Oracle:
    """The oracle as a matcher: it takes every clause."""

    knowledge: Knowledge
    operators: Mapping[str, Operator] = field(default_factory=dict)
    budget: int = BUDGET
    _clauses: dict[int, Clause] = field(default_factory=dict)

    @property
    def accepts(self) -> frozenset[Feature]:
        return frozenset(Feature)

    def add(self, number: int, clause: Clause) -> None:
        self._clauses[number] = clause

    def remove(self, number: int) -> None:
        del self._clauses[number]

    def match(self, batch: Batch) -> Sequence[Sequence[Answer]]:
        return (
            [self._answers(event) for event in batch.events] if self._clauses else [()] * len(batch)
        )

    def _answers(self, event: Event) -> list[Answer]:
        replies = Replies(event, self.operators)
        made = (
            Judgement(clause, event, self.knowledge, replies, self.budget).answer(number)
            for number, clause in self._clauses.items()
        )
        return [answer for answer in made if answer.rows or answer.reasons]


class BudgetError(Exception):
    """A search that took too many steps."""


class Judgement:
    """One clause and one event."""

    def __init__(
        self, clause: Clause, event: Event, knowledge: Knowledge, replies: Replies, budget: int
    ) -> None:
        facts: Iterable[Fact] = event.facts
        if clause.strict:
            facts = [Fact(*(plain(term) for term in fact)) for fact in facts]
        self._facts = tuple(facts)
        self._clause = clause
        self._home = event.home
        self._replies = replies
        self._reader = Reader(knowledge, self._facts)
        self._rules: Rules = STRICT if clause.strict else BRIDGED
        self._budget = budget + len(self._facts) * len(clause.conjunction.atoms)
        self._steps = 0

    def answer(self, number: int) -> Answer:
        """The clause's rows for the event, its distance, and what stayed undecided."""
        conjunction = self._clause.conjunction
        distance = 0.0
        if self._clause.tolerance is not None:
            near, conjunction = graded(conjunction)
            values = self._values_at_home()
            distances = (distance_of(predicate, values, self._reader) for predicate in near)
            distance = sum(distances, 0.0)
            if not distance <= self._clause.tolerance + SLACK:
                return Answer(number)
        try:
            start = self._at_home(Solution({}, {}))
            found = self._solve(conjunction, start) if start is not None else iter(())
            solutions = list(found if self._wants_all() else islice(found, 1))
        except BudgetError:
            if self._is_refused_by_one(conjunction):
                return Answer(number)
            return Answer(number, reasons=(f"budget exceeded: more than {self._budget:,} steps",))
        select = self._clause.select or ()
        rows = frozenset(
            tuple(found.bindings[variable] for variable in select)
            for found in solutions
            if not found.reasons
        )
        reasons = sorted({reason for found in solutions for reason in found.reasons})
        return Answer(number, rows, distance if rows else 0.0, tuple(reasons))

    def _is_refused_by_one(self, conjunction: Conjunction) -> bool:
        """Whether some atom has no solution even alone; a `not` counts if it shares no variable."""
        bound = frozenset(bound_by(conjunction))
        for atom in conjunction.atoms:
            if isinstance(atom, Not) and not bound.isdisjoint(_mentioned(atom.body)):
                continue
            self._steps = 0
            with suppress(BudgetError):
                if next(self._solve(Conjunction((atom,)), Solution({}, {})), None) is None:
                    return True
        return False

    def _wants_all(self) -> bool:
        """Whether one solution is not enough: rows are selected, or some may be undecided."""
        return bool(self._clause.select) or _calls_operators(self._clause.conjunction)

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
            truth(constraint, solution.bindings, self._rules, self._reader) is True
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
                for value in self._values(atom.attribute):
                    self._step()
                    placed = self._placed(known, variable, value)
                    if placed is not None:
                        yield from _join(placed, {variable: value})
            case Predicate():
                if any(self._reader.meets(v, atom.condition) for v in self._values(atom.attribute)):
                    yield known
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

    def _values(self, attribute: Constant) -> Iterator[Term]:
        """The values of the home vertex under an attribute."""
        for property, value in self._values_at_home():
            if self._reader.names(property, attribute):
                yield value

    def _values_at_home(self) -> list[tuple[Term, Term]]:
        return [(f.property, f.object) for f in self._facts if f.subject == self._home]

    def _fitting(self, pattern: TriplePattern, known: Solution) -> Iterator[Solution]:
        """The solutions that each fact makes of a known one."""
        for fact in self._facts:
            self._step()
            longer: Solution | None = known
            for part, term in zip(
                (pattern.subject, pattern.object), (fact.subject, fact.object), strict=True
            ):
                longer = longer and self._vertex(part, term, longer)
            if longer is None:
                continue
            if isinstance(pattern.property, Variable):
                yield from _join(longer, {pattern.property: fact.property})
            elif self._is_property(fact.property, pattern.property):
                yield longer

    def _vertex(self, part: Vertex, term: Term, known: Solution) -> Solution | None:
        """The known solution with a vertex of the pattern standing for a term, if it can."""
        match part:
            case Variable():
                joined = next(iter(_join(known, {part: term})), None)
                return joined and self._placed(joined, part, term)
            case Constant():
                fits = self._is_vertex(term, part)
            case Home():
                fits = term == self._home
        return self._placed(known, part, term) if fits else None

    def _is_vertex(self, term: Term, constant: Constant) -> bool:
        if self._clause.strict:
            return isinstance(constant.value, Term) and term == plain(constant.value)
        return self._reader.meets(term, Equal(constant))

    def _is_property(self, term: Term, constant: Constant) -> bool:
        if self._clause.strict:
            return isinstance(constant.value, Term) and term == plain(constant.value)
        return self._reader.names(term, constant)

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
