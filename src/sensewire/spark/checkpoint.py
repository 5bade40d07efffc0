"""The folder that a stream keeps what it must not forget in.

checkpoint/
    stream.json    which stream this is: its name, its store, what it reads, where it delivers
    spark/         Spark's own: which offsets each batch has, and which batches ended
    index/         the compiled index, version by version
    sample.jsonl   some records, for whoever plans the next index
"""

import fcntl
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sensewire.model.errors import SensewireError
from sensewire.spark.stream_places import Source, Target
from sensewire.store.database import Store

_STREAM = "stream.json"
_LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The folder of one stream; `query` is its name for ever."""

    folder: Path
    query: str

    @property
    def spark(self) -> Path:
        return self.folder / "spark"

    def make_last(self, batch: int) -> None:
        """See to it that what a batch covers outlasts a power cut, before anybody relies on it:
        Spark writes that down, and leaves the rest to the system."""
        for path in (self.spark / "offsets" / str(batch), self.spark / "offsets"):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    @property
    def index(self) -> Path:
        return self.folder / "index"

    @property
    def sample(self) -> Path:
        return self.folder / "sample.jsonl"


@contextmanager
def held(checkpoint: Checkpoint) -> Iterator[None]:
    """Be the only process that runs a stream, while the block lasts; its death ends that too."""
    with (checkpoint.folder / _LOCK).open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SensewireError(
                f"--checkpoint {checkpoint.folder}: another process runs this stream now; end it "
                "first, or name another checkpoint for a stream of its own"
            ) from None
        try:
            yield
        finally:
            # A process that was forked meanwhile has the file open too: closing would not do.
            fcntl.flock(lock, fcntl.LOCK_UN)


def checkpoint_at(folder: Path, store: Store, source: Source, target: Target) -> Checkpoint:
    """The checkpoint in a folder, which is made; that of another stream is refused."""
    said: dict[str, Any] = {
        "store": store.id,
        "source": {"kind": type(source).__name__, **asdict(source)},
        "sink": {"kind": type(target).__name__, **asdict(target)},
    }
    file = folder / _STREAM
    try:
        if file.exists():
            known = json.loads(file.read_bytes())
            if (folder / "spark" / "metadata").exists():
                _check_same(folder, known, said)
                return Checkpoint(folder, known["query"])
        elif folder.exists() and any(folder.iterdir()):
            raise SensewireError(
                f"--checkpoint {folder} holds other things, and is no checkpoint of a stream; name "
                "a folder that is empty, or not there yet"
            )
        # Without Spark's part nothing says which batches there were: they are another query's.
        new = Checkpoint(folder, uuid.uuid4().hex)
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f".{_STREAM}"
        draft.write_text(json.dumps({"query": new.query, **said}, indent=2) + "\n")
        draft.replace(file)
    except (OSError, ValueError, KeyError) as error:
        raise SensewireError(f"--checkpoint {folder} cannot be used: {error}") from error
    return new


def _check_same(folder: Path, known: dict[str, Any], said: dict[str, Any]) -> None:
    for name in ("store", "source", "sink"):
        if known.get(name) != said[name]:
            raise SensewireError(
                f"--checkpoint {folder} belongs to another stream: its {name} is "
                f"{json.dumps(known.get(name))}, and here it is {json.dumps(said[name])}; name the "
                "checkpoint of this stream, or a new folder to begin from the start"
            )
