"""The compiled index equals the definition, whatever the interface allows."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.match.compiled.conjunctions import ANY, LOOSE, Conjunctions, Entries
from sensewire.match.compiled.index import KERNELS, Index, build
from tests.match.compiled.index_cases import (
    Pairs,
    Shape,
    conjunctions_of,
    entries_of,
    oracle,
    random_case,
    random_events,
)

# One process compiles what only these tests use.
pytestmark = pytest.mark.xdist_group("index")

NO_EVENTS = entries_of([])


def matched(index: Index, entries: Entries, kernel: str = "auto") -> Pairs:
    event, conjunction = index.match(entries, kernel)
    assert event.dtype == conjunction.dtype == np.int32
    return sorted(zip(event.tolist(), conjunction.tolist(), strict=True))


def agree(conjunctions: Conjunctions, entries: Entries, sample: Entries = NO_EVENTS) -> Pairs:
    index = build(conjunctions, sample)
    expected = sorted(oracle(conjunctions, entries))
    for kernel in (*KERNELS, "auto"):
        assert matched(index, entries, kernel) == expected, kernel
    return expected


SHAPES = {
    "few ranks": Shape(),
    "many values": Shape(several=0.5, entries=12),
    "uncertain": Shape(several=0.3, uncertain=0.3),
    "wide": Shape(ranks=3_000, single=0.2, intervals=2, conjunctions=150, tests=200),
    "ranges": Shape(
        slots=4, ranks=500, single=0.0, sets=0.0, intervals=1, negated=0.0, empty=0.0,
        tests=150, conjunctions=400, size=4, events=20, several=0.1, uncertain=0.05,
    ),
    "beyond 16 bits": Shape(ranks=300_000, single=0.4, several=0.1, uncertain=0.05),
    "cold slots": Shape(slots=300, tests=500, conjunctions=150, entries=200, events=20, size=6),
    "many tests": Shape(size=30, tests=60, negated=0.6, ranks=40, entries=6),
    "scattered": Shape(ranks=400, intervals=60, single=0.0, negated=0.1, several=0.2),
    "tags": Shape(
        slots=1, ranks=60, single=1.0, tests=100, conjunctions=200, entries=40, events=30,
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@given(seed=st.integers(0, 2**32))
def test_index_equals_the_definition(shape: Shape, seed: int) -> None:
    conjunctions, entries = random_case(seed, shape)
    agree(conjunctions, entries, entries if seed % 2 else NO_EVENTS)


LARGE = {
    # Enough for every way of posting: two-slot grids, fine and coarse, classes, dyadic cells.
    "ranges": Shape(
        slots=5, ranks=400, single=0.05, sets=0.05, intervals=1, negated=0.02, empty=0.001,
        tests=2_000, conjunctions=20_000, size=4, events=60, entries=5, several=0.03,
        uncertain=0.02,
    ),
    "mixed": Shape(
        slots=70, ranks=300, single=0.4, intervals=4, negated=0.1, tests=2_000,
        conjunctions=20_000, size=6, events=60, entries=60, several=0.03, uncertain=0.02,
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", LARGE.values(), ids=LARGE.keys())
def test_large_index_equals_the_definition(shape: Shape) -> None:
    conjunctions, entries = random_case(7, shape)
    sample = random_events(
        np.random.default_rng(8), conjunctions.ranks.tolist(), Shape(events=500, entries=5)
    )
    assert agree(conjunctions, entries, sample)


def test_grids_and_classes_are_used_where_they_pay() -> None:
    conjunctions, _ = random_case(7, LARGE["ranges"])
    sample = random_events(
        np.random.default_rng(8), conjunctions.ranks.tolist(), Shape(events=500, entries=5)
    )
    index = build(conjunctions, sample).arrays()
    assert len(index["pairs"]) > 0
    assert (index["pairs"][:, 2:] >= 0).any(axis=0).all()  # fine and coarse
    assert (index["units"][:, 5] > 0).any()  # dyadic
    conjunctions = conjunctions_of(
        [1_000], [(0, False, [(1 + 100 * i, 100 + 100 * i)]) for i in range(10)],
        [[i % 10] for i in range(2_000)],
    )  # fmt: skip
    assert len(build(conjunctions, NO_EVENTS).arrays()["class_lists"]) == 1_000


def test_nothing_at_all() -> None:
    nothing = conjunctions_of([], [], [])
    assert agree(nothing, NO_EVENTS) == []
    assert agree(nothing, entries_of([[], [(0, 1)]])) == []
    assert agree(conjunctions_of([0], [], [[], []]), entries_of([[]])) == [(0, 0), (0, 1)]
    assert len(build(nothing, NO_EVENTS)) == 0


def test_slots_and_ranks_that_the_index_does_not_know_are_absent() -> None:
    conjunctions = conjunctions_of(
        [3, 3], [(0, False, [(1, 3)]), (1, True, [(2, 3)]), (1, False, [(3, 3)])], [[0], [1], [2]]
    )
    index = build(conjunctions, NO_EVENTS)
    events = entries_of([[(0, 4)], [(5, 1), (1, 3)], [(0, 0), (1, 0)], [(-1, 1), (1, 1 << 29)]])
    for kernel in KERNELS:
        assert matched(index, events, kernel) == [(0, 1), (1, 2), (2, 1), (3, 1)], kernel


def test_everything_matches_everything_beyond_any_room() -> None:
    tests = [(slot, True, [(1, 3), (5, 9)]) for slot in range(100)]
    lists = [[i % 100, (i + 1) % 100, (i + 7) % 100] if i % 3 else [] for i in range(9_000)]
    index = build(conjunctions_of([9] * 100, tests, lists), NO_EVENTS)
    events = entries_of([[(i % 100, 4)] for i in range(300)])
    for kernel in KERNELS:
        event, conjunction = index.match(events, kernel)
        keys = event.astype(np.int64) * 9_000 + conjunction
        assert np.array_equal(np.sort(keys), np.arange(300 * 9_000)), kernel


@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("values", range(1, 9))
def test_sets_of_few_ranks_beside_a_pivot(values: int, negated: bool) -> None:
    some = (1, negated, [(10 * i, 10 * i) for i in range(1, values + 1)])
    ranges = (1, negated, [(10 * i, 10 * i + 3) for i in range(1, values + 1)])
    pivot = (0, False, [(5, 5)])
    others = [(slot, False, [(1, 6)]) for slot in range(2, 10)]
    conjunctions = conjunctions_of(
        [60] + [90] * 9,
        [pivot, some, ranges, *others],
        [[0, 1], [0, 2], [0, *range(3, 11), 1], [0, *range(3, 11), 2], [0, 1, 2, *range(3, 9)]],
    )
    present = [(slot, 3) for slot in range(2, 10)]
    events = [[(0, 5), (1, rank), *present] for rank in range(1, 91)] + [[(0, 5), *present]]
    # Where most events have the ranks of the set, another test is the pivot.
    sample = [[(0, 1 + i % 60), (1, 10 * (1 + i % 8)), *present] for i in range(600)]
    agree(conjunctions, entries_of(events), entries_of(sample))


def test_thousands_of_values_and_of_intervals() -> None:
    tests = [
        (0, False, [(i, i) for i in range(1, 3_000, 3)]),
        (0, False, [(30_000, 40_000)]),
        (0, True, [(i, i) for i in range(2, 3_000, 3)]),
        (1, False, [(i, i) for i in range(5, 90_000, 7)]),
    ]
    lists = [[0], [0, 1], [1, 2], [2], [3], [0, 3]]
    conjunctions = conjunctions_of([50_000, 100_000], tests, lists)
    events = entries_of(
        [
            [(0, i) for i in range(1, 10_001)],
            [(0, i) for i in range(3, 40_001, 3)],
            [(0, 35_000), (1, 5)],
            [(0, 1), (1, 6), (1, 7), (1, 12)],
            [(0, 2)],
        ]
    )
    pairs = agree(conjunctions, events)
    assert {(0, 0), (1, 2), (2, 4), (3, 5)} <= set(pairs)


def test_uncertain_values_meet_what_they_may_meet() -> None:
    tests = [
        (0, False, [(2, 2)]), (0, True, [(3, 3)]), (0, True, [(5, 6)]), (0, False, []),
        (1, False, [(1, 1)]),
    ]  # fmt: skip
    conjunctions = conjunctions_of([9, 9], tests, [[0], [1], [2], [3], [0, 4], [1, 4]])
    loose, unknown = [(0, 3 | LOOSE)], [(0, ANY)]
    pairs = agree(conjunctions, entries_of([loose, unknown, [(0, 3), (0, 2 | LOOSE)], [(0, 3)]]))
    assert pairs == [
        (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (1, 3), (2, 0), (2, 1), (2, 2), (3, 2),
    ]  # fmt: skip


def test_batches_beyond_the_kernels_own() -> None:
    conjunctions, _ = random_case(3, Shape(conjunctions=80))
    entries = random_events(
        np.random.default_rng(4), conjunctions.ranks.tolist(), Shape(events=5_000, several=0.1)
    )
    agree(conjunctions, entries)


def test_few_postings_on_many_ranks_take_little_memory() -> None:
    tests = [(0, False, [(i * 1_000, i * 1_000)]) for i in range(1, 100)]
    conjunctions = conjunctions_of([1 << 29], tests, [[i] for i in range(99)])
    events = entries_of([[(0, 5_000)], [(0, 5_001)], [(0, 5_000), (0, 99_000)]])
    assert agree(conjunctions, events) == [(0, 4), (2, 4), (2, 98)]
    assert build(conjunctions, NO_EVENTS).nbytes < 100_000


def test_conjunctions_without_a_pivot_are_counted() -> None:
    tests = [(0, True, [(1, 1)]), (0, False, [(1, 90)]), (0, False, [(7, 7)])]
    conjunctions = conjunctions_of([100], tests, [[0], [1], [2], [], [0, 2]])
    assert build(conjunctions, entries_of([[(0, i)] for i in range(1, 101)])).without_pivot == 3


def test_an_index_mapped_from_disk_is_the_same_index(tmp_path: Path) -> None:
    conjunctions, entries = random_case(11, Shape(several=0.2, uncertain=0.1))
    index = build(conjunctions, entries)
    for name, array in index.arrays().items():
        np.save(tmp_path / f"{name}.npy", array)
    mapped = Index.from_arrays(
        {path.stem: np.load(path, mmap_mode="r") for path in tmp_path.glob("*.npy")}
    )
    assert matched(mapped, entries) == matched(index, entries) != []
    assert (len(mapped), mapped.nbytes) == (len(index), index.nbytes)
    with pytest.raises(ValueError, match="read-only"):
        index.arrays()["first"][0] = 0


def test_threads_share_an_index() -> None:
    conjunctions, _ = random_case(5, LARGE["mixed"])
    index = build(conjunctions, NO_EVENTS)
    shape = Shape(events=80, entries=60, several=0.05)
    calls = [
        random_events(np.random.default_rng(seed), conjunctions.ranks.tolist(), shape)
        for seed in range(12)
    ]
    alone = [matched(index, call) for call in calls]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda call: matched(index, call), calls)) == alone
