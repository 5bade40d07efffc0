"""Records whose values are Brick's classes, and subscriptions of which half ask for inner ones.

40 attributes, 10 to 20 in a record; 2 to 5 predicates in a subscription. A class is a rank, in the
order of a walk that goes deep first, so that a class and all below it are one interval of ranks, or
a few where a class has several parents. The hierarchy comes from the raw file (`lexicon.py`):
Sensewire has no part in it. `Reading.WORDS` makes the same workload for who knows no hierarchy:
there every class stands for itself alone.
"""

from collections.abc import Iterator
from enum import Enum

import numpy as np

from sensewire.match.compiled.conjunctions import Entries, Int32, Int64
from workloads.lexicon import CONCEPT, Lexicon, brick_file, stated_in_turtle
from workloads.records import without_repeats
from workloads.workload import Workload, conjoined, offsets_of

ATTRIBUTES = 40
_EVEN = np.full(ATTRIBUTES, 1 / ATTRIBUTES)


class Reading(Enum):
    """What a class in a subscription stands for."""

    MEANING = "itself and all below"
    WORDS = "itself"


class Classes:
    """Brick's classes in the order of their ranks, and the intervals of each with all below."""

    def __init__(self) -> None:
        stated = stated_in_turtle(brick_file())
        lexicon = Lexicon(stated)
        brick = "https://brickschema.org/schema/Brick#"
        every = {
            lexicon.root(key)
            for key, rank in stated.ranks.items()
            if rank == CONCEPT and key.startswith(brick)
        }
        inside = {root: [each for each in lexicon.below(root) if each in every] for root in every}
        order = _deep_first(inside)
        self.names = [key.removeprefix(brick) for key in order]
        place = {key: number + 1 for number, key in enumerate(order)}
        sets = [sorted({place[key], *(place[each] for each in inside[key])}) for key in order]
        runs = [[*_runs(ranks)] for ranks in sets]
        self.inner: Int64 = np.flatnonzero([len(ranks) > 1 for ranks in sets])
        self.outer: Int64 = np.flatnonzero([len(ranks) == 1 for ranks in sets])
        most = max(map(len, runs))
        self.low: Int32 = np.zeros((len(order), most), np.int32)
        self.high: Int32 = np.zeros((len(order), most), np.int32)
        for number, intervals in enumerate(runs):
            for column, (start, end) in enumerate(intervals):
                self.low[number, column], self.high[number, column] = start, end

    def __len__(self) -> int:
        return len(self.names)


def _deep_first(below: dict[str, list[str]]) -> list[str]:
    """Every key once, each followed by what is below it as far as that is not placed yet."""
    order: dict[str, None] = {}
    waiting = sorted(below, key=lambda key: (len(below[key]), key))
    while waiting:
        key = waiting.pop()
        if key not in order:
            order[key] = None
            waiting += sorted(below[key], key=lambda each: (len(below[each]), each))
    return [*order]


def _runs(ranks: list[int]) -> Iterator[tuple[int, int]]:
    start = ranks[0]
    for rank, following in zip(ranks, [*ranks[1:], 0], strict=True):
        if following != rank + 1:
            yield start, rank
            start = following


def workload(
    classes: Classes, reading: Reading, subscriptions: int, events: int, sample: int, seed: int
) -> Workload:
    """Draw subscriptions and records; the reading changes what they mean, not what is drawn."""
    random = np.random.default_rng((seed, 1))
    sizes = random.integers(2, 6, subscriptions)
    attribute = _attributes(sizes, random)
    inner = random.random(len(attribute)) < 0.5
    asked = np.where(
        inner,
        random.choice(classes.inner, len(attribute)),
        random.choice(classes.outer, len(attribute)),
    )
    keys, test = np.unique(attribute * len(classes) + asked, return_inverse=True)
    slot, number = keys // len(classes), keys % len(classes)
    if reading is Reading.MEANING:
        low, high = classes.low[number], classes.high[number]
    else:
        low = high = (number + 1).astype(np.int32)[:, None]
    highest = np.full(ATTRIBUTES, len(classes), np.int32)
    positive = np.zeros(len(keys), np.bool_)
    return Workload(
        "meaning on Brick",
        conjoined(highest, offsets_of(sizes), test, slot, positive, low, high),
        _happened(classes, events, np.random.default_rng((seed, 2))),
        _happened(classes, sample, np.random.default_rng((seed, 3))),
    )


def _attributes(sizes: Int64, random: np.random.Generator) -> Int64:
    most = int(sizes.max(initial=1))
    found = without_repeats(len(sizes), _EVEN, most, random)
    return found[np.arange(most) < sizes[:, None]].astype(np.int64)


def _happened(classes: Classes, count: int, random: np.random.Generator) -> Entries:
    sizes = random.integers(10, 21, count)
    attribute = _attributes(sizes, random)
    rank = random.integers(1, len(classes) + 1, len(attribute))
    return Entries(offsets_of(sizes), attribute.astype(np.int32), rank.astype(np.int32))
