"""WordNet's files: synsets with their senses, hypernyms and instances; bad files with their place.

Proved by breaking: `@i` read as `@` and the reverse, senses counted from 0 or in the order of
data.noun, counts of words read as decimal, words looked up with their capitals, markers and
underscores kept, only the first name kept, an instance with instances or hypernyms left no concept,
lines counted from 0, and each check of lines, pointers, the index and a cut end left out.
"""

import os
import shutil
import subprocess
import time
from pathlib import Path

import networkx
import pytest

from sensewire.knowledge.content import Content, Draft, Entity, EntityKind, Place, in_scheme
from sensewire.knowledge.wordnet import is_wordnet, read_wordnet
from sensewire.model.errors import KnowledgeError
from sensewire.model.terms import Term

SAMPLE = Path(__file__).parent / "wordnet_sample"
CONCEPT = frozenset({EntityKind.CONCEPT})
INDIVIDUAL = frozenset({EntityKind.INDIVIDUAL})


def read(path: Path) -> Content:
    draft = Draft()
    read_wordnet(path, draft)
    return draft.content()


def by_name(content: Content) -> dict[str, Entity]:
    """Every entity under all of its names; no name stands for two."""
    named = [(name, entity) for entity in content.entities for name in entity.names]
    assert len(dict(named)) == len(named)
    return dict(named)


def sense(name: str) -> Term:
    return in_scheme(name, "wordnet")


def texts(pairs: tuple[tuple[Term, Term], ...]) -> set[tuple[str, str]]:
    return {(low.text, high.text) for low, high in pairs}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The sample, to be spoilt."""
    shutil.copytree(SAMPLE, tmp_path, dirs_exist_ok=True)
    return tmp_path


def spoil(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_the_samples_offsets_are_byte_offsets() -> None:
    data = (SAMPLE / "data.noun").read_bytes()
    at = 0
    for line in data.splitlines(keepends=True):
        assert line.startswith(b"  ") or int(line[:8]) == at
        at += len(line)


def test_a_synset_is_one_entity_with_its_senses_and_words() -> None:
    found = by_name(read(SAMPLE))
    computer = found["computer#1"]
    assert computer == Entity(
        term=sense("calculating_machine#1"),
        kinds=CONCEPT,
        schemes=frozenset({"wordnet"}),
        names=("calculating_machine#1", "computer#1"),
        labels=("calculating machine", "computer"),
    )
    assert found["computer#2"].names == ("computer#2", "reckoner#1")


def test_the_index_gives_the_order_of_the_senses() -> None:
    found = by_name(read(SAMPLE))  # the device is the first sense, and stands second in data.noun
    assert found["mouse#1"] is found["computer_mouse#1"]
    assert found["mouse#2"].labels == ("mouse",)


def test_hypernyms_are_broader() -> None:
    content = read(SAMPLE)
    assert {("laptop#1", "calculating_machine#1"), ("laptop#1", "carry-on#1")} <= texts(
        content.broader
    )
    assert len(content.broader) == (SAMPLE / "data.noun").read_text().count(" @ ")
    assert content.same == ()


def test_instances_are_individuals_and_what_has_instances_is_a_concept() -> None:
    content = read(SAMPLE)
    found = by_name(content)
    assert texts(content.instances) == {
        ("Analytical_Engine#1", "calculating_machine#1"),
        ("Mill_of_1910#1", "Analytical_Engine#1"),
        ("Lovelace#1", "computer#2"),
        ("Old_Smoke#1", "town#1"),
    }
    assert found["Ada_Lovelace#1"].kinds == CONCEPT | INDIVIDUAL
    assert found["Ada_Lovelace#1"].labels == ("Ada Lovelace", "Lovelace")
    assert found["Analytical_Engine#1"].kinds == CONCEPT | INDIVIDUAL
    assert found["Old_Smoke#1"].kinds == CONCEPT | INDIVIDUAL
    assert found["town#1"].kinds == CONCEPT


def test_every_statement_has_its_place() -> None:
    draft = Draft()
    read_wordnet(SAMPLE, draft)
    data = str(SAMPLE / "data.noun")
    assert draft.broader[sense("beast#1"), sense("whole_thing#1")] == Place(data, 4)
    assert draft.instances[sense("Lovelace#1"), sense("computer#2")] == Place(data, 14)


def test_one_file_is_read_as_its_folder() -> None:
    assert read(SAMPLE / "data.noun") == read(SAMPLE)


def test_verbs_are_named_apart(tmp_path: Path) -> None:
    (tmp_path / "data.verb").write_text(
        "00000000 38 v 01 move 0 000 01 + 02 00 | change the place  \n"
        "00000060 38 v 02 run 0 leg_it 1 001 @ 00000000 v 0000 02 + 02 00 + 22 01 | move fast  \n"
    )
    (tmp_path / "index.verb").write_text(
        "leg_it v 1 1 @ 1 0 00000060  \nmove v 1 0 1 0 00000000  \nrun v 1 1 @ 1 0 00000060  \n"
    )
    content = read(tmp_path / "data.verb")
    assert texts(content.broader) == {("run#v1", "move#v1")}
    assert by_name(content)["leg_it#v1"].labels == ("leg it", "run")
    assert not is_wordnet(tmp_path)


def test_adjectives_lose_their_markers(tmp_path: Path) -> None:
    (tmp_path / "data.adj").write_text(
        "00000000 00 a 01 near 0 001 & 00000070 a 0000 | not far  \n"
        "00000070 00 s 03 Handy(a) 0 ready_to_hand(p) 0 galore(ip) 0 000 | very near  \n"
    )
    (tmp_path / "index.adj").write_text(
        "galore a 1 1 & 1 0 00000070  \nhandy a 1 1 & 1 0 00000070  \n"
        "near a 1 1 & 1 0 00000000  \nready_to_hand a 1 1 & 1 0 00000070  \n"
    )
    content = read(tmp_path / "data.adj")
    assert by_name(content)["Handy#a1"].names == ("Handy#a1", "galore#a1", "ready_to_hand#a1")
    assert by_name(content)["near#a1"].kinds == CONCEPT
    assert content.broader == ()


def test_words_are_counted_in_hexadecimal(tmp_path: Path) -> None:
    words = [f"w{n}" for n in range(18)]
    (tmp_path / "data.noun").write_text(
        f"00000000 03 n 12 {' 0 '.join(words)} 0 000 | one with many names  \n"
    )
    (tmp_path / "index.noun").write_text(
        "".join(f"{word} n 1 0 1 0 00000000  \n" for word in words)
    )
    assert set(by_name(read(tmp_path))) == {f"{word}#1" for word in words}


def test_adverbs_are_named_apart(tmp_path: Path) -> None:
    (tmp_path / "data.adv").write_text("00000000 02 r 01 well 0 000 | as it should be  \n")
    (tmp_path / "index.adv").write_text("well r 1 0 1 0 00000000  \n")
    assert list(by_name(read(tmp_path / "data.adv"))) == ["well#r1"]


def test_which_paths_are_wordnets(tmp_path: Path) -> None:
    assert is_wordnet(SAMPLE)
    assert is_wordnet(SAMPLE / "data.noun")
    assert not is_wordnet(SAMPLE / "index.noun")
    assert not is_wordnet(tmp_path)
    assert not is_wordnet(tmp_path / "shop.yaml")


@pytest.mark.parametrize(
    ("file", "old", "new", "line", "reason"),
    [
        ("data.noun", "| anything", "anything", 3, "no gloss"),
        ("data.noun", "0 critter 0 001 @", "0 critter 0 002 @", 4, "fewer words or pointers"),
        ("data.noun", "02 beast", "00 beast", 4, "invalid literal for int"),
        ("data.noun", "n 02 beast", "n 2x beast", 4, "invalid literal for int"),
        ("data.noun", "03 n 02 beast", "03 v 02 beast", 4, "no synset of type n"),
        ("data.noun", "00000226 03", "beast 03", 4, "no synset of type n"),
        ("data.noun", "00000226 03 n 02 beast", "00000226 |", 4, "index out of range"),
        ("data.noun", "00000319 03", "00000226 03", 5, "does not list 'machine'"),
        ("data.noun", "@ 00000396 n", "@ 00000397 n", 7, "laptop#1 points to 00000397"),
        ("data.noun", "@i 00001371 n", "@i 00001372 n", 15, "Old_Smoke#1 points to 00001372"),
        ("data.noun", "carry-on", "carry_on", 8, "index.noun does not list 'carry_on'"),
        ("data.noun", "\n00000226", "\n\n00000226", 4, "no gloss"),
        ("index.noun", "beast n 1 1 @ 1 0", "beast n 2 1 @ 1 0", 5, "with 2 offsets"),
        ("index.noun", "beast n 1 1", "beast v 1 1", 5, "no entry of type n"),
        ("index.noun", "beast n 1 1 @ 1 0 00000226", "beast", 5, "not enough values"),
        ("index.noun", "beast n 1 1 @", "beast n one 1 @", 5, "invalid literal"),
        ("index.noun", "fog n 1 1 @ 1 0 ", "fog n 2 1 @ 2 0 99999999 ", 11, "'fog' is in"),
    ],
)
def test_a_bad_line_is_named(
    copy: Path, file: str, old: str, new: str, line: int, reason: str
) -> None:
    spoil(copy / file, old, new)
    with pytest.raises(KnowledgeError) as raised:
        read(copy)
    assert str(raised.value).startswith(f"{copy / file}:{line}: ")
    assert reason in str(raised.value)


def test_a_second_synset_of_one_offset_is_refused(copy: Path) -> None:
    data = copy / "data.noun"
    data.write_text(data.read_text() + data.read_text().splitlines()[3] + "\n")
    with pytest.raises(KnowledgeError, match=r"data\.noun:18: .*a second synset 00000226"):
        read(copy)


def test_bad_text_is_named(copy: Path) -> None:
    data = copy / "data.noun"
    data.write_bytes(data.read_bytes().replace(b"critter", b"critt\xe9r"))
    with pytest.raises(KnowledgeError, match=r"data\.noun:4: .*can't decode"):
        read(copy)


@pytest.mark.parametrize("file", ["data.noun", "index.noun"])
def test_a_cut_file_is_refused_wherever_it_was_cut(copy: Path, file: str) -> None:
    whole = (copy / file).read_bytes()
    for end in range(len(whole)):
        (copy / file).write_bytes(whole[:end])
        with pytest.raises(KnowledgeError, match=r"data\.noun|index\.noun"):
            read(copy)


@pytest.mark.parametrize("file", ["data.noun", "index.noun"])
def test_a_missing_file_is_named(copy: Path, file: str) -> None:
    (copy / file).unlink()
    with pytest.raises(KnowledgeError, match=rf"{file}: No such file .*beside each other"):
        read(copy)


def test_files_without_a_synset_are_refused(copy: Path) -> None:
    for file in ("data.noun", "index.noun"):
        (copy / file).write_text("  1 a licence  \n")
    with pytest.raises(KnowledgeError, match=r"index\.noun is empty"):
        read(copy)


def test_another_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match=r"expected a folder of WordNet, or data\.noun"):
        read(tmp_path / "shop.yaml")


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real WordNet: where it is said to be, where Debian puts it, or Debian's package."""
    said = os.environ.get("SENSEWIRE_WORDNET")
    if said is not None:
        return Path(said)
    installed = Path("/usr/share/wordnet")
    if is_wordnet(installed):
        return installed
    folder = tmp_path_factory.mktemp("wordnet")
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        pytest.skip("no WordNet: set SENSEWIRE_WORDNET to the folder that holds its data.noun")
    fetched = subprocess.run(["apt-get", "download", "wordnet-base"], cwd=folder, check=False)
    packages = list(folder.glob("*.deb"))
    if fetched.returncode or not packages:
        pytest.skip("apt-get cannot download wordnet-base; set SENSEWIRE_WORDNET to its folder")
    subprocess.run(["dpkg", "-x", str(packages[0]), str(folder)], check=True)
    return folder / "usr/share/wordnet"


@pytest.mark.long
def test_all_nouns_of_wordnet(wordnet: Path) -> None:
    started = time.perf_counter()
    content = read(wordnet)
    assert time.perf_counter() - started < 20  # on a slow machine; about 3 s on a usual one
    found = by_name(content)
    lines = (wordnet / "data.noun").read_bytes().splitlines()
    assert len(content.entities) == sum(not line.startswith(b"  ") for line in lines)

    hierarchy = networkx.DiGraph(content.broader)
    assert networkx.is_directed_acyclic_graph(hierarchy)
    for low, high in (("dog#1", "animal#1"), ("laptop#1", "computer#1"), ("car#1", "entity#1")):
        assert networkx.has_path(hierarchy, found[low].term, found[high].term)
    assert not networkx.has_path(hierarchy, found["dog#1"].term, found["computer#1"].term)

    assert found["Einstein#1"].kinds == CONCEPT | INDIVIDUAL
    assert (found["Einstein#1"].term, found["physicist#1"].term) in content.instances
    assert "hot dog" in found["hot_dog#1"].labels


@pytest.mark.long
@pytest.mark.parametrize(
    ("ending", "name"), [("verb", "run#v1"), ("adj", "good#a1"), ("adv", "well#r1")]
)
def test_the_other_parts_of_speech(wordnet: Path, ending: str, name: str) -> None:
    content = read(wordnet / f"data.{ending}")
    lines = (wordnet / f"data.{ending}").read_bytes().splitlines()
    assert len(content.entities) == sum(not line.startswith(b"  ") for line in lines)
    assert name in by_name(content)
    assert not [each for each in content.entities if any("(" in word for word in each.names)]
    assert networkx.is_directed_acyclic_graph(networkx.DiGraph(content.broader))
