"""How the values of an attribute are distributed, estimated from a uniform sample of events.

The numbers are those that PostgreSQL's ANALYZE keeps of a column: the share of events that have
the attribute, its commonest values, the number of distinct ones, and bounds between which equally
many values lie. Distinct values are estimated by Haas and Stokes' Duj1 (1998): of n values out of
N, of which d are distinct and f1 occur once,

    n d / (n - f1 + f1 n / N)

is d where everything was seen, and grows with what was seen only once. Cost: linear in the facts of
the sample, plus sorting the numbers.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sensewire.model import comparison
from sensewire.model.terms import Term

MOST_COMMON = 100
"""Values of an attribute that are kept with their frequencies."""
BOUNDS = 101
"""Bounds of a histogram: between two of them lies one hundredth of the values."""

Pair = tuple[Term, Term]
_Ordered = TypeVar("_Ordered", float, tuple[float, str])


@dataclass(frozen=True, slots=True)
class Distribution:
    """What is known of one attribute; shares are of all events of the sample, but for `kinds`."""

    attribute: Term
    share: float  # of events that have it
    values: float  # how many an event has that has any, on average
    kinds: tuple[tuple[str, float], ...]  # the kind of a value, and its share of the values
    distinct: int  # values in the whole history, estimated
    common: tuple[tuple[str, float], ...]  # a value as N-Triples; the share of events that have it
    numbers: tuple[float, ...]  # bounds of equally many values, the least and the greatest included
    dates: tuple[str, ...]  # the same of dates, as they were written


def distributions(events: Sequence[Iterable[Pair]], of: int) -> tuple[Distribution, ...]:
    """The distributions of all attributes, the most frequent first.

    `events` are the attributes and values of each event of the sample; `of` is the number of all
    events that the sample was drawn from.

    >>> from sensewire.model.terms import string, term_of
    >>> price, brand = string("price"), string("brand")
    >>> sample = [[(price, term_of(5)), (brand, string("IBM"))], [(price, term_of(7))]]
    >>> [(each.attribute.text, each.share, each.numbers) for each in distributions(sample, 2)]
    [('price', 1.0, (5.0, 7.0)), ('brand', 0.5, ())]
    """
    counts: dict[Term, Counter[Term]] = defaultdict(Counter)
    having: Counter[Term] = Counter()
    for event in events:
        pairs = set(event)
        having.update({attribute for attribute, _ in pairs})
        for attribute, value in pairs:
            counts[attribute][value] += 1
    found = [
        _distribution(attribute, counts[attribute], having[attribute], len(events), of)
        for attribute in having
    ]
    return tuple(sorted(found, key=lambda each: (-each.share, each.attribute.text, each.kinds)))


def distinct_values(sampled: int, of: int, distinct: int, once: int) -> int:
    """How many distinct values there are, estimated by Duj1.

    >>> distinct_values(100, 100, 40, 20), distinct_values(100, 10_000, 100, 100)
    (40, 10000)
    """
    estimate = sampled * distinct / (sampled - once + once * sampled / of)
    return min(max(round(estimate), distinct), of)


def _distribution(
    attribute: Term, counts: Counter[Term], having: int, sampled: int, of: int
) -> Distribution:
    total = counts.total()
    kinds: Counter[str] = Counter()
    for value, count in counts.items():
        kinds[value.kind.value] += count
    once = sum(count == 1 for count in counts.values())
    return Distribution(
        attribute,
        having / sampled,
        total / having,
        tuple((kind, count / total) for kind, count in _in_order(kinds)),
        distinct_values(total, max(total, round(total * of / sampled)), len(counts), once),
        _common(counts, sampled, everything_was_seen=sampled >= of),
        _bounds(_numbers(counts)),
        tuple(text for _, text in _bounds(_dates(counts))),
    )


def _common(
    counts: Counter[Term], sampled: int, *, everything_was_seen: bool
) -> tuple[tuple[str, float], ...]:
    """The commonest values; one that a sample has once only may be any of very many."""
    least = 1 if everything_was_seen else 2
    texts: Counter[str] = Counter()
    for value, count in counts.items():
        if count >= least:
            texts[str(value)] += count
    return tuple((text, count / sampled) for text, count in _in_order(texts)[:MOST_COMMON])


def _in_order(counts: Counter[str]) -> list[tuple[str, int]]:
    """The most frequent first, and those that are equally frequent by their texts."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _numbers(counts: Counter[Term]) -> list[tuple[float, int]]:
    found = []
    for value, count in counts.items():
        number = comparison.numeric(value)
        if number is not None and math.isfinite(double := comparison.as_double(number)):
            found.append((double, count))
    return found


def _dates(counts: Counter[Term]) -> list[tuple[tuple[float, str], int]]:
    found = []
    for value, count in counts.items():
        instant = comparison.date_of(value)
        if instant is not None:
            found.append(((float(instant), value.text), count))
    return found


def _bounds(values: list[tuple[_Ordered, int]]) -> tuple[_Ordered, ...]:
    """Values that cut all of them into equal parts; fewer bounds where there are fewer values."""
    spread = [value for value, count in sorted(values) for _ in range(count)]
    last = len(spread) - 1
    bounds = min(BOUNDS, len(spread))
    if bounds < 2:
        return tuple(spread)
    return tuple(spread[round(place * last / (bounds - 1))] for place in range(bounds))
