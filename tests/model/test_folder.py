"""An index folder: what is written is what is opened; what is damaged is seen, and named."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from sensewire.model.errors import IndexFolderError
from sensewire.model.folder import open_folder
from sensewire.model.folder_manifest import ALIGNMENT
from sensewire.model.folder_writing import write_folder
from tests.model.folders import memory_of, number_in, opened, run, versions, write

Array = npt.NDArray[Any]
DTYPES = ["?", "u1", "<u2", "<i4", ">i4", "<i8", "<u8", "<f4", "<f8"]
any_arrays = st.dictionaries(
    st.text(max_size=8),
    st.sampled_from(DTYPES).flatmap(
        lambda dtype: arrays(dtype, array_shapes(min_dims=0, min_side=0, max_side=5))
    ),
    max_size=5,
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, width=32),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
).filter(lambda value: "Infinity" not in json.dumps(value))


def data_file(path: Path, name: str = "arrays.bin") -> Path:
    return path / opened(path).version / name


@given(any_arrays, st.dictionaries(st.text(), json_values, max_size=3), st.booleans())
def test_what_is_written_is_what_is_opened(
    content: dict[str, Array], meta: dict[str, Any], turned: bool
) -> None:
    if turned:  # not contiguous in the order that is written
        content = {name: array.T for name, array in content.items()}
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "a" / "index"
        version = write_folder(path, content, meta, format_version=3, kind="fox")
        folder = opened(path)
        assert folder.version == version
        assert folder.meta == meta
        assert folder.format_version == 3
        assert list(folder.arrays) == list(content)
        for name, array in content.items():
            mapped = folder.arrays[name]
            assert mapped.dtype == array.dtype.newbyteorder("<")
            np.testing.assert_array_equal(mapped, array)
            assert mapped.shape == array.shape
            assert type(mapped) is np.ndarray  # numba takes longer over its subclasses
            assert mapped.flags.c_contiguous
            assert not mapped.flags.writeable
            assert mapped.ctypes.data % ALIGNMENT == 0 or mapped.size == 0
        folder.verify()


def test_every_second_element(tmp_path: Path) -> None:
    numbers = {"even": np.arange(10)[::2], "columns": np.arange(12).reshape(3, 4)[:, ::-2]}
    write_folder(tmp_path, numbers, {}, format_version=3, kind="fox")
    found = opened(tmp_path).arrays
    assert {name: array.tolist() for name, array in found.items()} == {
        "even": [0, 2, 4, 6, 8],
        "columns": [[3, 1], [7, 5], [11, 9]],
    }


def test_arrays_other_than_numbers_are_refused(tmp_path: Path) -> None:
    for array in (np.array(["fox"]), np.array([None]), np.zeros(1, dtype="i4,f8")):
        with pytest.raises(IndexFolderError, match=r"array 'words' is of type .* plain numbers"):
            write_folder(tmp_path / "i", {"words": array}, {}, format_version=1, kind="fox")
    assert not (tmp_path / "i").exists()


def test_a_manifest_says_who_wrote_it(tmp_path: Path) -> None:
    from sensewire import __version__

    write(tmp_path)
    assert opened(tmp_path).manifest.written_by == __version__


def test_the_current_version_and_the_one_before_are_kept(tmp_path: Path) -> None:
    for number in range(1, 5):
        write(tmp_path, number)
        assert number_in(tmp_path) == number
    assert versions(tmp_path) == ["v000003", "v000004"]


def test_who_has_a_version_open_keeps_it(tmp_path: Path) -> None:
    write(tmp_path, 1)
    old = opened(tmp_path)
    for number in range(2, 6):
        write(tmp_path, number)
    old.verify()
    assert old.arrays["large"].tolist() == [1] * 100


def test_a_version_that_goes_while_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the reading of CURRENT and of what it names, two versions are written."""
    write(tmp_path, 1)
    read = Path.read_bytes
    asked: list[Path] = []

    def slowly(path: Path) -> bytes:
        text = read(path)
        if path.name == "CURRENT" and not asked:
            asked.append(path)
            for number in (2, 3):
                write(tmp_path, number)
        return text

    monkeypatch.setattr(Path, "read_bytes", slowly)
    assert number_in(tmp_path) == 3
    assert versions(tmp_path) == ["v000002", "v000003"]


def test_arrays_outlive_the_folder_they_were_opened_from(tmp_path: Path) -> None:
    write(tmp_path, 7)
    large = opened(tmp_path).arrays["large"]
    assert large.sum() == 700


def test_a_folder_can_be_written_from_its_own_arrays(tmp_path: Path) -> None:
    write(tmp_path, 7)
    for _ in range(3):
        folder = opened(tmp_path)
        write_folder(tmp_path, folder.arrays, folder.meta, format_version=3, kind="fox")
    assert number_in(tmp_path) == 7


# What cannot be opened


def cut(path: Path) -> None:
    file = data_file(path)
    file.write_bytes(file.read_bytes()[:-1])


def lengthen(path: Path) -> None:
    file = data_file(path)
    file.write_bytes(file.read_bytes() + b"\0")


def behead(path: Path) -> None:
    file = data_file(path)
    file.write_bytes(b"PNG" + file.read_bytes()[3:])


def change_manifest(path: Path) -> None:
    file = data_file(path, "manifest.json")
    file.write_bytes(file.read_bytes().replace(b'"fox"', b'"hen"'))


def garble_current(path: Path) -> None:
    (path / "CURRENT").write_bytes(b"\xff\x00")


def leave_layout(path: Path) -> None:
    file = path / "CURRENT"
    file.write_bytes(file.read_bytes().replace(b"index 1 ", b"index 2 "))


def lose_current(path: Path) -> None:
    (path / "CURRENT").unlink()


def lose_manifest(path: Path) -> None:
    data_file(path, "manifest.json").unlink()


def lose_arrays(path: Path) -> None:
    data_file(path).unlink()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut, r"arrays\.bin: the file has 959 bytes, and its manifest says 960: it was cut short"),
        (lengthen, r"arrays\.bin: the file has 961 bytes, and its manifest says 960"),
        (behead, r"arrays\.bin: the file begins with b'PNGsewire"),
        (change_manifest, r"manifest\.json: the manifest is damaged: its digest is [0-9a-f]{32},"),
        (garble_current, r"CURRENT: the file is damaged, .* expected one line 'sensewire index 1"),
        (leave_layout, r"written in layout 2 of index folders; .* reads up to 1; upgrade"),
        (lose_current, r"this is no index folder, .* it has no file CURRENT"),
        (lose_manifest, r"manifest\.json: there is no such file, but .*CURRENT names its version"),
        (lose_arrays, r"arrays\.bin: there is no such file, but .*CURRENT names its version"),
    ],
)
def test_damage_is_seen_at_once(
    damage: Callable[[Path], None], message: str, tmp_path: Path
) -> None:
    write(tmp_path)
    damage(tmp_path)
    with pytest.raises(IndexFolderError, match=message) as error:
        opened(tmp_path)
    assert str(tmp_path) in str(error.value)


def test_a_path_that_is_no_index_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name, message in {
        "none": "there is no such folder; expected a saved index",
        "file": "this is a file, and no index folder",
        "folder": "this is no index folder",
        "loop": "cannot be read: Too many levels of symbolic links",
    }.items():
        with pytest.raises(IndexFolderError, match=message) as error:
            opened(tmp_path / name)
        assert str(tmp_path / name) in str(error.value)


def test_a_format_from_the_future_and_another_kind(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(
        IndexFolderError,
        match=r"in version 3 of the format of 'fox', by Sensewire 0\..* reads up to 2; upgrade",
    ):
        open_folder(tmp_path, kind="fox", newest_version=2)
    with pytest.raises(IndexFolderError, match="holds 'fox', where 'hen' is expected"):
        open_folder(tmp_path, kind="hen", newest_version=3)
    assert open_folder(tmp_path, kind="fox", newest_version=9).format_version == 3


def test_no_byte_can_change_unseen(tmp_path: Path) -> None:
    write(tmp_path, count=3)
    for file in (data_file(tmp_path), data_file(tmp_path, "manifest.json")):
        good = file.read_bytes()
        for place in range(len(good)):
            file.write_bytes(good[:place] + bytes([good[place] ^ 4]) + good[place + 1 :])
            with pytest.raises(IndexFolderError):
                opened(tmp_path).verify()
        file.write_bytes(good)
    assert number_in(tmp_path) == 1


def test_what_is_damaged_is_named(tmp_path: Path) -> None:
    write(tmp_path)
    file = data_file(tmp_path)
    good = file.read_bytes()
    file.write_bytes(good[:-1] + b"x")
    folder = opened(tmp_path)
    with pytest.raises(
        IndexFolderError, match=r"arrays\.bin: the array 'large' \(bytes 128 to 960\) is damaged"
    ):
        folder.verify()


# What it costs

SHARING = """
import sys
from pathlib import Path
from tests.model.folders import memory_of, opened
folder = opened(Path(sys.argv[1]))
print(int(folder.arrays["large"].sum()))
print(*memory_of(folder))
"""


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="Linux tells of shared pages")
def test_processes_share_the_pages(tmp_path: Path) -> None:
    count = 1_000_000
    write(tmp_path, 1, count)
    folder = opened(tmp_path)
    assert folder.arrays["large"].sum() == count
    total, there = run(SHARING, tmp_path).splitlines()
    assert int(total) == count
    resident, share, private = map(int, there.split())
    assert resident >= 8 * count
    assert share <= 0.6 * resident
    assert private == 0


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="Linux tells of pages read")
def test_opening_reads_none_of_the_arrays(tmp_path: Path) -> None:
    write(tmp_path, 1, 1_000_000)
    folder = opened(tmp_path)
    assert folder.arrays["large"].nbytes == 8_000_000
    assert memory_of(folder)[0] <= 2**17  # the head's page, and what Linux maps around it
    folder.verify()
    assert memory_of(folder)[0] >= 8_000_000
