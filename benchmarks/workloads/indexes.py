"""Index folders of a workload's subscriptions, built in a process of their own.

Building takes gigabytes where subscriptions are many, and a process keeps what it once had. Ids are
the numbers of subscriptions. The index is planned by a look at a file of events, as the pipeline
plans what it reads.
"""

from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path

from sensewire.engine import Engine
from sensewire.events.decoding import LONGEST_EVENT, Decoding
from sensewire.events.files import listing
from sensewire.events.locations import location
from sensewire.language.parse import parse
from sensewire.spark.planning import looked_at
from workloads import texts
from workloads.event_files import ID
from workloads.records import Kind, drawn

DECODING = Decoding(datetime(2024, 1, 1, tzinfo=UTC), ID, None, LONGEST_EVENT)
"""How the files are read, by whoever reads them."""


def saved(kind: Kind, subscriptions: int, seed: int, events: Path, folder: Path) -> None:
    """Draw subscriptions and save an index of them to a folder; events are others' to draw."""
    context = get_context("spawn")  # a fork would hold what this process holds
    with ProcessPoolExecutor(1, mp_context=context) as one:
        one.submit(_save, kind, subscriptions, seed, events, folder).result()


def save_texts(subscriptions: list[str], events: Path, folder: Path) -> None:
    """Save an index of subscriptions, here."""
    engine = Engine()
    engine.learn(looked_at(listing([location(events)]).files, DECODING))
    for number, text in enumerate(subscriptions):
        engine.add(parse(text), id=str(number))
    engine.save(folder)


def _save(kind: Kind, subscriptions: int, seed: int, events: Path, folder: Path) -> None:
    save_texts([*texts.subscriptions(drawn(kind, subscriptions, 0, 0, seed))], events, folder)
