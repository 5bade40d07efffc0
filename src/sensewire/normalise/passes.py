"""The passes between decoding and matching, in their order.

Each pass takes a batch and gives a batch. Finding the roots of values is no pass, nor is
generalisation: matchers look each distinct value up once, and read conditions through closures.
"""

from sensewire.knowledge.knowledge import Knowledge
from sensewire.model.batch import Batch
from sensewire.normalise.derived import derived

PASSES = (derived,)


def normalised(batch: Batch, knowledge: Knowledge) -> Batch:
    """The batch after all passes."""
    for each in PASSES:
        batch = each(batch, knowledge)
    return batch
