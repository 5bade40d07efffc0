"""What a command shows while it works: a bar on stderr where that is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sensewire.spark.progress import Progress, Report


@contextmanager
def progress_bar(name: str) -> Iterator["Report | None"]:
    """Share done, events/s, matches/s, rejected, time left; nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TextColumn("{task.fields[said]}"),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=1.0, said="")

        def report(progress: "Progress") -> None:
            bar.update(task, completed=progress.share, said=in_words(progress))

        yield report


def in_words(progress: "Progress") -> str:
    """What a bar says beside the share.

    >>> from sensewire.spark.progress import Progress
    >>> in_words(Progress(0.25, 600_000, 1_500_000, 3, 12.0))
    '50,000 events/s, 125,000 matches/s, 3 rejected, 0:36 left'
    """
    seconds = max(progress.seconds, 1e-9)
    left = progress.seconds_left
    parts = [
        f"{progress.events / seconds:,.0f} events/s",
        f"{progress.matches / seconds:,.0f} matches/s",
        f"{progress.rejected:,} rejected",
        "time left unknown yet" if left is None else f"{_clock(left)} left",
    ]
    return ", ".join(parts)


def _clock(seconds: float) -> str:
    """A time as people say it.

    >>> _clock(36.4), _clock(3_725)
    ('0:36', '1:02:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@contextmanager
def spinner(name: str) -> Iterator[Callable[[str], None]]:
    """Something that turns on stderr, where that is a terminal, and says what is being done."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status(name) as status:
        yield status.update
