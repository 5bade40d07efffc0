"""Generated conjunctions and events, with all oddities that the interface allows; the oracle."""

from dataclasses import dataclass

import numpy as np

from sensewire.match.compiled.conjunctions import ANY, LOOSE, Conjunctions, Entries, Tests

Pairs = list[tuple[int, int]]
Intervals = list[tuple[int, int]]


@dataclass(frozen=True)
class Shape:
    """What a generated case looks like."""

    slots: int = 6
    ranks: int = 12  # the highest rank that any slot may have
    conjunctions: int = 40
    tests: int = 40  # distinct ones
    size: int = 5  # tests of a conjunction, at most
    events: int = 12
    entries: int = 6  # of an event, at most
    negated: float = 0.25
    single: float = 0.5  # share of tests of one rank
    sets: float = 0.2  # share, of the others, of a few scattered ranks
    intervals: int = 3
    empty: float = 0.03  # share of tests without intervals
    several: float = 0.0  # chance that an entry's slot is the one before
    uncertain: float = 0.0  # chance that a rank is loose, or any


def conjunctions_of(
    ranks: list[int], tests: list[tuple[int, bool, Intervals]], lists: list[list[int]]
) -> Conjunctions:
    """Conjunctions from plain Python values."""
    intervals = [interval for _, _, some in tests for interval in some]
    return Conjunctions(
        np.array(ranks, np.int32),
        Tests(
            np.array([slot for slot, _, _ in tests], np.int32),
            np.array([negated for _, negated, _ in tests], np.bool_),
            np.cumsum([0] + [len(some) for _, _, some in tests]).astype(np.int64),
            np.array([low for low, _ in intervals], np.int32),
            np.array([high for _, high in intervals], np.int32),
        ),
        np.cumsum([0] + [len(some) for some in lists]).astype(np.int64),
        np.array([test for some in lists for test in some], np.int32),
    )


def entries_of(events: list[list[tuple[int, int]]]) -> Entries:
    """Events from plain Python values: lists of slot and rank."""
    return Entries(
        np.cumsum([0] + [len(event) for event in events]).astype(np.int64),
        np.array([slot for event in events for slot, _ in event], np.int32),
        np.array([rank for event in events for _, rank in event], np.int32),
    )


def random_intervals(rng: np.random.Generator, ranks: int, shape: Shape) -> Intervals:
    """Disjoint, ascending, not adjacent intervals of 1 … ranks."""
    if ranks == 0 or rng.random() < shape.empty:
        return []
    if rng.random() < shape.single:
        rank = int(rng.integers(1, ranks + 1))
        return [(rank, rank)]
    if rng.random() < shape.sets:
        ends = np.repeat(rng.integers(1, ranks + 1, int(rng.integers(2, 9))), 2)
    else:
        ends = rng.integers(1, ranks + 1, 2 * int(rng.integers(1, shape.intervals + 1)))
    intervals: Intervals = []
    for low, high in sorted((min(pair), max(pair)) for pair in ends.reshape(-1, 2).tolist()):
        if intervals and low <= intervals[-1][1] + 1:
            intervals[-1] = (intervals[-1][0], max(high, intervals[-1][1]))
        else:
            intervals.append((low, high))
    return intervals


def random_case(seed: int, shape: Shape) -> tuple[Conjunctions, Entries]:
    """A case of this shape."""
    rng = np.random.default_rng(seed)
    ranks = [int(rng.integers(0, shape.ranks + 1)) for _ in range(shape.slots)]
    tests = []
    for _ in range(shape.tests):
        slot = int(rng.integers(shape.slots))
        negated = bool(rng.random() < shape.negated)
        tests.append((slot, negated, random_intervals(rng, ranks[slot], shape)))
    lists = [
        rng.permutation(shape.tests)[: rng.integers(0, min(shape.size, shape.tests) + 1)].tolist()
        for _ in range(shape.conjunctions)
    ]
    return conjunctions_of(ranks, tests, lists), random_events(rng, ranks, shape)


def random_events(rng: np.random.Generator, ranks: list[int], shape: Shape) -> Entries:
    """Events over slots with so many ranks."""
    events = []
    for _ in range(shape.events):
        number = int(rng.integers(0, shape.entries + 1))
        order = np.resize(rng.permutation(len(ranks)), number).tolist()  # again from the start
        event: list[tuple[int, int]] = []
        for slot in order:
            if event and rng.random() < shape.several:
                slot = event[-1][0]
            if ranks[slot]:
                rank = int(rng.integers(1, ranks[slot] + 1))
                if rng.random() < shape.uncertain:
                    rank = ANY if rng.random() < 0.3 else rank | LOOSE
                event.append((slot, rank))
        events.append(event)
    return entries_of(events)


def oracle(conjunctions: Conjunctions, entries: Entries) -> Pairs:
    """The definition: every event with every test, every conjunction with its tests."""
    tests = conjunctions.tests
    pairs = []
    for event in range(len(entries)):
        has: dict[int, list[int]] = {}
        for i in range(entries.offsets[event], entries.offsets[event + 1]):
            has.setdefault(int(entries.slot[i]), []).append(int(entries.rank[i]))
        holds = []
        for test in range(len(tests.slot)):
            found = has.get(int(tests.slot[test]), [])
            begin, end = tests.offsets[test], tests.offsets[test + 1]
            low, high = tests.low[begin:end], tests.high[begin:end]
            firm = np.array([rank & ~LOOSE for rank in found if rank != ANY])
            met = bool(((low[:, None] <= firm) & (firm <= high[:, None])).any())
            if ANY in found:
                holds.append(True)
            elif tests.negated[test]:
                holds.append(not met or any(rank & LOOSE for rank in found))
            else:
                holds.append(met)
        unmet = np.flatnonzero(~np.array(holds, np.bool_)[conjunctions.test])
        refused = np.searchsorted(conjunctions.offsets, unmet, side="right") - 1
        for conjunction in np.setdiff1d(np.arange(len(conjunctions)), refused).tolist():
            pairs.append((event, conjunction))
    return pairs
