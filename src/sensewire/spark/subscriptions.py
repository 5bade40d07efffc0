"""The subscriptions of a run, from JSON lines; a bad line is rejected, and the rest stands.

    {"id": "anna", "text": "price < 900", "language"?, "reading"?, "tolerance"?, "expires"?}

One whose `expires` is not after the run's moment is not live: it is read, counted and left out.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sensewire.engine import Engine
from sensewire.events.decoding import Rejected, too_long
from sensewire.events.lines import Line, lines_in
from sensewire.knowledge.knowledge import Knowledge
from sensewire.model.errors import SensewireError, SubscriptionError
from sensewire.model.learned import Learned
from sensewire.model.subscription import Subscription
from sensewire.stated import stated_on

_LONGEST = 1_048_576
_TOLD_AFTER = 1_024


@dataclass(frozen=True, slots=True)
class Subscriptions:
    """What a file of subscriptions holds: those that are live, how many are not, the bad lines."""

    engine: Engine  # with those that are live
    expired: int
    rejected: tuple[Rejected, ...]

    @property
    def live(self) -> tuple[tuple[str, Subscription], ...]:
        """Those that are live, with their ids."""
        return tuple(self.engine.subscriptions())


def subscriptions_in(
    path: Path,
    now: datetime,
    knowledge: Knowledge,
    statistics: Learned | None = None,
    report: Callable[[int], None] | None = None,
) -> Subscriptions:
    """Read a file of subscriptions; every error of a line is kept with its place.

    They are planned by the statistics. `report` is told from time to time how many were read.
    """
    rejected: list[Rejected] = []
    places: dict[str, str] = {}
    expired = 0
    engine = Engine(knowledge)
    if statistics is not None:
        engine.learn(statistics)
    for line in lines_of(path):
        if report is not None and len(places) % _TOLD_AFTER == 0:
            report(len(places))
        place = f"{path}:{line.number}"
        try:
            stated = stated_on(_whole(line))
            if stated.id in places:
                raise SubscriptionError(
                    f"the id {stated.id!r} stands at {places[stated.id]} already"
                )
            engine.add(stated.subscription, id=stated.id)
        except SensewireError as error:
            rejected.append(Rejected(place, line.data, str(error)))
            continue
        places[stated.id] = place
        if stated.expires is not None and stated.expires <= now:
            expired += 1
            engine.remove(stated.id)
    return Subscriptions(engine, expired, tuple(rejected))


def lines_of(path: Path) -> Iterator[Line]:
    """The lines of a file of subscriptions that are not blank."""
    try:
        if path.exists() and not path.is_file():  # a pipe has no size, and may never end
            raise SensewireError(
                f"{path} is no regular file; expected a file of subscriptions as JSON lines"
            )
        with path.open("rb") as file:
            for line in lines_in(file, 0, path.stat().st_size, longest=_LONGEST):
                if not line.is_empty:
                    yield line
    except OSError as error:
        raise SensewireError(
            f"{path}: {error.strerror}; expected a file of subscriptions as JSON lines"
        ) from None


def _whole(line: Line) -> bytes:
    if line.too_long:
        raise SubscriptionError(too_long(_LONGEST, len(line.data)))
    return line.data
