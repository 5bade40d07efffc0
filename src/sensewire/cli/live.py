"""What a command shows while a stream runs: one line on stderr, kept up to date."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

    from sensewire.spark.gauges import Gauges, Reading

_PER_SECOND = 2


@contextmanager
def live_line(gauges: "Gauges", every: float = 60.0) -> Iterator[None]:
    """A line that changes, on a terminal; elsewhere a plain line `every` so many seconds."""
    if not sys.stderr.isatty():
        with _told(gauges, every):
            yield
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    def line() -> "Text":
        return Text(in_words(gauges.now()), no_wrap=True, overflow="ellipsis")

    with Live(
        get_renderable=line,
        console=Console(stderr=True),
        refresh_per_second=_PER_SECOND,
        transient=True,
        # What is printed meanwhile goes above the line, by way of stderr: wrong for a pipe.
        redirect_stdout=sys.stdout.isatty(),
    ):
        yield


@contextmanager
def _told(gauges: "Gauges", every: float) -> Iterator[None]:
    ended = Event()

    def tell() -> None:
        while not ended.wait(every):
            print(in_words(gauges.now()), file=sys.stderr, flush=True)

    thread = Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def in_words(reading: "Reading") -> str:
    """How a stream does, in one line.

    >>> from sensewire.spark.gauges import BatchDone, Reading
    >>> last = BatchDone(7, 310, 620, 0, 0, 0, 0.31, 1_204, "v000002", 500, 14, None)
    >>> in_words(Reading(events_per_second=1_012, matches_per_second=2_034, rejected=3, last=last))
    '1,012 events/s, 2,034 matches/s, lag 1,204, batch 0.31 s, 3 rejected, index v000002 + 14'
    >>> in_words(Reading())
    'no batch yet'
    """
    last = reading.last
    if last is None:
        return "no batch yet"
    parts = [
        f"{reading.events_per_second:,.0f} events/s",
        f"{reading.matches_per_second:,.0f} matches/s",
        *([] if last.lag is None else [f"lag {last.lag:,}"]),
        f"batch {last.seconds:,.2f} s",
        f"{reading.rejected:,} rejected",
        *([f"{reading.failed:,} failed"] if reading.failed else []),
        f"index {last.version.partition('-')[0]}" + (f" + {last.delta:,}" if last.delta else ""),
    ]
    return ", ".join(parts)
