"""The folder that a run writes: there whole, or not at all.

Everything is written to a folder beside it, which takes its name at the end. A folder that is there
already is replaced only if the user asked for it and a run of ours wrote it, and at the end too.
Where a file system cannot move folders, as object stores, files are moved one by one, `_run.json`
as the last: whoever waits for it sees a whole run.

    O/*.parquet  O/_rejected/*.parquet  O/_failed/*.parquet  O/_run.json
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from sensewire.events.decoding import Rejected
from sensewire.events.locations import Location, LocationError, Standing
from sensewire.model.errors import SensewireError
from sensewire.spark.schema import rejected_table
from sensewire.spark.writing import FOLDERS, SCHEMAS, SUFFIXES, being_written, new_file

RUN = "_run.json"


def check_free(out: Location, inputs: Sequence[Location], *, overwrite: bool) -> None:
    """Raise unless a run may write to `out` when it ends."""
    for place in inputs:
        if _is_below(place, out):
            raise SensewireError(f"--out {out.name} would take the place of the input {place.name}")
        if _is_below(out, place):
            raise SensewireError(
                f"--out {out.name} is inside {place.name}: the next run would read it"
            )
    if out.is_local and Path(out.text).is_symlink() and not Path(out.text).exists():
        raise SensewireError(f"--out {out.name} is a link that leads nowhere; name another folder")
    standing = out.status().standing
    if standing is Standing.NOTHING:
        return
    if not overwrite:
        raise SensewireError(f"{out.name} exists; name another folder, or say --overwrite")
    if standing is not Standing.FOLDER or not (_is_run(out) or _is_empty(out)):
        raise SensewireError(
            f"{out.name} was not written by sensewire match, which leaves a {RUN}; "
            "it is not overwritten: name another folder"
        )


def _is_below(place: Location, folder: Location) -> bool:
    if place.is_local != folder.is_local:
        return False
    if place.is_local:
        return Path(place.text).resolve().is_relative_to(Path(folder.text).resolve())
    return f"{place.name.rstrip('/')}/".startswith(f"{folder.name.rstrip('/')}/")


def _is_run(folder: Location) -> bool:
    return folder.child(RUN).status().standing is Standing.FILE


def _is_empty(folder: Location) -> bool:
    if folder.is_local:
        return not any(Path(folder.text).iterdir())
    return not any(folder.below())


@contextmanager
def draft_of(out: Location) -> Iterator[Location]:
    """A folder to write to, which becomes `out` when all went well and else is removed."""
    name = out.name.rstrip("/").rpartition("/")[2]
    beside = out.sibling(f".{name}.{uuid4().hex[:8]}")
    draft = replace(beside.child("new"), name=out.name)  # which is what people know it by
    try:
        for folder in FOLDERS.values():
            (draft.child(folder) if folder else draft).create()
    except LocationError as error:
        raise SensewireError(f"--out {out.name} cannot be written: {error.reason}") from None
    try:
        yield draft
        _publish(draft, out, beside.child("old"))
    finally:
        with suppress(LocationError):
            beside.remove()


def _publish(draft: Location, out: Location, old: Location) -> None:
    if out.moves_folders:
        is_there = out.status().standing is not Standing.NOTHING
        if is_there:
            out.move(old)
        try:
            draft.move(out)
        except LocationError:
            if is_there:
                old.move(out)
            raise
        return
    out.child(RUN).remove()
    out.remove()
    names = [file.path for file in draft.below()]
    for folder in filter(None, FOLDERS.values()):
        names.extend(f"{folder}/{file.path}" for file in draft.child(folder).below())
    for name in names:
        draft.child(name).move(out.child(name))
    draft.child(RUN).move(out.child(RUN))


def finish(draft: Location, format: str, kept: Collection[str], more: Sequence[Rejected]) -> None:
    """Leave the files of tries that ended well, add what the driver rejected, and one file at
    least of each kind."""
    for kind, folder in FOLDERS.items():
        here = draft.child(folder) if folder else draft
        names = {file.path for file in here.below()}
        written = {name.rpartition("/")[2] for name in kept if name.rpartition("/")[0] == folder}
        for name in names - written:
            here.child(name).remove()
        rejected = more if kind == "rejected" else ()
        if rejected or not written:
            file = here.child(f"part-driver-{uuid4().hex}{SUFFIXES[format]}").open_output()
            with being_written(draft):
                table = new_file(file, format, SCHEMAS[kind], None)
                if rejected:
                    table.write(rejected_table(rejected))
                table.close()


def write_run(folder: Location, run: Mapping[str, Any]) -> None:
    """Write down what a run was: its moment, counts, versions and options."""
    text = json.dumps(run, indent=2, ensure_ascii=False, default=str)
    with being_written(folder), folder.child(RUN).open_output() as file:
        file.write(text.encode() + b"\n")
