"""Events with 1 to 20 tags of 1,000, and subscriptions to 2 to 6 tags, some of them unwanted.

Tags follow Zipf's law, in events and in subscriptions. They are ranks on one slot: an event has
many there. The first tag of a subscription is always wanted, each further one is unwanted with
probability 0.2.
"""

import numpy as np

from sensewire.match.compiled.conjunctions import Entries
from workloads.records import shares, without_repeats
from workloads.workload import Workload, conjoined, offsets_of

TAGS = 1_000
_UNWANTED = 0.2


def workload(subscriptions: int, events: int, sample: int, seed: int) -> Workload:
    """Draw tags."""
    random = np.random.default_rng((seed, 1))
    sizes = random.integers(2, 7, subscriptions)
    offsets = offsets_of(sizes)
    tag = _tags(sizes, random)
    unwanted = random.random(len(tag)) < _UNWANTED
    unwanted[offsets[:-1]] = False
    keys, test = np.unique(tag * 2 + unwanted, return_inverse=True)
    ranks = (keys // 2 + 1).astype(np.int32)[:, None]
    highest = np.array([TAGS], np.int32)
    negated = (keys % 2).astype(np.bool_)
    slot = np.zeros(len(keys), np.int32)
    return Workload(
        "tags Zipf",
        conjoined(highest, offsets, test, slot, negated, ranks, ranks),
        _tagged(events, np.random.default_rng((seed, 2))),
        _tagged(sample, np.random.default_rng((seed, 3))),
    )


def _tags(
    sizes: np.ndarray[tuple[int], np.dtype[np.int64]], random: np.random.Generator
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """As many different tags as asked for, each time."""
    most = int(sizes.max(initial=1))
    found = without_repeats(len(sizes), shares(TAGS, 1.0), most, random)
    return found[np.arange(most) < sizes[:, None]].astype(np.int64)


def _tagged(count: int, random: np.random.Generator) -> Entries:
    sizes = random.integers(1, 21, count)
    tag = _tags(sizes, random)
    return Entries(offsets_of(sizes), np.zeros(len(tag), np.int32), (tag + 1).astype(np.int32))
