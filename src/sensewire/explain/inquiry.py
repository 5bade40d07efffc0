"""Finds out why an event matches a subscription, or not, from the oracle's own judgement.

The verdict on each conjunction is the oracle's. Where it holds, one joint solution is taken, and
for each condition a fact that fits it. Where it does not, each condition is tried on its own; those
that fail show their nearest miss, and if none does, the conditions fail only together.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from sensewire.explain.explanation import (
    Alternative,
    Evidence,
    Explanation,
    Miss,
    Outcome,
    Part,
    Source,
    Step,
)
from sensewire.explain.misses import missed, shown
from sensewire.explain.ways import attribute_way, value_way
from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.unparse import unparse, unparse_parts
from sensewire.match.matcher import Answer, Operator
from sensewire.match.oracle_distance import distance_of
from sensewire.match.oracle_facts import Star, star_of
from sensewire.match.oracle_judgement import SLACK, BudgetError, Judgement, Solution
from sensewire.match.oracle_operators import Failed, Replies
from sensewire.match.oracle_values import EVERYWHERE, Scopes, spelled
from sensewire.model.canonical import Clause, clauses_of
from sensewire.model.conditions import (
    Between,
    Binds,
    Condition,
    Constant,
    Equal,
    IsA,
    IsDirectlyA,
    OneOf,
    Order,
    Text,
    Variable,
)
from sensewire.model.errors import UnsupportedError
from sensewire.model.event import Event, Fact
from sensewire.model.expressions import Expression, Test, variables_in
from sensewire.model.subscription import (
    Atom,
    Bind,
    Conjunction,
    Not,
    OperatorCall,
    Predicate,
    Subscription,
    TriplePattern,
    bound_by,
)
from sensewire.model.terms import Term

_MOST_TRIED = 1_000
_DEEPEST = 4
_ALONE = Solution({}, {})


def explained(
    id: str,
    subscription: Subscription,
    event: Event,
    knowledge: Knowledge,
    operators: Mapping[str, Operator],
) -> Explanation:
    """Why an event matches a subscription, or not; raises EventError if it cannot be matched."""
    star = star_of(event, knowledge)
    replies = Replies(event, operators)
    inquiries = [
        Inquiry(clause, event, star, knowledge, replies) for clause in clauses_of(subscription)
    ]
    alternatives = [inquiry.alternative() for inquiry in inquiries]
    held = [each for each in alternatives if each.outcome is Outcome.YES]
    rows = {row for inquiry in inquiries for row in inquiry.rows()}
    return Explanation(
        subscription=id,
        text=_text(subscription),
        event=event.id,
        outcome=_outcome([each.outcome for each in alternatives]),
        alternatives=tuple(alternatives),
        distance=min((each.distance for each in held), default=0.0),
        rows=tuple(sorted(rows, key=str)),
        tolerance=subscription.tolerance,
    )


def _text(subscription: Subscription) -> str:
    try:
        return unparse(subscription)
    except UnsupportedError as error:
        return f"({error})"


def _outcome(outcomes: Sequence[Outcome]) -> Outcome:
    """A disjunction holds if a branch holds, else it may be undecided."""
    ranked = (Outcome.YES, Outcome.UNDECIDED, Outcome.NO)
    return next(each for each in ranked if each in outcomes)


class Inquiry:
    """One conjunction and one event."""

    def __init__(
        self, clause: Clause, event: Event, star: Star, knowledge: Knowledge, replies: Replies
    ) -> None:
        self._clause = clause
        self._star = star
        self._home = event.home
        self._replies = replies
        self._knowledge = knowledge
        self._judge = Judgement(clause, event, star, knowledge, replies)
        self._answer = self._judge.answer(0)
        self._texts = _texts(clause)

    def rows(self) -> Iterator[tuple[tuple[str, Term], ...]]:
        """The rows of the answer, with the variables' names."""
        names = [variable.name for variable in self._clause.select or ()]
        for row in self._answer.rows:
            yield tuple(zip(names, row, strict=True))

    def alternative(self) -> Alternative:
        """What came of the conjunction, condition by condition."""
        outcome = _verdict(self._answer)
        conjunction = self._clause.conjunction
        solution = self._solution() if outcome is Outcome.YES else None
        tried = [] if solution else self._joint_solutions(conjunction)
        parts = [
            self._part(part, text, solution, tried)
            for part, text in zip(
                (*conjunction.atoms, *conjunction.constraints), self._texts, strict=True
            )
        ]
        note = None
        if outcome is Outcome.NO and all(part.outcome is Outcome.YES for part in parts) and parts:
            note = self._note_on_all(parts)
        told = {note for part in parts for note in part.notes}
        reasons = [reason for reason in self._answer.reasons if reason not in told]
        if self._answer.reasons and outcome is Outcome.YES:
            note = f"there may be more rows: {'; '.join(self._answer.reasons)}"
        elif reasons:
            note = "; ".join(reasons)
        return Alternative(outcome, tuple(parts), note, self._answer.distance)

    def _note_on_all(self, parts: Sequence[Part]) -> str:
        if self._clause.tolerance is not None and any(part.distance for part in parts):
            total = sum(part.distance for part in parts)
            return f"the distances come to {total:.4g}, more than {self._clause.tolerance:g}"
        if self._clause.injective:
            return "each holds by itself, but not together with a vertex of its own for each name"
        return "each holds by itself, but not for the same values together"

    def _solution(self) -> Solution:
        """A joint solution without doubts."""
        _, rest = self._judge.parted()
        found = self._judge.solutions(rest)
        return next(each for each in found if not each.reasons)

    def _joint_solutions(self, conjunction: Conjunction) -> list[Solution]:
        """Some joint solutions of the atoms that are no `not`, constraints left aside."""
        positive = tuple(atom for atom in conjunction.atoms if not isinstance(atom, Not))
        with suppress(BudgetError):
            return self._judge.solutions_of(Conjunction(positive), _ALONE, _MOST_TRIED)
        return []

    def _part(
        self, part: Atom | Expression, text: str, solution: Solution | None, tried: list[Solution]
    ) -> Part:
        match part:
            case Predicate(condition=Binds()):
                return self._binding(part, text, solution)
            case Predicate():
                return self._predicate(part, text)
            case TriplePattern():
                return self._pattern(part, text, solution)
            case OperatorCall():
                return self._call(part, text)
            case Bind():
                return Part(text, Outcome.YES)
            case Not():
                return self._refusal(part, text, [solution] if solution else tried or [_ALONE])
            case _:
                return self._constraint(part, text, [solution] if solution else tried)

    def _source(self, fact: Fact, depth: int = 0) -> Source:
        """Where a fact comes from, a few functions deep: inputs that are shared multiply."""
        origin = self._star.origins.get(fact)
        if origin is None or self._clause.strict:
            return Source(fact)
        inputs = origin.inputs if depth < _DEEPEST else ()
        return Source(
            fact, origin.function.name, tuple(self._source(each, depth + 1) for each in inputs)
        )

    def _at_home(self) -> list[Fact]:
        return [fact for fact in self._judge.facts if fact.subject == self._home]

    def _scopes(self, fact: Fact, attribute: Constant) -> Scopes:
        return self._judge.reader.scopes(fact.property, attribute)

    def _predicate(self, predicate: Predicate, text: str) -> Part:
        reader = self._judge.reader
        evidence = [
            self._evidence(fact, predicate)
            for fact in self._at_home()
            if reader.names(fact.property, predicate.attribute)
            and reader.meets(
                fact.object, predicate.condition, self._scopes(fact, predicate.attribute)
            )
        ]
        if evidence:
            best = min(evidence, key=lambda each: len(each.attribute) + len(each.value))
            return Part(text, Outcome.YES, (best,))
        miss = missed(predicate, self._at_home(), reader, self._source)
        near, _ = self._judge.parted()
        if predicate in near:
            return self._near(predicate, text, miss)
        doubts = self._doubts(predicate.attribute)
        outcome = Outcome.UNDECIDED if doubts else Outcome.NO
        return Part(text, outcome, miss=miss, notes=doubts)

    def _near(self, predicate: Predicate, text: str, miss: Miss) -> Part:
        """A predicate that does not hold; within a distance it may be near enough."""
        facts = {
            distance_of(predicate, [(f.property, f.object)], self._judge.reader): f
            for f in reversed(self._at_home())
        }
        distance = min(facts, default=float("inf"))
        if not distance <= (self._clause.tolerance or 0.0) + SLACK:
            doubts = tuple(sorted(self._judge.measured([predicate]).doubts))
            outcome = Outcome.UNDECIDED if doubts else Outcome.NO
            return Part(text, outcome, miss=miss, notes=doubts)
        nearest = self._source(facts[distance])
        return Part(
            text,
            Outcome.YES,
            (Evidence(nearest, compared=miss.why if miss.nearest == nearest else None),),
            notes=(f"near enough: {distance:.4g} away",),
            distance=distance,
        )

    def _doubts(self, attribute: Constant) -> tuple[str, ...]:
        names = self._judge.reader.names
        return tuple(
            unknown.reason
            for unknown in self._judge.unknown
            if unknown.subject == self._home and names(unknown.property, attribute)
        )

    def _evidence(self, fact: Fact, predicate: Predicate) -> Evidence:
        scopes = self._scopes(fact, predicate.attribute)
        way, compared = self._how(fact, predicate.condition, scopes)
        attribute = attribute_way(fact.property, predicate.attribute, self._knowledge)
        return Evidence(self._source(fact), attribute, way, compared)

    def _how(
        self, fact: Fact, condition: Condition, scopes: Scopes
    ) -> tuple[tuple[Step, ...], str | None]:
        """How a value meets a condition: by a way through the knowledge, or by comparison."""
        reader, value = self._judge.reader, fact.object
        match condition:
            case Equal(constant) | IsA(constant) | IsDirectlyA(constant):
                way = value_way(value, constant, scopes, reader)
                asked = shown(spelled(constant))
                verb = "=" if isinstance(condition, Equal) else "is a"
                needless = way or shown(value) == asked
                return way, None if needless else f"{shown(value)} {verb} {asked}"
            case OneOf(constants):
                met = next(c for c in constants if reader.meets(value, Equal(c), scopes))
                return self._how(fact, Equal(met), scopes)
            case Order(relation, bound):
                return (), f"{shown(value)} {relation.value} {shown(bound)}"
            case Between(low, high):
                return (), f"{shown(low)} <= {shown(value)} <= {shown(high)}"
            case Text(relation, text):
                return (), f"{shown(value)} {relation.value} {text!r}"
            case _:
                return (), None

    def _binding(self, predicate: Predicate, text: str, solution: Solution | None) -> Part:
        assert isinstance(predicate.condition, Binds)
        variable = predicate.condition.variable
        bound = solution.bindings.get(variable) if solution else None
        for fact in self._at_home():
            named = self._judge.reader.names(fact.property, predicate.attribute)
            if named and (bound is None or fact.object == bound):
                note = f"{variable.as_written()} is {shown(fact.object)}"
                return Part(text, Outcome.YES, (self._evidence(fact, predicate),), notes=(note,))
        miss = missed(predicate, self._at_home(), self._judge.reader, self._source)
        doubts = self._doubts(predicate.attribute)
        outcome = Outcome.UNDECIDED if doubts else Outcome.NO
        return Part(text, outcome, miss=miss, notes=doubts)

    def _pattern(self, pattern: TriplePattern, text: str, solution: Solution | None) -> Part:
        known = _ALONE if solution is None else Solution(solution.bindings, {})
        for fact in self._judge.facts_for(pattern):
            for found in self._judge.fitted(pattern, fact, known):
                return Part(
                    text, Outcome.YES, (self._fit(pattern, fact),), notes=_notes(pattern, found)
                )
        perhaps = self._judge.solutions_of(Conjunction((pattern,)), _ALONE, 1)
        doubts = tuple(sorted(perhaps[0].reasons)) if perhaps else ()
        outcome = Outcome.UNDECIDED if doubts else Outcome.NO
        return Part(text, outcome, miss=self._missed_pattern(pattern), notes=doubts)

    def _fit(self, pattern: TriplePattern, fact: Fact) -> Evidence:
        """How a fact fits a pattern; only what is read by meaning has ways."""
        if self._clause.strict or not isinstance(pattern.property, Constant):
            return Evidence(self._source(fact))
        way: tuple[Step, ...] = ()
        if isinstance(pattern.object, Constant):
            scopes = self._scopes(fact, pattern.property)
            way = value_way(fact.object, pattern.object, scopes, self._judge.reader)
        attribute = attribute_way(fact.property, pattern.property, self._knowledge)
        return Evidence(self._source(fact), attribute, way)

    def _missed_pattern(self, pattern: TriplePattern) -> Miss:
        """The statement of which most parts fit, and the parts that do not."""
        unfit = {fact: self._unfit(pattern, fact) for fact in self._judge.facts}
        nearest = min(unfit, key=lambda fact: len(unfit[fact]), default=None)
        if nearest is None or len(unfit[nearest]) == 3:
            return Miss("no statement of the event is near")
        verb = "does" if len(unfit[nearest]) == 1 else "do"
        why = f"its {' and '.join(unfit[nearest])} {verb} not fit"
        return Miss(why if unfit[nearest] else "no joint values fit", self._source(nearest))

    def _unfit(self, pattern: TriplePattern, fact: Fact) -> list[str]:
        """The parts of a pattern that a fact does not fit, each tried without the others."""
        parts = ("subject", "property", "object")
        one, other = Variable(" one"), Variable(" other")  # names that no text can have
        alone = [
            TriplePattern(pattern.subject, one, other),
            TriplePattern(one, pattern.property, other),
            TriplePattern(one, other, pattern.object),
        ]
        return [
            part
            for part, each in zip(parts, alone, strict=True)
            if not list(self._judge.fitted(each, fact, _ALONE))
        ]

    def _call(self, call: OperatorCall, text: str) -> Part:
        reply = self._replies.to(call)
        if isinstance(reply, Failed):
            return Part(text, Outcome.UNDECIDED, notes=(reply.reason,))
        if not reply:
            return Part(text, Outcome.NO, miss=Miss("the operator says no"))
        rows = [
            ", ".join(f"{v.as_written()} is {shown(term)}" for v, term in row.items())
            for row in reply[:3]
        ]
        return Part(text, Outcome.YES, notes=tuple(filter(None, rows)) or ("the operator says so",))

    def _refusal(self, negation: Not, text: str, solutions: Sequence[Solution]) -> Part:
        """A `not`: it holds for some solution of the rest, or its body holds for all of them."""
        doubts: set[str] = set()
        sure: Solution | None = None
        for solution in solutions:
            start = Solution(solution.bindings, solution.places)
            try:
                inside = self._judge.solutions_of(negation.body, start, _MOST_TRIED)
            except BudgetError:
                return Part(text, Outcome.UNDECIDED, notes=("the search took too long",))
            if not inside:
                return Part(text, Outcome.YES, notes=("nothing in the event says so",))
            refusing = next((each for each in inside if not each.reasons), None)
            sure = sure or refusing
            if refusing is None:
                doubts.update(reason for each in inside for reason in each.reasons)
        if doubts or sure is None:
            return Part(text, Outcome.UNDECIDED, notes=tuple(sorted(doubts)))
        evidence = [
            each for atom in negation.body.atoms for each in self._part(atom, "", sure, []).evidence
        ]
        nearest = evidence[0].source if evidence else None
        return Part(
            text, Outcome.NO, tuple(evidence), Miss("it must not be so, but it is", nearest)
        )

    def _constraint(self, constraint: Expression, text: str, solutions: Sequence[Solution]) -> Part:
        variables = list(dict.fromkeys(variables_in(constraint)))
        tried: list[str] = []
        for solution in solutions or self._binding_only(variables):
            bound = [v for v in variables if v in solution.bindings]
            said = ", ".join(f"{v.as_written()} is {shown(solution.bindings[v])}" for v in bound)
            if len(bound) < len(variables):
                return Part(text, Outcome.UNDECIDED, notes=tuple(sorted(solution.reasons)))
            if self._judge.holds(constraint, solution):
                return Part(text, Outcome.YES, self._shown_by(constraint, solution), notes=(said,))
            tried.append(said)
        distinct = list(dict.fromkeys(tried))
        why = "; ".join(distinct[:3]) or "there are no values to try it on"
        return Part(text, Outcome.NO, miss=Miss(why + (" …" if len(distinct) > 3 else "")))

    def _binding_only(self, variables: Sequence[Variable]) -> list[Solution]:
        """Solutions of the atoms that bind some variables, where all atoms together have none."""
        atoms = tuple(
            atom
            for atom in self._clause.conjunction.atoms
            if not isinstance(atom, Not)
            and not set(variables).isdisjoint(bound_by(Conjunction((atom,))))
        )
        with suppress(BudgetError):
            return self._judge.solutions_of(Conjunction(atoms), _ALONE, _MOST_TRIED)
        return []

    def _shown_by(self, constraint: Expression, solution: Solution) -> tuple[Evidence, ...]:
        """The way by which a variable's value is what a constraint asks for, if there is one."""
        if not isinstance(constraint, Test) or self._clause.strict:
            return ()
        value = solution.bindings[constraint.variable]
        for fact in self._judge.facts:
            if fact.object == value:
                way, _ = self._how(fact, constraint.condition, EVERYWHERE)
                return (Evidence(self._source(fact), value=way),) if way else ()
        return ()


def _verdict(answer: Answer) -> Outcome:
    if answer.rows:
        return Outcome.YES
    return Outcome.UNDECIDED if answer.reasons else Outcome.NO


def _texts(clause: Clause) -> tuple[str, ...]:
    try:
        return unparse_parts(clause.conjunction, strict=clause.strict)
    except UnsupportedError:  # what no text can say is shown as a value
        parts = (*clause.conjunction.atoms, *clause.conjunction.constraints)
        return tuple(map(repr, parts))


def _notes(pattern: TriplePattern, found: Solution) -> tuple[str, ...]:
    parts = (pattern.subject, pattern.property, pattern.object)
    variables = dict.fromkeys(part for part in parts if isinstance(part, Variable))
    said = [f"{v.as_written()} is {shown(found.bindings[v])}" for v in variables]
    return (", ".join(said),) if said else ()
