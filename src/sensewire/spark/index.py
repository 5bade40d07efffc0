"""How an index reaches the workers: as files that they map, never as objects.

    this machine     its folder, as it is
    a cluster        an archive that Spark copies to every machine once, and unpacks there
    a shared path    the folder, as it is, where the user says that every machine sees it

A worker opens the version that the run began with, whatever is saved to the folder meanwhile, and
keeps it open for all of its tasks. The pages of one folder are shared by all workers of a machine.
"""

import gc
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sensewire.engine import Engine
from sensewire.model.errors import SensewireError
from sensewire.model.folder import current_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Opened = TypeVar("Opened")


@dataclass(frozen=True, slots=True)
class Shipped:
    """Where workers find an index: a path, or the name of an archive; and its version."""

    path: str | None
    archive: str | None
    version: str

    def folder(self) -> Path:
        """The index folder, on whatever machine this is asked."""
        if self.path is not None:
            return Path(self.path)
        from pyspark import SparkFiles

        assert self.archive is not None
        return Path(SparkFiles.get(self.archive))


def shipped(
    spark: "SparkSession", folder: Path, place: Path, *, shared: bool, version: str | None = None
) -> Shipped:
    """Let the workers have an index folder; what is sent to them is made at `place`. It is the
    current version unless one is named."""
    version = version or current_version(folder)
    if shared or str(spark.sparkContext.master).startswith("local"):
        return Shipped(str(folder.absolute()), None, version)
    archive = place / f"sensewire-{version}.tar"
    if not archive.exists():
        with tarfile.open(archive, "w") as file:
            for part in sorted(folder.iterdir()):  # no entry for ".", which Spark refuses
                file.add(part, arcname=part.name)
        spark.sparkContext.addArchive(str(archive))
    return Shipped(None, archive.name, version)


class Keeper:
    """Opens what a worker keeps, so that the collector of garbage passes it over: Spark collects
    after each task, and going through an index took longer than the task.

    What was kept before may be garbage by now: only then is all gone through once more, which also
    copies the pages that workers share.
    """

    def __init__(self) -> None:
        self._has_kept = False

    def kept(self, opening: Callable[[], Opened]) -> Opened:
        """What is opened."""
        if self._has_kept:
            gc.unfreeze()
        self._has_kept = True
        made = opening()
        gc.collect()
        gc.freeze()
        return made


KEEPER = Keeper()
"""The one of this process."""


@lru_cache(maxsize=2)  # one a process; two while a session goes from one job to the next
def opened(index: Shipped) -> Engine:
    """The engine of an index, once a process."""
    folder = index.folder()
    if not folder.exists():
        raise SensewireError(
            f"the index {folder} is not on this machine; name a path that every machine sees, or "
            "leave out --index-shared, so that it is sent to them"
        )
    return KEEPER.kept(lambda: ready(folder, index.version))


def ready(folder: Path, version: str) -> Engine:
    """The engine of a folder, with what it reads when it is first needed."""
    engine = Engine.open(folder, version=version, as_it_is=True)
    engine.wants_property("urn:sensewire:nobody")
    return engine
