"""The catalogue of an index: the slots and the tests that clauses ask for, numbered.

    attribute ──> axis ──> slot ──> tests (spans of keys, or "but" these)
                  flag ──> slot ──> one test, and the condition to try on each value

Tests are kept once, in columns, so that compiling many clauses is arithmetic on arrays. Nothing is
forgotten: numbers stay what they are for every segment that was compiled.
"""

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.compiled.asking import Asked, Asking, Axis
from sensewire.match.compiled.attributes import Attributes
from sensewire.match.compiled.concepts import Concepts
from sensewire.match.compiled.conjunctions import Int32, Int64, Truths
from sensewire.match.compiled.flags import Flags
from sensewire.match.compiled.growing import Extended, Growing
from sensewire.match.views import spelled
from sensewire.model.canonical import Clause
from sensewire.model.conditions import (
    Between,
    Binds,
    Condition,
    Constant,
    Name,
    Order,
    constants_of,
)
from sensewire.model.subscription import Atom, Conjunction, Not, Predicate
from sensewire.model.terms import Kind, Term

Doubles = npt.NDArray[np.float64]
OPEN = float("nan")
"""The end of a span without a limit."""


class Slot(NamedTuple):
    """What events have ranks on."""

    attribute: int
    axis: Axis
    detail: str | Condition | None


class TestColumns:
    """Tests, one row each; `starts` and `stops` hold keys, or numbers of texts."""

    def __init__(
        self, slot: Int32, but: Truths, offsets: Int64, starts: Doubles, stops: Doubles
    ) -> None:
        self.slot = Growing.over(slot)
        self.but = Growing.over(but)
        self.offsets = Growing.over(offsets)
        self.starts = Growing.over(starts)
        self.stops = Growing.over(stops)

    @classmethod
    def empty(cls) -> "TestColumns":
        """No tests yet."""
        ends = np.empty(0, np.float64)
        return cls(np.empty(0, np.int32), np.empty(0, np.bool_), np.zeros(1, np.int64), ends, ends)


class Wanted(NamedTuple):
    """A clause as tests: number + 1, negative where negated; `sure` if they say all of it.

    One with triple patterns has a code instead (`graph_layout.py`).
    """

    tests: tuple[int, ...]
    sure: bool
    code: tuple[int, ...] = ()


class Catalogue:
    """The slots and tests of an index, growing."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self.lock = threading.RLock()
        """Held by whoever asks or adds: what was asked for may grow at any time."""
        self.attributes = Attributes(knowledge)
        self.concepts = Concepts(knowledge)
        self.slots: list[Slot] = []
        self.of_attribute: dict[int, list[int]] = defaultdict(list)
        """The slots of an attribute that have keys."""
        self.flags: dict[int, Flags] = {}
        """The conditions of an attribute that are tried on each value."""
        self.rounded: set[int] = set()
        """The slots with constants that are only nearly their keys."""
        self.words: dict[int, list[str]] = defaultdict(list)
        """The words that are asked for on each slot of words, while the knowledge knows none."""
        self.sensitive: set[int] = set()
        """The attributes with flags that plain numbers may meet one by one."""
        self.texts: list[bytes] = []
        """The keys of tests on axes of texts."""
        self.columns = TestColumns.empty()
        self.version = 0
        """Rises with every slot: what was known of values before may lack something."""
        self._asking = Asking(knowledge, self.concepts)
        self.predicates = Extended[Predicate]()
        """A predicate that asks for each test; all that ask for it mean the same."""
        self._restored = 0  # tests that were taken over, and whose words are not listed yet
        self._slots: dict[Slot, int] = {}
        self._texts: dict[bytes, int] = {}
        self._tests: dict[tuple[int, Asked, Condition | None], int] = {}
        self._asked: dict[tuple[Constant, Condition, float], tuple[int, bool] | None] = {}

    def wanted(self, clause: Clause) -> Wanted:
        """The tests that a clause asks for: all that it says, or, if not sure, what it says at
        least of its predicates."""
        near = clause.tolerance or 0.0
        sure = clause.tolerance is None and clause.select is None
        sure = sure and not clause.conjunction.constraints and not clause.injective
        tests: list[int] = []
        for predicate, positive in predicates_of(clause):
            if predicate is None:
                sure = False
                continue
            known = self._test(predicate, near if positive else 0.0)
            if known is None:
                sure = False
            elif positive or known[1]:
                tests.append(known[0] + 1 if positive else -known[0] - 1)
                sure = sure and known[1] and not isinstance(predicate.condition, Binds)
            else:
                sure = False
        return Wanted(tuple(sorted(set(tests))), sure)

    def only_words(self, property: Term) -> Iterable[str] | None:
        """The words that alone can make a difference among a property's strings; None: any may."""
        if self.knowledge.content.entities:
            return None
        self._list_restored_words()
        found: list[str] = []
        for attribute in self.attributes.served_by(property):
            if attribute in self.flags:
                return None
            for slot in self.of_attribute[attribute]:
                axis = self.slots[slot].axis
                if axis is Axis.WORDS:
                    found += self.words[slot]
                elif axis not in (Axis.NUMBERS, Axis.PRESENT):
                    return None
        return found

    def _list_restored_words(self) -> None:
        """The words of tests that were taken over: those whose numbers their spans hold."""
        count, self._restored = self._restored, 0
        if not count:
            return
        words = [word.text for word in self.concepts.words()]
        first = self.concepts.of_hierarchy
        of_words = np.array([slot.axis is Axis.WORDS for slot in self.slots], np.bool_)
        slots, offsets = self.columns.slot.view[:count], self.columns.offsets.view[: count + 1]
        is_asked = np.repeat(of_words[slots], np.diff(offsets))  # few: most tests are of numbers
        starts = self.columns.starts.view[: offsets[-1]][is_asked]
        stops = self.columns.stops.view[: offsets[-1]][is_asked]
        of_span = np.repeat(slots, np.diff(offsets))[is_asked]
        for slot, start, stop in zip(
            of_span.tolist(), starts.tolist(), stops.tolist(), strict=True
        ):
            self.words[slot] += words[int(start) - first : int(stop) - first]

    def clause(self, tests: Iterable[int]) -> Clause:
        """A clause that asks for tests, as `wanted` gives them where it is sure."""
        atoms: list[Atom] = []
        for test in tests:
            predicate = self.predicates[abs(test) - 1]
            atoms.append(predicate if test > 0 else Not(Conjunction((predicate,))))
        return Clause(Conjunction(tuple(atoms)))

    def restore(
        self, columns: TestColumns, predicates: Sequence[Predicate], texts: Sequence[bytes]
    ) -> None:
        """Take over tests: the first ones. What asks for them again gets new ones."""
        self._restored = len(predicates)
        self.columns = columns
        self.predicates = Extended(predicates)
        self.texts = list(texts)

    def _test(self, predicate: Predicate, tolerance: float) -> tuple[int, bool] | None:
        key = (predicate.attribute, predicate.condition, tolerance)
        known = self._asked.get(key, _NEW)
        if known is not _NEW:
            return known
        attribute = self.attributes.number(predicate.attribute, nearly=tolerance > 0)
        scope = self.attributes.scopes[attribute]
        asked = (
            self._asking.nearly(predicate.condition, scope, tolerance)
            if tolerance
            else self._asking.asked(predicate.condition, scope)
        )
        found = None
        if asked is not None:
            apart = predicate.condition if self._is_itself(predicate.condition) else None
            found = self._numbered(attribute, asked, apart), asked.sure
            if found[0] == len(self.predicates):
                self.predicates.append(predicate)
                if asked.axis is Axis.WORDS and not self.knowledge.content.entities:
                    slot = int(self.columns.slot.view[found[0]])
                    roots = (
                        self.knowledge.value_root(spelled(each), scope)
                        for each in constants_of(predicate.condition)
                    )
                    self.words[slot].extend(root.text for root in roots)
        self._asked[key] = found
        return found

    def _is_itself(self, condition: Condition) -> bool:
        """Whether others that ask for the same may not mean the same: `= 1` and `= 1.0` differ for
        a vertex whose class is 1, and `<= 5` and `<= 5.0` for a number that is no double."""
        return isinstance(condition, Order | Between) or any(
            bool(self.knowledge.content.scopes) or spelled(each).kind not in (Kind.STRING, Kind.IRI)
            for each in constants_of(condition)
        )

    def _numbered(self, attribute: int, asked: Asked, apart: Condition | None) -> int:
        slot = self.slot(Slot(attribute, asked.axis, asked.detail))
        key = (slot, asked, apart)
        number = self._tests.get(key)
        if number is None:
            number = self._tests[key] = len(self.columns.slot)
            columns = self.columns
            columns.slot.append(slot)
            columns.but.append(asked.but)
            for start, stop in asked.spans:
                columns.starts.append(self._key(start))
                columns.stops.append(self._key(stop))
            columns.offsets.append(len(columns.starts))
            if asked.rounded:
                self.rounded.add(slot)
        return number

    def slot(self, slot: Slot) -> int:
        """The number of a slot; a new one where it is new."""
        number = self._slots.get(slot)
        if number is None:
            number = self._slots[slot] = len(self.slots)
            self.slots.append(slot)
            self.version += 1
            if slot.axis is Axis.FLAG:
                assert not isinstance(slot.detail, str | None)
                flags = self.flags.setdefault(slot.attribute, Flags(self.knowledge))
                flags.add(number, slot.detail, self.attributes.scopes[slot.attribute])
                if _is_about_numbers(slot.detail):
                    self.sensitive.add(slot.attribute)
            else:
                self.of_attribute[slot.attribute].append(number)
        return number

    def _key(self, key: float | bytes | None) -> float:
        if key is None:
            return OPEN
        if isinstance(key, bytes):
            number = self._texts.setdefault(key, len(self.texts))
            if number == len(self.texts):
                self.texts.append(key)
            return float(number)
        return float(key)


_NEW = (-1, False)


def _is_about_numbers(condition: Condition) -> bool:
    """Whether some numbers may meet a condition that others of their datatype do not."""
    if isinstance(condition, Order | Between):
        return True
    return any(
        isinstance(constant.value, Name) or constant.value.kind in (Kind.NUMBER, Kind.UNTYPED)
        for constant in constants_of(condition)
    )


def predicates_of(clause: Clause) -> Iterator[tuple[Predicate | None, bool]]:
    """The predicates of a clause, and whether each must be met or must not; None: another atom."""
    for atom in clause.conjunction.atoms:
        match atom:
            case Predicate():
                yield atom, True
            case Not(body) if len(body.atoms) == 1 and not body.constraints:
                (inner,) = body.atoms
                binds = isinstance(inner, Predicate) and isinstance(inner.condition, Binds)
                yield (inner if isinstance(inner, Predicate) and not binds else None), False
            case _:
                yield None, True
