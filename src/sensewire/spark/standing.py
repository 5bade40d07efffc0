"""What stands when a run begins: the engine of its subscriptions, and what was wrong with them."""

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from sensewire.engine import Engine
from sensewire.events.decoding import Rejected
from sensewire.knowledge.knowledge import Knowledge
from sensewire.model.errors import SensewireError
from sensewire.model.folder import current_version
from sensewire.model.learned import Learned
from sensewire.spark.subscriptions import subscriptions_in


@dataclass(frozen=True, slots=True)
class Told:
    """What a run tells of its subscriptions; `knowledge` is the version of theirs."""

    knowledge: str
    live: int
    expired: int = 0
    rejected: tuple[Rejected, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """The subscriptions of a run, in an engine; `folder` is the index folder that they came from,
    if they did."""

    engine: Engine
    told: Told
    folder: Path | None = None

    def planned(self, statistics: Learned) -> "Standing":
        """The same, planned for events like those."""
        self.engine.learn(statistics)
        return replace(self, folder=None)

    def saved(self, place: Path) -> Path:
        """The index folder: the one that they came from, or one that is made at `place`."""
        if self.folder is not None:
            return self.folder
        self.engine.save(place / "index")
        return place / "index"


def standing_in(
    subscriptions: Path | None,
    index: Path | None,
    knowledge: tuple[Path, ...],
    now: datetime,
    statistics: Learned | None = None,
) -> Standing:
    """Read subscriptions with knowledge, or open an index folder, which has both."""
    if (subscriptions is None) == (index is None):
        raise SensewireError("expected --subscriptions or --index, one of them")
    if index is not None:
        if knowledge:
            raise SensewireError(
                "--knowledge beside --index: the index has its own; save it again with another"
            )
        engine = Engine.open(index)
        told = Told(engine.knowledge.version, engine.statistics().subscriptions)
        opened = Standing(engine, told, index)
        return opened if statistics is None else opened.planned(statistics)
    assert subscriptions is not None
    found = subscriptions_in(subscriptions, now, Knowledge.load(*knowledge), statistics)
    engine = found.engine
    live = engine.statistics().subscriptions
    return Standing(engine, Told(engine.knowledge.version, live, found.expired, found.rejected))


def bytes_of(folder: Path) -> int:
    """How large the current version of an index folder is."""
    return sum(file.stat().st_size for file in (folder / current_version(folder)).iterdir())
