"""A workload of records as tests on ranks: what compiling subscriptions would make of it.

A word's rank is its code + 1. The numbers that are asked for on an attribute cut its line into
points and the gaps between them; a number's rank tells which it is:

    asked for     3.5       8
    ranks      1   2    3   4   5        below 3.5, 3.5, between, 8, above 8
"""

import numpy as np

from sensewire.match.compiled.conjunctions import Conjunctions, Entries, Int32, Int64
from workloads.records import CHOICES, Asked, Happened, Operator, Records
from workloads.workload import Workload, conjoined

_INTERVAL, _OUTSIDE, _CHOICE = range(3)  # how a key is read: an interval, all but a rank, ranks
_SHIFT = 13  # bits of a code among choices: 8,191 words
_BITS = 24  # bits of a rank elsewhere
_MANY = 1 << _BITS


def workload(records: Records) -> Workload:
    """The same workload in conjunctions and entries."""
    thresholds = _thresholds(records)
    conjunctions = _conjunctions(records, thresholds)
    events, sample = (
        Entries(each.offsets, each.attribute, _ranks(records, thresholds, each))
        for each in (records.events, records.sample)
    )
    return Workload(records.kind.name, conjunctions, events, sample)


def _thresholds(records: Records) -> list[Int32 | None]:
    """Per attribute of numbers, those that are asked for, ascending; None where words are."""
    asked = records.asked
    constants = asked.operator != Operator.EXISTS
    found: list[Int32 | None] = []
    for attribute, numeric in enumerate(records.numeric):
        row = np.flatnonzero(constants & (asked.attribute == attribute)) if numeric else None
        if row is None:
            found.append(None)
        else:
            found.append(np.unique(np.concatenate((asked.value[row], asked.upper[row]))))
    return found


def _ranked(values: Int32, thresholds: Int32 | None) -> Int64:
    if thresholds is None:
        return values.astype(np.int64) + 1
    left = np.searchsorted(thresholds, values, side="left")
    right = np.searchsorted(thresholds, values, side="right")
    return left + right + 1


def _ranks(records: Records, thresholds: list[Int32 | None], happened: Happened) -> Int32:
    found = np.empty(len(happened.value), np.int32)
    for attribute, each in enumerate(thresholds):
        row = np.flatnonzero(happened.attribute == attribute)
        found[row] = _ranked(happened.value[row], each)
    return found


def _conjunctions(records: Records, thresholds: list[Int32 | None]) -> Conjunctions:
    asked = records.asked
    highest = np.array(
        [
            values if each is None else 2 * len(each) + 1
            for values, each in zip(records.values, thresholds, strict=True)
        ],
        np.int32,
    )
    low, high = np.empty(len(asked.value), np.int64), np.empty(len(asked.value), np.int64)
    for attribute, each in enumerate(thresholds):
        row = np.flatnonzero(asked.attribute == attribute)
        low[row] = _ranked(asked.value[row], each)
        high[row] = _ranked(asked.upper[row], each)
    end = highest[asked.attribute]
    point = low.copy()
    operator = asked.operator
    low[np.isin(operator, (Operator.BELOW, Operator.AT_MOST, Operator.EXISTS))] = 1
    above = np.isin(operator, (Operator.ABOVE, Operator.AT_LEAST, Operator.EXISTS))
    high[above] = end[above]
    strict = operator == Operator.BELOW
    high[strict] = point[strict] - 1
    strict = operator == Operator.ABOVE
    low[strict] = point[strict] + 1
    keys, test = np.unique(_keys(asked, low, high), return_inverse=True)
    keys, again = np.unique(_plainest(keys, highest), return_inverse=True)
    test = again[test]
    slot, negated, lows, highs = _decoded(keys, highest)
    return conjoined(highest, asked.offsets, test, slot, negated, lows, highs)


def _keys(asked: Asked, low: Int64, high: Int64) -> Int64:
    """One number for each test, equal for equal tests: how to read it, slot, negated, ranks."""
    form = np.full(len(low), _INTERVAL, np.int64)
    ranks = low << _BITS | high
    outside = asked.operator == Operator.UNEQUAL
    form[outside] = _OUTSIDE
    ranks[outside] = low[outside]
    row = np.flatnonzero(asked.operator == Operator.IN)
    form[row] = _CHOICE
    packed = np.zeros(len(row), np.int64)
    for place in range(CHOICES):
        packed = packed << _SHIFT | (asked.choices[row, place] + 1)
    ranks[row] = packed
    assert int(ranks.max(initial=0)) < 1 << 52
    return ((form << 1 | asked.negated) << 8 | asked.attribute) << 52 | ranks


def _plainest(keys: Int64, highest: Int32) -> Int64:
    """One key where several would be the same ranks: `in` of neighbours, `!=` of an end, …"""
    slot, _, low, high = _decoded(keys, highest)
    count = (low > 0).sum(axis=1)
    least, most = np.where(low > 0, low, _MANY).min(axis=1), high.max(axis=1)
    inside = np.where(low > 0, high - low + 1, 0).sum(axis=1)
    gap = np.where(high < most[:, None], high, 0).max(axis=1) + 1  # of two intervals
    whole = (least == 1) & (most == highest[slot]) & (inside == highest[slot] - 1)
    head = keys & ~((3 << 61) | ((1 << 52) - 1))  # slot and negated
    found = keys.copy()
    row = np.flatnonzero((count == 2) & whole)
    found[row] = head[row] | _OUTSIDE << 61 | gap[row]
    row = np.flatnonzero(count == 1)
    found[row] = head[row] | least[row].astype(np.int64) << _BITS | most[row]
    return found


def _decoded(keys: Int64, highest: Int32) -> tuple[Int64, np.ndarray, Int32, Int32]:
    """Slot, negated, and the intervals as rows, 0 for none."""
    ranks, slot = keys & ((1 << 52) - 1), keys >> 52 & 0xFF
    negated, form = (keys >> 60 & 1).astype(np.bool_), keys >> 61
    low = np.zeros((len(keys), CHOICES), np.int64)
    high = np.zeros((len(keys), CHOICES), np.int64)
    row = np.flatnonzero(form == _INTERVAL)
    low[row, 0], high[row, 0] = ranks[row] >> _BITS, ranks[row] & ((1 << _BITS) - 1)
    row = np.flatnonzero(form == _OUTSIDE)
    low[row, 0], high[row, 0] = 1, ranks[row] - 1
    low[row, 1], high[row, 1] = ranks[row] + 1, highest[slot[row]]
    row = np.flatnonzero(form == _CHOICE)
    for place in range(CHOICES):
        code = ranks[row] >> (_SHIFT * (CHOICES - 1 - place)) & ((1 << _SHIFT) - 1)
        low[row, place] = high[row, place] = code
    for place in range(1, CHOICES):  # neighbours become one interval
        joined = row[(low[row, place] > 0) & (low[row, place] == high[row, place - 1] + 1)]
        joined = joined[high[joined, place - 1] > 0]
        low[joined, place] = low[joined, place - 1]
        low[joined, place - 1] = high[joined, place - 1] = 0
    empty = low > high
    low[empty] = high[empty] = 0
    return slot, negated, low.astype(np.int32), high.astype(np.int32)
