"""A workload of graphs as a file of N-Quads, and an index folder of its subscriptions.

The drawn events are repeated, each time with new ids: event number n is drawn event n modulo their
count, and is called by n. Ids of subscriptions are their numbers; the index is built in a process
of its own, as that of records is.
"""

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

from sensewire.engine import Engine
from sensewire.events.files import listing
from sensewire.events.locations import location
from sensewire.model.event import Event
from sensewire.spark.planning import looked_at
from workloads.graph_gtopss import gtopss
from workloads.graph_texts import as_nquads
from workloads.graph_workload import PLACE, GraphWorkload
from workloads.indexes import DECODING

NAMED = f"{PLACE}e"
"""What stands before the number of an event in its id."""
_HERE = b"#"  # in no IRI of the workload


def written(events: Sequence[Event], repeats: int, path: Path) -> int:
    """Write events so many times; how many these are."""
    texts = [as_nquads([replace(event, id=_HERE.decode())]) for event in events]
    parts = [text.split(_HERE) for text in texts]
    with path.open("wb") as file:
        for repeat in range(repeats):
            names = (f"{NAMED}{repeat * len(events) + row}".encode() for row in range(len(events)))
            file.write(b"".join(name.join(part) for name, part in zip(names, parts, strict=True)))
    return len(events) * repeats


def saved(subscriptions: int, seed: int, events: Path, folder: Path) -> None:
    """Draw subscriptions and save an index of them to a folder."""
    context = get_context("spawn")  # a fork would hold what this process holds
    with ProcessPoolExecutor(1, mp_context=context) as one:
        one.submit(_save, subscriptions, seed, events, folder).result()


def _save(subscriptions: int, seed: int, events: Path, folder: Path) -> None:
    save_workload(gtopss(subscriptions, seed), events, folder)


def save_workload(workload: GraphWorkload, events: Path, folder: Path) -> None:
    """Save an index of a workload's subscriptions, here."""
    engine = Engine(workload.knowledge)
    engine.learn(looked_at(listing([location(events)]).files, DECODING))
    for number, subscription in enumerate(workload.asked(range(workload.size))):
        engine.add(subscription, id=str(number))
    engine.save(folder)
