"""The folder that a run writes: there whole, or not at all.

Everything is written to a folder beside it, which takes its name at the end. A folder that is there
already is replaced only if the user asked for it and a run of ours wrote it, and at the end too.

    O/*.parquet  O/_rejected/*.parquet  O/_failed/*.parquet  O/_run.json
"""

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sensewire.model.errors import SensewireError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FORMATS = ("parquet", "jsonl")
RUN = "_run.json"


def check_free(out: Path, inputs: Sequence[Path], *, overwrite: bool) -> None:
    """Raise unless a run may write to `out` when it ends."""
    place = out.resolve()
    for path in inputs:
        real = path.resolve()
        if real.is_relative_to(place):
            raise SensewireError(f"--out {out} would take the place of the input {path}")
        if place.is_relative_to(real):
            raise SensewireError(f"--out {out} is inside {path}: the next run would read it")
    if out.is_symlink() and not out.exists():
        raise SensewireError(f"--out {out} is a link that leads nowhere; name another folder")
    if not out.exists():
        return
    if not overwrite:
        raise SensewireError(f"{out} exists; name another folder, or say --overwrite")
    is_ours = out.is_dir() and ((out / RUN).exists() or not any(out.iterdir()))
    if not is_ours:
        raise SensewireError(
            f"{out} was not written by sensewire match, which leaves a {RUN}; "
            "it is not overwritten: name another folder"
        )


@contextmanager
def draft_of(out: Path) -> Iterator[Path]:
    """A path to write to, which becomes `out` when all went well and else is removed."""
    out = out.absolute()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as error:
        raise SensewireError(f"--out {out} cannot be written: {error.strerror}") from None
    try:
        draft = beside / "new"
        yield draft
        if out.exists():
            out.rename(beside / "old")
        draft.rename(out)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def write_table(table: "DataFrame", folder: Path, format: str) -> None:
    """Write a table to a new folder, as Parquet or JSON lines; one file at least, even if empty."""
    address = f"file://{folder}"
    if format == "parquet":
        table.write.parquet(address)
    else:
        table.write.option("ignoreNullFields", "false").json(address)
    for checksum in folder.glob(".*.crc"):  # Hadoop's, of local files: nobody else reads them
        checksum.unlink()
    for part in folder.glob("*.json"):
        part.rename(part.with_suffix(".jsonl"))


def write_run(folder: Path, run: Mapping[str, Any]) -> None:
    """Write down what a run was: its moment, counts, versions and options."""
    text = json.dumps(run, indent=2, ensure_ascii=False, default=str)
    (folder / RUN).write_text(text + "\n", encoding="utf-8")
