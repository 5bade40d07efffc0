"""The measure of meaning, in small: ours is right where words are clear, and a wrong answer shows.

Proved by breaking: equivalent classes left out of the truth, narrower read as broader, labels left
out of the rule, individuals without their classes, attributes all in one family, and answers of the
engine left out: each made a run fail.
"""

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from benchmarks import meaning
from benchmarks.meaning import Score
from sensewire.knowledge.knowledge import Knowledge
from workloads import lexicon, renamed_words
from workloads.lexicon import CONCEPT, INDIVIDUAL, Lexicon, Stated
from workloads.renamed_words import Part, Said, Source

ROOT = Path(__file__).parent.parent.parent
WORDNET = ROOT / "tests" / "knowledge" / "wordnet_sample"
SMALL = ["--quick", "--events", "90", "--subscriptions", "60"]


@pytest.mark.long
def test_a_small_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "meaning.md"
    meaning.main([*SMALL, "--wordnet", str(WORDNET), "--out", str(out)])
    printed = capsys.readouterr().out
    clear = [line.split() for line in printed.splitlines() if " one meaning" in line]
    quality = [line for line in clear if line[-1] != "1"]  # the other table ends in ratios
    assert [line[0] for line in quality] == ["Brick", "Brick", "WordNet", "WordNet"]
    assert all(line[-2:] == ["1.000", "1.000"] for line in quality)
    assert all(float(line[-3]) < 0.5 for line in quality)  # folded words find few of them
    assert "the definition does not give: 0." in printed
    written = out.read_text()
    assert written.startswith("# Meaning\n\nSeed 2003; commit ")
    assert "| Brick | ambiguous in both | 60 | 60 | 90 |" in written


def test_a_truth_that_says_otherwise_is_seen() -> None:
    """Equivalent classes are one to ours; a truth without them calls that wrong."""
    brick = lexicon.brick_file()
    stated = lexicon.stated_in_turtle(brick)
    stated.same = []
    source = Source("Brick", brick, stated)
    part = next(renamed_words.parts(source, 1, 300, 300))
    row = meaning.measure(source, part, Knowledge.load(brick), Lexicon(Stated()))
    assert any("must not match" in each for each in row.wrong)
    assert row.scores["ours"].given > row.scores["ours"].right


def test_a_wrong_answer_fails_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    brick = lexicon.brick_file()
    source = Source("WordNet", WORDNET, lexicon.stated_in_wordnet(WORDNET))
    part = next(renamed_words.parts(source, 1, 5, 5))
    row = meaning.measure(source, part, Knowledge.load(brick), Lexicon(Stated()))
    monkeypatch.setattr(meaning, "measured", lambda _: [row])
    with pytest.raises(SystemExit, match=r"one meaning: type .* must match"):
        meaning.main([])
    assert f"the definition does not give: {len(row.wrong)}." in capsys.readouterr().out


def test_an_answer_that_is_missing_is_named() -> None:
    part = Part("small", [Said("Sensor", "b:Sensor", test="is a")], [Said("Meter", "b:Meter")])
    (case,) = meaning.wrong(part, [set()], [{0}])
    assert case == (
        """small: type 'Meter' (meant: b:Meter) must match "type" is a "Sensor" (meant: b:Sensor)"""
    )


def test_a_seed_is_one_draw() -> None:
    """Also in processes that hash texts differently."""
    code = (
        "import meaning as m; from hashlib import sha256;"
        f"path = m.Path({str(WORDNET)!r});"
        "source = m.Source('WordNet', path, m.stated_in_wordnet(path));"
        "print(*(sha256(repr([*m.parts(source, seed, 20, 40)]).encode()).hexdigest()"
        "        for seed in (1, 2)))"
    )
    digests = [
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT / "benchmarks",
            env={**os.environ, "PYTHONHASHSEED": str(hashing)},
            capture_output=True,
            check=True,
        ).stdout.split()
        for hashing in (1, 2)
    ]
    assert digests[0] == digests[1]
    assert len(set(digests[0])) == 2


def test_the_rule() -> None:
    stated = Stated(prefixes={"x": "http://x.org/"})
    for key, rank, name, label in (
        ("http://x.org/a", CONCEPT, "Fan", "Ventilator"),
        ("http://x.org/b", INDIVIDUAL, "Fan", "Fan"),
        ("http://x.org/c", CONCEPT, "Pump", "Fan"),
        ("http://x.org/d", CONCEPT, "Pump_2", "Lift"),
        ("http://x.org/e", CONCEPT, "Elevator", "lift"),
    ):
        stated.entity(key, rank)
        stated.names[key] = [name]
        stated.labels[key] = [label]
    lexicon = Lexicon(stated)
    read = {
        word: "".join(sorted(key[-1] for key in lexicon.meanings(word)))
        for word in ("http://x.org/b", "x:b", "Fan", "fan", "Lift", "LIFT", "pump 2", "Pumps")
    }
    assert read == {
        "http://x.org/b": "b",
        "x:b": "b",
        "Fan": "a",  # by its name, which comes before the label, and a class before an individual
        "fan": "ac",
        "Lift": "d",
        "LIFT": "de",
        "pump 2": "d",
        "Pumps": "",
    }


def test_synonyms_and_classes_are_above() -> None:
    stated = Stated(
        broader=[("dog", "animal"), ("hound", "hunter")],
        same=[("dog", "hound")],
        classes=[("rex", "hound")],
    )
    for key in ("dog", "hound", "animal", "hunter", "rex"):
        stated.entity(key, CONCEPT)
    lexicon = Lexicon(stated)
    assert lexicon.above("rex") == {"rex", "dog", "animal", "hunter"}
    assert lexicon.below("animal") == ["dog", "rex"]
    assert lexicon.inner == {"animal", "hunter", "dog"}


def test_words_are_spoilt_once() -> None:
    random = Random(1)
    for _ in range(200):
        made = renamed_words.misspelt("Chilled_Beam", random)
        assert made.casefold() != "chilled_beam"
        assert abs(len(made) - len("Chilled_Beam")) <= 1
    assert [*map(renamed_words.plural, ("Sensor", "Box", "Battery", "Key"))] == [
        *("Sensors", "Boxes", "Batteries", "Keys")
    ]


def test_a_share_is_never_rounded_up() -> None:
    assert Score(9_999, 9_999, 10_000).figures() == ("1.000", "0.999")
    assert Score(0, 0, 3).figures() == ("-", "0.000")


def test_quotes_are_escaped() -> None:
    said = Said('a "b" \\c', "x")
    source = Part("quotes", [said], [said])
    assert meaning.ours(source, Knowledge()).answers == [{0}]


def test_every_german_word_has_its_meaning() -> None:
    brick = lexicon.brick_file()
    source = Source("Brick", brick, lexicon.stated_in_turtle(brick))
    for name in renamed_words.GERMAN["Brick"].values():
        assert len(source.lexicon.meanings(name)) == 1
