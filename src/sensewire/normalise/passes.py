"""The passes between encoding and matching, in their order.

Derived facts come first, since what functions add has roots too. Each pass takes a batch and gives
a batch; generalisation is no pass, but in how conditions read.
"""

from sensewire.knowledge.knowledge import Knowledge
from sensewire.model.batch import Batch
from sensewire.normalise.canonical import canonical
from sensewire.normalise.derived import derived

PASSES = (derived, canonical)


def normalised(batch: Batch, knowledge: Knowledge) -> Batch:
    """The batch after all passes."""
    for each in PASSES:
        batch = each(batch, knowledge)
    return batch
