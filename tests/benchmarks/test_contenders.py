"""Every contender gives the right answers, and who does not is found out.

Proved by breaking: in the dictionary negated tests left out, and an upper end taken as outside; in
both joins blocked conjunctions let through, a test counted for every rank that meets it, and those
that need no test mistaken; in the truth, negation left out: each was caught.
"""

import numpy as np
import pytest

from contenders.contender import Contender, many_valued
from frame import WrongAnswerError
from records import CONTENDERS
from sensewire.match.compiled.conjunctions import Entries
from tests.benchmarks.test_workloads import NAMES, small
from workloads.truth import Truth
from workloads.workload import Workload, conjoined, offsets_of


def odd() -> Workload:
    """By hand: slot 0 has many ranks; tests of gaps, none needed, nothing asked.

    conjunctions: 0: slot 0 in 2…3 or 5     1: 0 and slot 1 in 1…2    2: not slot 0 in 2…3 or 5
                  3: nothing                4: 1 and not slot 1 = 2
    """
    low = np.array([[2, 5], [1, 0], [2, 5], [2, 0]], np.int32)
    high = np.array([[3, 5], [2, 0], [3, 5], [2, 0]], np.int32)
    negated = np.array([False, False, True, True])
    asked = [[0], [0, 1], [2], [], [0, 1, 3]]
    conjunctions = conjoined(
        np.array([6, 4], np.int32),
        offsets_of([*map(len, asked)]),
        np.array([test for each in asked for test in each], np.int64),
        [0, 1, 0, 1],
        negated,
        low,
        high,
    )
    events = [[(0, 2), (0, 3), (0, 5)], [(0, 4), (1, 1)], [(0, 3), (0, 3), (1, 1)]]
    events += [[(1, 2), (0, 5), (0, 1)], [], [(0, 6), (0, 4)], [(0, 1), (1, 1)]]
    flat = [entry for event in events for entry in event]
    entries = Entries(
        offsets_of([*map(len, events)]),
        np.array([slot for slot, _ in flat], np.int32),
        np.array([rank for _, rank in flat], np.int32),
    )
    return Workload("odd", conjunctions, entries, entries)


ODD_ANSWERS = [[0, 3], [2, 3], [0, 1, 3, 4], [0, 1, 3], [2, 3], [2, 3], [2, 3]]


def test_the_truth_is_what_a_reader_finds() -> None:
    known = Truth(odd())
    assert [known.of(event).tolist() for event in range(7)] == ODD_ANSWERS


@pytest.mark.parametrize("contender", CONTENDERS, ids=lambda each: each.name)
def test_odd_conjunctions(contender: Contender) -> None:
    workload = odd()
    events, conjunctions = contender.build(workload).match(workload.events)
    given = [sorted(conjunctions[events == event].tolist()) for event in range(7)]
    assert given == ODD_ANSWERS


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("contender", CONTENDERS, ids=lambda each: each.name)
def test_every_workload(contender: Contender, name: str) -> None:
    workload = small(name, size=500)
    index = contender.build(workload)
    assert index.nbytes > 500
    Truth(workload).check(contender.name, index.match(workload.events), 60, 60)


@pytest.mark.parametrize("contender", CONTENDERS, ids=lambda each: each.name)
def test_no_events(contender: Contender) -> None:
    none = Entries(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))
    found = contender.build(odd()).match(none)
    assert [len(column) for column in found] == [0, 0]


def test_what_is_wrong_is_said() -> None:
    workload = odd()
    known = Truth(workload)
    right = [
        np.array(column, np.int32)
        for column in zip(
            *((row, each) for row, due in enumerate(ODD_ANSWERS) for each in due), strict=True
        )
    ]
    known.check("x", (right[0], right[1]), 7, 7)
    with pytest.raises(WrongAnswerError, match=r"x answers event 6 .* missing: \[3\]"):
        known.check("x", (right[0][:-1], right[1][:-1]), 7, 7)
    twice = [np.append(column, column[:1]) for column in right]
    with pytest.raises(WrongAnswerError, match=r"x answers event 0 with 3 where 2 match"):
        known.check("x", (twice[0], twice[1]), 7, 7)
    with pytest.raises(WrongAnswerError, match="events that it was not asked about"):
        known.check("x", (right[0] + 1, right[1]), 7, 7)


def test_many_values_are_seen() -> None:
    assert many_valued(odd().events)
    assert not many_valued(small("equality Zipf", size=2).events)
