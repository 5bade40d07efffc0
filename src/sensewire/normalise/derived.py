"""Derived facts: what mapping functions add to a batch, to the least fixpoint (Burcea 2003, 4.1).

All events at once: the facts that serve a function's inputs are joined by event and subject as
arrays, and the function is called once for each distinct combination of values (of each event,
where it asks for the event's time or id). A batch with no input of any function costs one look-up
for each distinct property. The bounds are counted for each event, so that an answer does not depend
on its neighbours.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np
import numpy.typing as npt

from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.mappings import MappingError, MappingFunction
from sensewire.model.batch import RAW, Batch, FactColumns, columns_of
from sensewire.model.derived import MOST_CALLS, MOST_FACTS, MOST_ROUNDS, Unknown, endless
from sensewire.model.terms import Term

Numbers = npt.NDArray[np.int64]
Made = tuple[tuple[int, int], ...]  # codes of attributes and values

# The columns of a fact while functions run.
EVENT, SUBJECT, PROPERTY, OBJECT, ORIGIN = range(5)


def derived(batch: Batch, knowledge: Knowledge) -> Batch:
    """The batch with the facts that functions derive, and what they leave unknown."""
    if not knowledge.mappings or not _serves_any(batch, knowledge):
        return batch
    fixpoint = _Fixpoint(batch, knowledge)
    fixpoint.run()
    return fixpoint.result()


def _serves_any(batch: Batch, knowledge: Knowledge) -> bool:
    """Whether some property of the batch serves an input of some function."""
    asked = {
        root
        for function in knowledge.mappings
        for _, attribute in function.inputs
        for root in knowledge.attribute_roots(attribute)
    }
    properties = {fact.property for row in range(len(batch)) for fact in batch.facts(row)}
    return any(not asked.isdisjoint(knowledge.attributes_above(each)) for each in properties)


class _Fixpoint:
    """The facts of a batch, growing."""

    def __init__(self, batch: Batch, knowledge: Knowledge) -> None:
        self._batch = batch
        self._knowledge = knowledge
        sent = columns_of(batch)
        self._terms = list(sent.terms)
        self._codes = {term: code for code, term in enumerate(sent.terms)}
        events = np.repeat(np.arange(len(batch), dtype=np.int64), np.diff(sent.offsets))
        columns = (events, sent.subject, sent.property, sent.object, sent.origin)
        self._facts: Numbers = np.stack([column.astype(np.int64) for column in columns], axis=1)
        self._results: dict[tuple[int, ...], Made | str] = {}
        self._calls: dict[int, Numbers] = {}
        self._failed: dict[int, set[Unknown]] = defaultdict(set)
        self._rejected: dict[int, str] = {}
        self._above: dict[int, frozenset[Term]] = {}
        self._last: dict[int, list[str]] = {}  # the functions that made something new, by event
        self._asked = [
            [knowledge.attribute_roots(attribute) for _, attribute in function.inputs]
            for function in knowledge.mappings
        ]

    def run(self) -> None:
        """Call the functions until nothing is new."""
        for number in count(1):
            made = [self._made_by(number) for number in range(len(self._asked))]
            self._reject_many_calls()
            growing = self._add(np.concatenate(made))
            if not len(growing):
                return
            for event in growing.tolist() if number > MOST_ROUNDS else ():
                self._reject(event, self._last[event])

    def result(self) -> Batch:
        """The batch as it is now; events that passed the bounds keep what was sent."""
        facts = self._facts
        gone = np.isin(facts[:, EVENT], list(self._rejected)) & (facts[:, ORIGIN] != RAW)
        facts = facts[~gone]
        facts = facts[np.argsort(facts[:, EVENT], kind="stable")]
        counts = np.bincount(facts[:, EVENT], minlength=len(self._batch))
        columns = facts.astype(np.int32)
        grown = FactColumns(
            terms=tuple(self._terms),
            subject=columns[:, SUBJECT],
            property=columns[:, PROPERTY],
            object=columns[:, OBJECT],
            origin=columns[:, ORIGIN],
            offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        )
        return Batch(self._batch.events, grown, dict(self._unknown(facts)), dict(self._rejected))

    def _serving(self, asked: frozenset[Term], properties: Numbers) -> npt.NDArray[np.bool_]:
        """Which properties serve an input."""
        distinct, places = np.unique(properties, return_inverse=True)
        serving = [not asked.isdisjoint(self._attributes_above(code)) for code in distinct.tolist()]
        return np.array(serving, dtype=np.bool_)[places.reshape(-1)]

    def _attributes_above(self, code: int) -> frozenset[Term]:
        if code not in self._above:
            self._above[code] = self._knowledge.attributes_above(self._terms[code])
        return self._above[code]

    def _made_by(self, number: int) -> Numbers:
        """The facts that a function makes of what is known, as rows."""
        function = self._knowledge.mappings[number]
        inputs = self._combinations(number)
        if not len(inputs):
            return np.empty((0, 5), dtype=np.int64)
        of = self._facts[inputs[:, 0]]
        asker = of[:, EVENT] if function.uses_event else np.full(len(of), -1, dtype=np.int64)
        called = np.column_stack((asker, self._facts[inputs, OBJECT]))
        distinct, places = np.unique(called, axis=0, return_inverse=True)
        places = places.reshape(-1)
        results = [self._result(number, row) for row in distinct.tolist()]
        self._note_failures(function, results, places, of)
        made = [() if isinstance(result, str) else result for result in results]
        counts = np.array([len(each) for each in made], dtype=np.int64)
        starts = np.cumsum(counts) - counts
        flat = np.array([pair for each in made for pair in each], dtype=np.int64).reshape(-1, 2)
        rows, inside = _spread(counts[places])
        pairs = flat[starts[places[rows]] + inside]
        origin = np.full(len(rows), number, dtype=np.int64)
        return np.column_stack((of[rows, EVENT], of[rows, SUBJECT], pairs, origin))

    def _combinations(self, number: int) -> Numbers:
        """Every way to serve a function's inputs by facts of one subject: one row number a fact."""
        facts = self._facts
        keys = facts[:, EVENT] * len(self._terms) + facts[:, SUBJECT]
        serving = self._served_subjects(number, keys)
        found = serving[0].reshape(-1, 1)
        for rows_of_input in serving[1:]:
            ordered = rows_of_input[np.argsort(keys[rows_of_input], kind="stable")]
            wanted = keys[found[:, 0]]
            left = np.searchsorted(keys[ordered], wanted, side="left")
            counts = np.searchsorted(keys[ordered], wanted, side="right") - left
            rows, inside = _spread(counts)
            found = np.column_stack((found[rows], ordered[left[rows] + inside]))
        self._calls[number] = np.bincount(facts[found[:, 0], EVENT], minlength=len(self._batch))
        return found

    def _served_subjects(self, number: int, keys: Numbers) -> list[Numbers]:
        """The rows that serve each input, of subjects that have all of them, and not too many."""
        facts = self._facts
        rejected = np.isin(facts[:, EVENT], list(self._rejected))
        serving = [
            np.flatnonzero(self._serving(asked, facts[:, PROPERTY]) & ~rejected)
            for asked in self._asked[number]
        ]
        subjects = np.unique(keys)
        combinations = np.ones(len(subjects))
        for rows in serving:
            at = np.searchsorted(subjects, keys[rows])
            combinations *= np.bincount(at, minlength=len(subjects))
        for key in subjects[combinations > MOST_CALLS].tolist():
            self._reject(key // len(self._terms), [self._knowledge.mappings[number].name])
        kept = subjects[(combinations > 0) & (combinations <= MOST_CALLS)]
        return [rows[np.isin(keys[rows], kept)] for rows in serving]

    def _result(self, number: int, call: Sequence[int]) -> Made | str:
        """What a function makes of one combination of values, or why it failed."""
        key = (number, *call)
        if key not in self._results:
            event = self._batch.events[call[0]]  # any, where the function does not ask for it
            values = [self._terms[code] for code in call[1:]]
            try:
                made = self._knowledge.mappings[number].apply(values, event.time, event.id)
                self._results[key] = tuple((self._code(a), self._code(v)) for a, v in made)
            except MappingError as error:
                self._results[key] = str(error)
        return self._results[key]

    def _code(self, term: Term) -> int:
        code = self._codes.setdefault(term, len(self._terms))
        if code == len(self._terms):
            self._terms.append(term)
        return code

    def _note_failures(
        self,
        function: MappingFunction,
        results: Sequence[Made | str],
        places: Numbers,
        of: Numbers,
    ) -> None:
        failed = np.array([isinstance(result, str) for result in results], dtype=np.bool_)
        if not failed.any():
            return
        for row in np.flatnonzero(failed[places]).tolist():
            reason = results[places[row]]
            assert isinstance(reason, str)
            subject = self._terms[of[row, SUBJECT]]
            self._failed[int(of[row, EVENT])].update(
                Unknown(subject, attribute, reason) for attribute, _ in function.outputs
            )

    def _add(self, made: Numbers) -> Numbers:
        """Take the facts that are new; the events that they are of."""
        together = np.concatenate((self._facts, made))
        _, first = np.unique(together[:, :ORIGIN], axis=0, return_index=True)
        new = np.sort(first[first >= len(self._facts)])
        self._facts = np.concatenate((self._facts, together[new]))
        many = np.bincount(self._facts[self._facts[:, ORIGIN] != RAW, EVENT]) > MOST_FACTS
        self._last = defaultdict(list)
        for event, origin in np.unique(together[new][:, [EVENT, ORIGIN]], axis=0).tolist():
            self._last[event].append(self._knowledge.mappings[origin].name)
        for event in np.flatnonzero(many).tolist():
            self._reject(event, self._last[event])
        return np.unique(together[new, EVENT])

    def _reject_many_calls(self) -> None:
        total = sum(self._calls.values(), np.zeros(len(self._batch), dtype=np.int64))
        for event in np.flatnonzero(total > MOST_CALLS).tolist():
            called = [number for number, counts in self._calls.items() if counts[event]]
            self._reject(event, [self._knowledge.mappings[number].name for number in called])

    def _reject(self, event: int, names: Sequence[str]) -> None:
        error = endless(self._batch.events[event].id, names)
        self._rejected.setdefault(event, str(error))

    def _unknown(self, facts: Numbers) -> Iterator[tuple[int, tuple[Unknown, ...]]]:
        """What is unknown of each event: what failed, and what others would have made of it."""
        for event, failed in self._failed.items():
            if event in self._rejected:
                continue
            of = facts[facts[:, EVENT] == event]
            known = {(self._terms[s], p) for s, p in of[:, [SUBJECT, PROPERTY]].tolist()}
            unknown = set(failed)
            before = 0
            while before != len(unknown):
                before = len(unknown)
                for number, function in enumerate(self._knowledge.mappings):
                    unknown |= set(self._spread_to(number, function, known, unknown))
            yield event, tuple(sorted(unknown, key=str))

    def _spread_to(
        self,
        number: int,
        function: MappingFunction,
        known: set[tuple[Term, int]],
        unknown: set[Unknown],
    ) -> Iterator[Unknown]:
        for subject in {each.subject for each in unknown}:
            reasons: set[str] = set()
            for asked in self._asked[number]:
                missing = {
                    each.reason
                    for each in unknown
                    if each.subject == subject
                    and not asked.isdisjoint(self._knowledge.attributes_above(each.property))
                }
                served = any(
                    one == subject and not asked.isdisjoint(self._attributes_above(property))
                    for one, property in known
                )
                if not missing and not served:
                    break
                reasons |= missing
            else:
                for reason in reasons:
                    for attribute, _ in function.outputs:
                        yield Unknown(subject, attribute, reason)


def _spread(counts: Numbers) -> tuple[Numbers, Numbers]:
    """For each row as often as its count: its number, and the number of the repetition.

    >>> [part.tolist() for part in _spread(np.array([2, 0, 1]))]
    [[0, 0, 2], [0, 1, 0]]
    """
    rows = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    starts = np.cumsum(counts) - counts
    return rows, np.arange(len(rows), dtype=np.int64) - starts[rows]
