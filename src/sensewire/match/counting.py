"""CountMatch over attribute predicates (Kale 2005, section 3), in plain Python.

Each distinct predicate is held once, with the clauses that contain it. For an event, every
predicate that one of its facts satisfies is found, and a counter is raised for each of its clauses;
a clause whose counter equals the number of its predicates matches.

    attribute ──> hashed: key ──> predicates     (=, in, is a: looked up by what is above the value)
              └─> listed: the other predicates   (tried one by one)
    predicate ──> clauses that need it, clauses that it blocks

Cost for an event: its facts times the listed predicates of their attributes, plus one step for
every pair of a satisfied predicate and a clause that has it.

Departure: the paper's events specify all properties and values are 0 or 1; here attributes may be
absent or have many values, so that a predicate is counted once however many facts satisfy it, and
`not` blocks a clause instead of being counted.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.words import Scope
from sensewire.match.matcher import Answer, Found, found
from sensewire.match.views import Ready, View, keys_of, probes, ready, spelled, view_of
from sensewire.model.batch import Batch
from sensewire.model.canonical import Clause
from sensewire.model.conditions import Constant, Name, Reading
from sensewire.model.features import PREDICATES, Feature
from sensewire.model.subscription import Not, Predicate
from sensewire.model.terms import RDF_TYPE, Kind, Term, local_name

_REMEMBERED = 65_536  # views of values
_ONE_EMPTY_ROW: frozenset[tuple[Term, ...]] = frozenset({()})


@dataclass(slots=True, eq=False)
class Held:
    """A predicate, its condition made ready, and the clauses that need it or are blocked by it."""

    predicate: Predicate
    test: Ready
    needed_by: set[int] = field(default_factory=set)
    blocks: set[int] = field(default_factory=set)


@dataclass(slots=True)
class AttributeIndex:
    """The predicates on one attribute: all of them, and the two ways to find those that hold."""

    held: dict[Held, None] = field(default_factory=dict)
    hashed: dict[Hashable, list[Held]] = field(default_factory=lambda: defaultdict(list))
    listed: list[Held] = field(default_factory=list)

    def satisfied_by(self, view: View) -> Iterator[Held]:
        for key in probes(view):
            yield from (held for held in self.hashed.get(key, ()) if held.test(view))
        yield from (held for held in self.listed if held.test(view))


class Counting:
    """The index: predicates by attribute, and how many of them each clause needs."""

    accepts = PREDICATES | {Feature.EXACT, Feature.EVERYTHING, Feature.NEGATED_PREDICATE}
    wants_canonical = True

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._held: dict[Predicate, Held] = {}
        self._attributes: dict[Hashable, AttributeIndex] = defaultdict(AttributeIndex)
        self._clauses: dict[int, Clause] = {}
        self._needs: dict[int, int] = {}
        self._needing_none: set[int] = set()
        self._view = lru_cache(maxsize=_REMEMBERED)(self._view_of)

    def add(self, number: int, clause: Clause) -> None:
        needed = 0
        for predicate, positive in _predicates_of(clause):
            held = self._held.get(predicate) or self._hold(predicate)
            (held.needed_by if positive else held.blocks).add(number)
            needed += positive
        self._clauses[number] = clause
        self._needs[number] = needed
        if not needed:
            self._needing_none.add(number)

    def remove(self, number: int) -> None:
        for predicate, positive in _predicates_of(self._clauses.pop(number)):
            held = self._held[predicate]
            (held.needed_by if positive else held.blocks).discard(number)
            if not held.needed_by and not held.blocks:
                self._release(held)
        del self._needs[number]
        self._needing_none.discard(number)

    def match(self, batch: Batch) -> Found:
        rows = range(len(batch))
        return found([(row, answer) for row in rows for answer in self._answers(batch, row)])

    def _answers(self, batch: Batch, row: int) -> list[Answer]:
        satisfied = dict.fromkeys(self._satisfied(batch, row))
        blocked = {number for held in satisfied for number in held.blocks}
        counters = Counter(number for held in satisfied for number in held.needed_by)
        doubted = self._doubted(batch, row, satisfied)
        if doubted:
            return self._answers_in_doubt(blocked, counters, doubted)
        holding = [number for number, count in counters.items() if count == self._needs[number]]
        return [
            Answer(number, _ONE_EMPTY_ROW)
            for number in (*holding, *self._needing_none)
            if number not in blocked
        ]

    def _doubted(self, batch: Batch, row: int, satisfied: Container[Held]) -> dict[Held, set[str]]:
        """The predicates that something unknown of the home vertex may satisfy, and why."""
        doubted: dict[Held, set[str]] = defaultdict(set)
        for unknown in batch.unknown.get(row, ()):
            if unknown.subject == batch.events[row].home:
                for key in self._attribute_probes(unknown.property):
                    for held in self._held_under(key):
                        if held not in satisfied:
                            doubted[held].add(unknown.reason)
        return doubted

    def _held_under(self, key: Hashable) -> Iterable[Held]:
        index = self._attributes.get(key)
        return () if index is None else index.held

    def _answers_in_doubt(
        self, blocked: Container[int], counters: Counter[int], doubted: Mapping[Held, set[str]]
    ) -> list[Answer]:
        """A clause that lacks only what is unknown, or that something unknown may block."""
        perhaps = Counter(number for held in doubted for number in held.needed_by)
        reasons: dict[int, set[str]] = defaultdict(set)
        for held, why in doubted.items():
            for number in held.needed_by | held.blocks:
                reasons[number] |= why
        return [
            Answer(number, reasons=tuple(sorted(reasons[number])))
            if number in reasons
            else Answer(number, _ONE_EMPTY_ROW)
            for number in dict.fromkeys((*counters, *perhaps, *self._needing_none))
            if number not in blocked and counters[number] + perhaps[number] == self._needs[number]
        ]

    def _satisfied(self, batch: Batch, row: int) -> Iterator[Held]:
        """The predicates that some fact of the event's home vertex satisfies."""
        home = batch.events[row].home
        types: dict[Term, list[Term]] = defaultdict(list)
        indexed: list[tuple[AttributeIndex, Term, Scope]] = []
        for subject, name, value in batch.facts(row):
            if name == RDF_TYPE:
                types[subject].append(value)
            if subject == home:
                indexes = (self._attributes.get(key) for key in self._attribute_probes(name))
                scope = self._knowledge.scope_of(name)
                indexed.extend((index, value, scope) for index in indexes if index is not None)
        for index, value, scope in indexed:
            declared = tuple(types.get(value, ()))
            yield from index.satisfied_by(self._view(value, scope, declared))

    def _view_of(self, term: Term, scope: Scope, types: tuple[Term, ...]) -> View:
        return view_of(term, self._knowledge.value_root(term, scope), types, self._knowledge)

    @property
    def without_pivot(self) -> int:
        return 0

    def key(self, clause: Clause) -> Hashable:
        return clause

    def _hold(self, predicate: Predicate) -> Held:
        scope = self._knowledge.scope_of(spelled(predicate.attribute))
        held = Held(predicate, ready(predicate.condition, self._knowledge, scope))
        keys = keys_of(predicate.condition, self._knowledge, scope)
        for attribute in self._attribute_keys(predicate.attribute):
            index = self._attributes[attribute]
            index.held[held] = None
            if keys is None:
                index.listed.append(held)
            for key in keys or ():
                index.hashed[key].append(held)
        self._held[predicate] = held
        return held

    def _release(self, held: Held) -> None:
        predicate = held.predicate
        del self._held[predicate]
        scope = self._knowledge.scope_of(spelled(predicate.attribute))
        keys = keys_of(predicate.condition, self._knowledge, scope)
        for attribute in self._attribute_keys(predicate.attribute):
            index = self._attributes[attribute]
            del index.held[held]
            if keys is None:
                index.listed.remove(held)
            for key in keys or ():
                index.hashed[key].remove(held)
                if not index.hashed[key]:
                    del index.hashed[key]
            if not index.held:
                del self._attributes[attribute]

    def _attribute_keys(self, attribute: Constant) -> list[Hashable]:
        """The keys that an attribute is found under: each of its roots, or itself if exact."""
        if attribute.reading is Reading.MEANING:
            return [("root", root) for root in self._knowledge.attribute_roots(spelled(attribute))]
        if isinstance(attribute.value, Name):
            return [("name", attribute.value.text)]
        return [_exact_key(attribute.value)]

    def _attribute_probes(self, property: Term) -> Iterator[Hashable]:
        for above in self._knowledge.attributes_above(property):
            yield ("root", above)
        yield ("name", local_name(property.text) if property.kind is Kind.IRI else property.text)
        yield _exact_key(property)


def _exact_key(term: Term) -> Hashable:
    """Exact strings are one by their text, whether typed or not."""
    by_text = term.kind in (Kind.STRING, Kind.UNTYPED)
    return ("text", term.text) if by_text else ("term", term)


def _predicates_of(clause: Clause) -> Iterator[tuple[Predicate, bool]]:
    """The distinct predicates of a clause, and whether each must be met or must not."""
    for atom in clause.conjunction.atoms:
        match atom:
            case Predicate():
                yield atom, True
            case Not(body):
                (inner,) = body.atoms
                assert isinstance(inner, Predicate)
                yield inner, False
            case _:
                raise AssertionError(f"dispatch let {atom} through")
