"""Arrays that grow: what was seen of one stays as it was."""

import numpy as np

from sensewire.match.compiled.growing import Extended, Growing


def test_what_is_appended_is_not_seen_in_an_older_view() -> None:
    numbers = Growing(np.int32)
    views = []
    for number in range(100):
        views.append(numbers.view)
        numbers.append(number)
    assert [len(view) for view in views] == list(range(100))
    assert all(view.tolist() == list(range(len(view))) for view in views)
    assert numbers.view.tolist() == list(range(100))
    assert len(numbers) == 100


def test_many_at_once_however_many_there_is_room_for() -> None:
    for first in (0, 1, 15, 16, 17):
        for more in (0, 1, 16, 1_000):
            numbers = Growing(np.int64, range(first))
            numbers.extend(range(more))
            numbers.append(7)
            assert numbers.view.tolist() == [*range(first), *range(more), 7]
            assert numbers.view.dtype == np.int64


def test_an_array_that_is_read_only_is_not_written_to() -> None:
    given = np.array([1, 2], np.int32)
    given.flags.writeable = False
    for count in (0, 2):
        numbers = Growing.over(given[:count])
        numbers.append(3)
        numbers.extend([4])
        assert numbers.view.tolist() == [*given[:count].tolist(), 3, 4]
    assert given.tolist() == [1, 2]


def test_a_view_may_be_written_to() -> None:
    flags = Growing(np.bool_, [False, False])
    flags.view[1] = True
    flags.extend([False] * 50)
    assert flags.view.tolist()[:3] == [False, True, False]


def test_a_sequence_that_goes_on() -> None:
    for first in ("", "ab"):
        letters = Extended(first)
        for letter in "cd":
            letters.append(letter)
        assert len(letters) == len(first) + 2
        assert [letters[place] for place in range(len(letters))] == [*first, "c", "d"]
