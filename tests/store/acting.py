"""Programs that tests run as processes of their own: `python -m tests.store.acting WHAT URL …`.

Each waits until its standard input is closed, so that several begin at once; the last line that it
prints is JSON.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sensewire.store.database import open_store

ROOT = Path(__file__).parents[2]

Said = Any  # what JSON holds


def opening(url: str) -> Said:
    """Open a store that may not be there yet; who it is."""
    store = open_store(url)
    return [store.id, store.secret.hex()]


def appending(url: str, name: str, rounds: str) -> Said:
    """Append entries of one to three lines; the first and last number of each."""
    from sensewire.store.log import append, entries_of_lines

    store = open_store(url, create=False)
    ranges = []
    for place in range(int(rounds)):
        line = json.dumps({"id": f"{name}{place}"}).encode()
        taken = append(store, list(entries_of_lines([line] * (1 + place % 3))), datetime.now(UTC))
        ranges.append([taken.start, taken.stop - 1])
    return ranges


def coming_and_going(url: str, name: str, rounds: str) -> Said:
    """Subscribe and unsubscribe, and append before, between and after; the numbers of these."""
    from sensewire.store.log import append
    from sensewire.store.subscribing import subscribe, unsubscribe
    from tests.store.making import documents, wish

    store = open_store(url, create=False)
    told = []
    for place in range(int(rounds)):
        id = f"{name}{place}"
        entries = documents(1)
        before = append(store, entries, datetime.now(UTC)).start
        came = subscribe(store, [wish(id)], datetime.now(UTC))
        between = append(store, entries, datetime.now(UTC)).start
        went = unsubscribe(store, [id])
        after = append(store, entries, datetime.now(UTC)).start
        told.append({"id": id, "at": [before, between, after], "changes": [came, went]})
    return told


def committing(url: str, batch: str) -> Said:
    """Commit a batch of two events, one notification, a failure and a dead letter."""
    from tests.store.making import committed

    store = open_store(url, create=False)
    done = committed(store, int(batch), a_batch())
    return None if done is None else [done.events, done.matches]


def a_batch() -> Any:  # Any: Found, whose import is slow
    """What `committing` commits."""
    from tests.store.making import found

    return found(["e1", "e2"], [(0, 1)], failed=[(1, 1, "too long")], rejected=[b"{"])


def pinning(url: str, query: str, version: str) -> Said:
    """Pin batch 0 of a query."""
    from sensewire.store.batches import pin

    pinned = pin(open_store(url, create=False), query, 0, version, datetime.now(UTC))
    return [pinned.version, pinned.change, pinned.now]


PROGRAMS: dict[str, Callable[..., Said]] = {
    each.__name__: each for each in (opening, appending, coming_and_going, committing, pinning)
}


def started(
    *arguments: str, environment: dict[str, str] | None = None
) -> "subprocess.Popen[bytes]":
    """One of the programs, which has not begun: it waits for `together`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.store.acting", *arguments],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # a fail-point kills the whole group
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def begun(processes: Iterable["subprocess.Popen[bytes]"]) -> None:
    """Let programs begin."""
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None


def said(process: "subprocess.Popen[bytes]") -> Said:
    """What a program that began says in the end."""
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors.decode()
    return json.loads(output.splitlines()[-1])


def together(processes: Sequence["subprocess.Popen[bytes]"]) -> list[Said]:
    """Let programs run at once; what they say."""
    begun(processes)
    return list(map(said, processes))


if __name__ == "__main__":
    print("ready", flush=True)
    sys.stdin.read()
    print(json.dumps(PROGRAMS[sys.argv[1]](*sys.argv[2:])))
