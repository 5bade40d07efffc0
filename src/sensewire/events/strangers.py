"""Keys that a scan met and that lead to no attribute which it looks for, or only to one further on.

Which names are asked for cannot always be listed: knowledge reads `Graduation Date` and
`graduation_date` alike. So whoever knows is asked about each new key, once: the scanner's paths
remember the keys that they met (`scanning_paths.py`), up to a bound.
"""

from collections.abc import Iterator

from sensewire.events.scanning_paths import NOWHERE, Paths
from sensewire.events.scanning_table import BYTES, ENTRIES, ROOM

_LONGEST = 4_096
"""Bytes of a key that anybody may ask for."""


def strangers(paths: Paths, since: int) -> Iterator[str]:
    """The dotted names of the keys without an attribute that were met after the first so many."""
    met = paths.met
    count = int(met.counts[ENTRIES])
    for entry in range(since, count):
        reached = int(paths.node_met[entry])
        if reached == NOWHERE or paths.attribute[reached] < 0:
            node = int(met.keys[entry])
            first = int(paths.start[node])
            path = paths.text[first : first + int(paths.length[node])].tobytes()
            key = met.arena[met.starts[entry] : met.starts[entry + 1]].tobytes()
            yield (path + b"." + key)[1:].decode()


def are_too_many(paths: Paths) -> bool:
    """Whether there may be keys that were not remembered."""
    counts = paths.met.counts
    used = int(paths.met.starts[counts[ENTRIES]])
    return bool(counts[ENTRIES] >= counts[ROOM]) or used + _LONGEST > int(counts[BYTES])
