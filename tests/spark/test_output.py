"""The folder that a run writes: there whole or not at all, and nobody else's is touched."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sensewire.events.locations import Location, LocationError, location
from sensewire.model.errors import SensewireError
from sensewire.spark.output import check_free as free
from sensewire.spark.output import draft_of as draft_at


def check_free(out: Path, inputs: list[Path], *, overwrite: bool) -> None:
    free(location(out), [location(path) for path in inputs], overwrite=overwrite)


@contextmanager
def draft_of(out: Path) -> Iterator[Path]:
    with draft_at(location(out)) as draft:
        yield Path(draft.text)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def write(folder: Path, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "_run.json").write_text(text)


def test_a_draft_becomes_the_folder_at_the_end(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    with draft_of(out) as draft:
        write(draft, "1")
        assert not out.exists()
    assert (out / "_run.json").read_text() == "1"
    with draft_of(out) as draft:
        write(draft, "2")
        assert (out / "_run.json").read_text() == "1"
    assert (out / "_run.json").read_text() == "2"
    assert names(out.parent) == {"out"}


def test_a_draft_that_fails_leaves_nothing(tmp_path: Path) -> None:
    write(tmp_path / "out", "1")

    def interrupted() -> None:
        with draft_of(tmp_path / "out") as draft:
            write(draft, "2")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (tmp_path / "out" / "_run.json").read_text() == "1"
    assert names(tmp_path) == {"out"}


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(SensewireError, match="cannot be written"),
        draft_of(tmp_path / "file" / "o"),
    ):
        pass


def test_only_what_a_run_wrote_is_overwritten(tmp_path: Path) -> None:
    ours, theirs, empty, file = (tmp_path / name for name in ("ours", "theirs", "empty", "file"))
    write(ours, "1")
    theirs.mkdir()
    (theirs / "thesis.txt").write_text("years of work")
    empty.mkdir()
    file.write_text("")
    check_free(tmp_path / "none", [], overwrite=False)
    for path in (ours, empty):
        check_free(path, [], overwrite=True)
        with pytest.raises(SensewireError, match="exists; name another folder, or say --overwrite"):
            check_free(path, [], overwrite=False)
    for path in (theirs, file):
        with pytest.raises(SensewireError, match="was not written by sensewire match"):
            check_free(path, [], overwrite=True)


def test_the_input_is_never_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "out", "1")
    events = tmp_path / "out" / "e.jsonl"
    events.write_text("")
    monkeypatch.chdir(tmp_path)
    for out, path in ((Path("out"), events), (tmp_path, Path("out/e.jsonl")), (events, events)):
        with pytest.raises(SensewireError, match="would take the place of the input"):
            check_free(out, [path], overwrite=True)


def test_links_do_not_hide_that_the_input_would_be_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "_run.json").touch()
    (out / "in.jsonl").touch()
    (tmp_path / "link").symlink_to(out)
    for path, to in (
        (tmp_path / "link" / "in.jsonl", out),
        (out / "in.jsonl", tmp_path / "link"),
        (out / "in.jsonl", tmp_path / "none" / ".." / "out"),
    ):
        with pytest.raises(SensewireError, match="would take the place of the input"):
            check_free(to, [path], overwrite=True)


def test_output_among_the_events_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SensewireError, match="the next run would read it"):
        check_free(tmp_path / "events" / "out", [tmp_path / "events"], overwrite=False)


def test_a_link_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to(tmp_path / "nowhere")
    with pytest.raises(SensewireError, match="a link that leads nowhere"):
        check_free(tmp_path / "out", [], overwrite=True)


def test_a_folder_comes_back_if_its_successor_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    write(out, "1")
    move = Location.move

    def failing(place: Location, target: Location) -> None:
        if place.text.endswith("/new"):
            raise LocationError(place.name, "no luck")
        move(place, target)

    monkeypatch.setattr(Location, "move", failing)
    with pytest.raises(SensewireError, match="out: no luck"), draft_of(out) as draft:
        write(draft, "2")
    assert (out / "_run.json").read_text() == "1"
    assert names(tmp_path) == {"out"}
