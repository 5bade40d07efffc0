"""Subscriptions on attributes and records with values for them, drawn at random from a seed.

A record has 10 to 20 of 40 attributes (of 20, where all are ranges), a subscription 2 to 8
predicates. Of the attributes, three in five hold one of 5 to 5,000 words, the others one of 10,000
numbers. In the workloads called Zipf some attributes are in more records and more subscriptions
than others, few words make up most of the values, and numbers lie closer together at the low end.

Words and numbers are codes here: `ranked.py` makes conjunctions of tests of them, and `texts.py`
the same subscriptions and records as people would write them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from sensewire.match.compiled.conjunctions import Int32, Int64, Truths
from workloads.workload import offsets_of

Floats = npt.NDArray[np.float64]
NUMBERS = 10_000  # different values of an attribute of numbers
CHOICES = 4  # most values of an `in`
_CHUNK = 100_000


class Operator(IntEnum):
    """What a predicate asks of a value."""

    EQUAL = 0
    UNEQUAL = 1
    BELOW = 2
    AT_MOST = 3
    ABOVE = 4
    AT_LEAST = 5
    BETWEEN = 6
    IN = 7
    PREFIX = 8
    EXISTS = 9


Mix = Mapping[Operator, float]


@dataclass(frozen=True, slots=True)
class Kind:
    """What makes one workload differ from another."""

    name: str
    of_words: Mix
    of_numbers: Mix
    sizes: tuple[float, ...]  # how often a subscription has 2, 3, 4 … predicates
    attributes: int = 40
    words: float = 0.6  # the share of attributes that hold words
    zipf: float = 0.0  # the exponent for words; attributes then have 0.7
    negated: float = 0.0  # the share of predicates, the first of a subscription apart


_O = Operator
_MOSTLY_EQUAL: Mix = {_O.EQUAL: 85, _O.IN: 7, _O.UNEQUAL: 3, _O.PREFIX: 3, _O.EXISTS: 2}
_MOSTLY_EQUAL_NUMBERS: Mix = {
    _O.EQUAL: 70,
    _O.BETWEEN: 15,
    _O.BELOW: 4,
    _O.AT_MOST: 3,
    _O.ABOVE: 4,
    _O.AT_LEAST: 4,
}
_MIXED: Mix = {_O.EQUAL: 50, _O.IN: 20, _O.UNEQUAL: 9, _O.PREFIX: 17, _O.EXISTS: 4}
_MIXED_NUMBERS: Mix = {
    _O.EQUAL: 15,
    _O.BETWEEN: 50,
    _O.BELOW: 8,
    _O.AT_MOST: 8,
    _O.ABOVE: 8,
    _O.AT_LEAST: 8,
    _O.EXISTS: 3,
}
_SIZES = (12.0, 20.0, 22.0, 18.0, 13.0, 9.0, 6.0)
EQUALITY_UNIFORM = Kind("equality uniform", _MOSTLY_EQUAL, _MOSTLY_EQUAL_NUMBERS, _SIZES)
EQUALITY_ZIPF = Kind("equality Zipf", _MOSTLY_EQUAL, _MOSTLY_EQUAL_NUMBERS, _SIZES, zipf=1.0)
MIXED_ZIPF = Kind(
    "mixed operators Zipf",
    *(_MIXED, _MIXED_NUMBERS, (3.0, 15.0, 24.0, 22.0, 17.0, 11.0, 8.0)),
    zipf=1.0,
    negated=0.03,
)
RANGES = Kind("ranges only", {}, {_O.BETWEEN: 100}, (20.0, 40.0, 40.0), attributes=20, words=0.0)
KINDS = (EQUALITY_UNIFORM, EQUALITY_ZIPF, MIXED_ZIPF, RANGES)


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Subscriptions: the predicates of subscription i are rows offsets[i] … offsets[i + 1] − 1."""

    offsets: Int64
    attribute: Int32
    operator: npt.NDArray[np.uint8]
    negated: Truths
    value: Int32  # a code; of BETWEEN and PREFIX the lower end
    upper: Int32  # of BETWEEN and PREFIX the upper end, itself inside
    choices: Int32  # of IN: rows of distinct codes, ascending, −1 for none


@dataclass(frozen=True, slots=True, eq=False)
class Happened:
    """Records: the values of record i are rows offsets[i] … offsets[i + 1] − 1."""

    offsets: Int64
    attribute: Int32
    value: Int32

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """A workload in codes."""

    kind: Kind
    values: Int32  # attribute → how many different values it has
    numeric: Truths  # attribute → whether they are numbers
    asked: Asked
    events: Happened
    sample: Happened


def drawn(kind: Kind, subscriptions: int, events: int, sample: int, seed: int) -> Records:
    """Draw a workload; one seed gives one, whatever else is drawn."""
    draw = _Draw(kind, seed)
    return Records(
        kind,
        draw.values,
        draw.numeric,
        draw.asked(subscriptions, np.random.default_rng((seed, 1))),
        draw.happened(events, np.random.default_rng((seed, 2))),
        draw.happened(sample, np.random.default_rng((seed, 3))),
    )


def shares(count: int, exponent: float) -> Floats:
    """Zipf's law: how often each of many is drawn.

    >>> shares(3, 1.0).round(3).tolist()
    [0.545, 0.273, 0.182]
    """
    weights: Floats = np.arange(1, count + 1, dtype=np.float64) ** -exponent
    weights /= weights.sum()
    return weights


def without_repeats(
    count: int, weights: Floats, most: int, random: np.random.Generator
) -> npt.NDArray[np.intp]:
    """For each of `count`, `most` different numbers in random order, heavier ones more often."""
    found = []
    for start in range(0, count, _CHUNK):
        # The k least of exponential times with these rates are a draw without replacement.
        shape = (min(_CHUNK, count - start), len(weights))
        times = random.standard_exponential(shape) / weights
        found.append(np.argsort(times, axis=1)[:, :most])
    return np.concatenate(found) if found else np.empty((0, most), np.intp)


class _Draw:
    """What subscriptions and records are drawn from."""

    def __init__(self, kind: Kind, seed: int) -> None:
        self._kind = kind
        random = np.random.default_rng((seed, 0))
        words = round(kind.attributes * kind.words)
        order = random.permutation(kind.attributes)  # few or many values, whatever the popularity
        self.numeric: Truths = (np.arange(kind.attributes) >= words)[order]
        values = np.full(kind.attributes, NUMBERS, np.int32)
        values[:words] = np.round(np.geomspace(5, 5_000, words))
        self.values: Int32 = values[order]
        self._popularity = shares(kind.attributes, 0.7 if kind.zipf else 0.0)
        self._names = [random.permutation(count) for count in self.values]

    def happened(self, count: int, random: np.random.Generator) -> Happened:
        most = min(20, self._kind.attributes - 1)
        sizes = random.integers(10, most + 1, count)
        attribute = self._attributes(count, sizes, most, random)
        return Happened(offsets_of(sizes), attribute, self._values_of(attribute, random))

    def asked(self, count: int, random: np.random.Generator) -> Asked:
        kind = self._kind
        weights = np.array(kind.sizes)
        sizes = random.choice(len(weights), count, p=weights / weights.sum()) + 2
        offsets = offsets_of(sizes)
        attribute = self._attributes(count, sizes, len(weights) + 1, random)
        operator = self._operators(attribute, random)
        value = self._values_of(attribute, random)
        low, high = value.copy(), value.copy()
        highest = self.values[attribute] - 1
        row = np.flatnonzero(operator == Operator.BETWEEN)
        width = (
            np.exp(random.uniform(np.log(0.005), np.log(0.2), len(row)))
            * self.values[attribute[row]]
        )
        low[row] = np.maximum(value[row] - width / 2, 0)
        high[row] = np.minimum(value[row] + width / 2, highest[row])
        row = np.flatnonzero(operator == Operator.PREFIX)
        width = np.where(random.random(len(row)) < 0.5, 10, 100)  # one digit left open, or two
        low[row] = value[row] // width * width
        high[row] = np.minimum(low[row] + width - 1, highest[row])
        negated = random.random(len(attribute)) < kind.negated
        negated[offsets[:-1]] = False  # a subscription asks for something that is there
        choices = self._choices(attribute, value, operator == Operator.IN, random)
        return Asked(offsets, attribute, operator, negated, low, high, choices)

    def _attributes(
        self, count: int, sizes: Int64, most: int, random: np.random.Generator
    ) -> Int32:
        found = without_repeats(count, self._popularity, most, random)
        return found[np.arange(most) < sizes[:, None]].astype(np.int32)

    def _values_of(self, attribute: Int32, random: np.random.Generator) -> Int32:
        found = np.empty(len(attribute), np.int32)
        for number, values in enumerate(self.values):
            row = np.flatnonzero(attribute == number)
            if not self._kind.zipf:
                found[row] = random.integers(0, values, len(row))
            elif self.numeric[number]:
                found[row] = random.beta(1.5, 4, len(row)) * values
            else:
                up_to = np.cumsum(shares(values, self._kind.zipf))
                place = np.searchsorted(up_to, random.random(len(row)))
                found[row] = self._names[number][np.minimum(place, values - 1)]
        return found

    def _operators(self, attribute: Int32, random: np.random.Generator) -> npt.NDArray[np.uint8]:
        found = np.empty(len(attribute), np.uint8)
        numeric = self.numeric[attribute]
        for mix, rows in ((self._kind.of_words, ~numeric), (self._kind.of_numbers, numeric)):
            if mix:
                weights = np.array([*mix.values()], np.float64)
                drawn = random.choice([*mix], int(rows.sum()), p=weights / weights.sum())
                found[rows] = drawn
        return found

    def _choices(
        self, attribute: Int32, value: Int32, chosen: Truths, random: np.random.Generator
    ) -> Int32:
        found = np.full((len(attribute), CHOICES), -1, np.int32)
        row = np.flatnonzero(chosen)
        found[row, 0] = value[row]
        count = random.integers(2, CHOICES + 1, len(row))
        for place in range(1, CHOICES):
            more = self._values_of(attribute[row], random)
            found[row, place] = np.where(place < count, more, -1)
        found[row] = np.sort(found[row], axis=1)
        repeated = found[row, 1:] == found[row, :-1]
        found[row, 1:] = np.where(repeated, -1, found[row, 1:])
        found[row] = np.sort(found[row], axis=1)
        return found
