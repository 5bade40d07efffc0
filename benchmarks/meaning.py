"""How often meaning finds what words miss: precision and recall on renamed and narrower words.

A subscription asks for a class X, an event tells of a class Y, each by some name that it has. The
truth is Y ⊑ X. It comes from the raw files (Brick's triples as pyoxigraph reads them, the lines
of WordNet's noun files) and from networkx; Sensewire has no part in it. Three contenders answer:

    exact    the event's word is the subscription's, letter by letter
    folded   the same with case folded, space and underscore alike
    ours     sensewire.Engine, with the knowledge loaded

Where every word has one meaning, ours must be right every time. The other parts are held out:
misspelt, plural, German and ambiguous words, and words that are another's, where knowing names does
not help. Even there the definition says what ours must answer (`Lexicon.meanings` restates its
rule). The run fails after its tables, with the cases, where ours answers anything else.

    python benchmarks/meaning.py [--wordnet FOLDER] [--seed N] [--events N] [--subscriptions N]
                                 [--quick] [--out FILE]
"""

import argparse
import gc
import os
import platform
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import product
from pathlib import Path
from random import Random
from time import perf_counter
from typing import NamedTuple

from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.parse import parse
from sensewire.model.errors import SubscriptionError
from sensewire.model.event import Event
from workloads.lexicon import (
    Lexicon,
    Stated,
    brick_file,
    folded,
    stated_in_turtle,
    stated_in_wordnet,
)
from workloads.renamed_words import Part, Source, parts, stated_in_yaml, with_attributes

ATTRIBUTES = Path(__file__).with_name("meaning.yaml")


# Contenders: each answers with the subscriptions of every event

CONTENDERS = ("exact", "folded", "ours")
Answers = list[set[int]]
Key = tuple[str, str]


def indexed(keys: Iterable[Key | None]) -> dict[Key, list[int]]:
    """Subscriptions by the one key each stands under; None: refused."""
    index: dict[Key, list[int]] = defaultdict(list)
    for number, key in enumerate(keys):
        if key is not None:
            index[key].append(number)
    return index


def looked_up(index: Mapping[Key, Sequence[int]], events: Iterable[Iterable[Key]]) -> Answers:
    """The subscriptions that stand under one of an event's keys."""
    return [{number for key in keys for number in index.get(key, ())} for keys in events]


def exact(part: Part) -> Answers:
    """The same attribute and word."""
    index = indexed((each.attribute, each.word) for each in part.subscriptions)
    return looked_up(index, ([(each.attribute, each.word)] for each in part.events))


def alike(part: Part) -> Answers:
    """The same attribute and word, folded."""
    index = indexed((folded(each.attribute), folded(each.word)) for each in part.subscriptions)
    return looked_up(index, ([(folded(each.attribute), folded(each.word))] for each in part.events))


def truth(part: Part, lexicon: Lexicon, attributes: Lexicon) -> Answers:
    """Everything whose meaning is what was meant."""
    index = indexed((_read(each.attribute, attributes), each.meant) for each in part.subscriptions)
    return looked_up(
        index,
        (
            product(_above(each.attribute, attributes), lexicon.above(each.meant))
            for each in part.events
        ),
    )


def by_the_rule(part: Part, lexicon: Lexicon, attributes: Lexicon) -> Answers:
    """What the definition makes of the words, whatever was meant."""
    index = indexed(
        None
        if len(lexicon.meanings(each.word)) > 1
        else (_read(each.attribute, attributes), _read(each.word, lexicon))
        for each in part.subscriptions
    )
    return looked_up(
        index,
        (
            product(_above(each.attribute, attributes), _above(each.word, lexicon))
            for each in part.events
        ),
    )


def _read(word: str, lexicon: Lexicon) -> str:
    """What a word is read as: its one meaning, else itself as a plain string."""
    meanings = lexicon.meanings(word)
    return min(meanings) if len(meanings) == 1 else f"plain {word}"


def _above(word: str, lexicon: Lexicon) -> frozenset[str]:
    return lexicon.above(_read(word, lexicon))


class Run(NamedTuple):
    """What our engine answered, and how long it took for it."""

    answers: Answers
    refused: int
    parsing: float
    adding: float
    matching: float


def ours(part: Part, knowledge: Knowledge) -> Run:
    """The engine's answers; a subscription that it refuses is counted and left out."""
    started = perf_counter()
    subscriptions = [parse(each.subscription()) for each in part.subscriptions]
    parsed = perf_counter()
    engine = Engine(knowledge)
    refused = 0
    for number, subscription in enumerate(subscriptions):
        try:
            engine.add(subscription, id=str(number))
        except SubscriptionError:
            refused += 1
    added = perf_counter()
    events = [Event.record({each.attribute: each.word}, id="event") for each in part.events]
    ready = perf_counter()
    matched = [engine.match(event) for event in events]
    done = perf_counter()
    answers = [{int(match.subscription) for match in matches} for matches in matched]
    return Run(answers, refused, parsed - started, added - parsed, done - ready)


# Measure and report


class Score(NamedTuple):
    """Right answers, all answers and all that should have been given."""

    right: int
    given: int
    wanted: int

    def figures(self) -> tuple[str, str]:
        """Precision and recall; `-` where nothing was given, or nothing to be found."""
        return _share(self.right, self.given), _share(self.right, self.wanted)


def _share(some: int, all: int) -> str:
    """A share, cut and not rounded: 1.000 is all of them."""
    return f"{some * 1_000 // all / 1_000:.3f}" if all else "-"


def score(answers: Answers, wanted: Answers) -> Score:
    """Precision and recall over all pairs of an event and a subscription."""
    right = sum(len(given & each) for given, each in zip(answers, wanted, strict=True))
    return Score(right, sum(map(len, answers)), sum(map(len, wanted)))


def wrong(part: Part, answers: Answers, expected: Answers) -> Iterator[str]:
    """What was answered otherwise than it must be."""
    for event, given, wanted in zip(part.events, answers, expected, strict=True):
        for number in sorted(given ^ wanted):
            asked = part.subscriptions[number]
            yield (
                f"{part.name}: {event.attribute} {event.word!r} (meant: {event.meant}) "
                f"{'must' if number in wanted else 'must not'} match "
                f"{asked.subscription()} (meant: {asked.meant})"
            )


class Measured(NamedTuple):
    """One part's row in the two tables, and where ours was wrong."""

    source: Source
    part: Part
    scores: Mapping[str, Score]  # by contender
    run: Run
    looking_up: float  # the time of `folded`
    wrong: Sequence[str]


def measure(source: Source, part: Part, knowledge: Knowledge, attributes: Lexicon) -> Measured:
    """Let the contenders answer, score all of them, and check ours."""
    gc.collect()  # what the part before left behind
    run = ours(part, knowledge)
    gc.collect()
    started = perf_counter()
    by_folding = alike(part)
    looking_up = perf_counter() - started
    wanted = truth(part, source.lexicon, attributes)
    due = by_the_rule(part, source.lexicon, attributes)
    assert part.held_out or due == wanted, f"{part.name}: a word of another meaning was drawn"
    answers = {"exact": exact(part), "folded": by_folding, "ours": run.answers}
    scores = {name: score(each, wanted) for name, each in answers.items()}
    failed = [*wrong(part, run.answers, due)]
    return Measured(source, part, scores, run, looking_up, failed)


def measured(arguments: argparse.Namespace) -> Iterator[Measured]:
    """Every part of every source."""
    seed, subscriptions, events = arguments.seed, arguments.subscriptions, arguments.events
    brick = brick_file()
    sources = [Source("Brick", brick, stated_in_turtle(brick))]
    if arguments.wordnet is not None:
        sources.append(Source("WordNet", arguments.wordnet, stated_in_wordnet(arguments.wordnet)))
    attributes, none = Lexicon(stated_in_yaml(ATTRIBUTES)), Lexicon(Stated())
    for source in sources:
        started = perf_counter()
        knowledge = Knowledge.load(source.path)
        source.loading = perf_counter() - started
        with_names = Knowledge.load(source.path, ATTRIBUTES)
        for part in parts(source, seed, subscriptions, events):
            if not part.events:
                continue
            yield measure(source, part, knowledge, none)
            if not part.held_out:
                renamed = with_attributes(source, attributes, part, Random(f"{seed} attributes"))
                yield measure(source, renamed, with_names, attributes)


def tables(rows: Iterable[Measured]) -> tuple[list[list[str]], list[list[str]]]:
    """How good the answers are, and how long they took."""
    quality = [
        ["from", "words", "asked", "refused", "events", "true pairs"]
        + [f"{name} {figure}" for name in CONTENDERS for figure in ("P", "R")]
    ]
    speed = [
        ["from", "words", "load s", "parse s", "add s", "match s", "events/s", "match : folded"]
    ]
    for source, part, scores, run, looking_up, _ in rows:
        pairs = scores["ours"].wanted
        counts = (len(part.subscriptions), run.refused, len(part.events), pairs)
        figures = (figure for name in CONTENDERS for figure in scores[name].figures())
        quality.append([source.name, part.name, *(f"{count:,}" for count in counts), *figures])
        times = (source.loading, run.parsing, run.adding, run.matching)
        rate = f"{len(part.events) / run.matching:,.0f}"
        ratio = f"{run.matching / looking_up:,.0f} : 1"
        speed.append([source.name, part.name, *(f"{each:.2f}" for each in times), rate, ratio])
    return quality, speed


def aligned(table: Sequence[Sequence[str]]) -> str:
    """A table as plain text: two columns of words, the others of figures."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in table
    )


def markdown(table: Sequence[Sequence[str]]) -> str:
    """The same table as Markdown."""
    head, *body = ("| " + " | ".join(row) + " |" for row in table)
    return "\n".join((head, "|" + "---|" * 2 + "--:|" * (len(table[0]) - 2), *body))


def circumstances(arguments: argparse.Namespace) -> str:
    """What the run depended on: seed, commit, versions and machine."""
    packages = ("sensewire", "brickschema", "networkx", "pyoxigraph")
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    wordnet = ""
    if arguments.wordnet is not None:
        text = (arguments.wordnet / "data.noun").read_text()
        found = re.search(r"WordNet [0-9.]+[0-9]", text[:2_000])
        wordnet = f", {found[0] if found else 'WordNet'}"
    return (
        f"Seed {arguments.seed}; commit {_commit()}; Python {platform.python_version()}, "
        f"{versions}, Brick {brick_file().parent.name}{wordnet}; "
        f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}."
    )


def _commit() -> str:
    """The commit that is checked out, and whether files differ from it."""
    folder = Path(__file__).parent
    try:
        said = [
            subprocess.run(
                ["git", *command], cwd=folder, capture_output=True, text=True, check=True
            ).stdout.strip()
            for command in (("rev-parse", "--short", "HEAD"), ("status", "--porcelain"))
        ]
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return said[0] + (" with changes" if said[1] else "")


def read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description="Precision and recall of matching by meaning.")
    parser.add_argument("--wordnet", type=Path, metavar="FOLDER", help="WordNet's noun files")
    parser.add_argument("--seed", type=int, default=2003)
    parser.add_argument("--events", type=int, metavar="N", help="of each part")
    parser.add_argument("--subscriptions", type=int, metavar="N", help="of each part")
    parser.add_argument("--quick", action="store_true", help="300 events, 100 subscriptions")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the tables as Markdown")
    found = parser.parse_args(arguments)
    found.events = found.events or (300 if found.quick else 10_000)
    found.subscriptions = found.subscriptions or (100 if found.quick else 1_000)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, write what was printed where asked, and fail where ours was wrong."""
    given = read_arguments(arguments)
    about = circumstances(given)
    rows = [*measured(given)]
    quality, speed = tables(rows)
    failed = [each for row in rows for each in row.wrong]
    verdict = f"Answers of ours that the definition does not give: {len(failed):,}."
    print(about, aligned(quality), aligned(speed), verdict, sep="\n\n")
    if given.out is not None:
        text = ("# Meaning", about, markdown(quality), verdict, "## Speed", markdown(speed))
        given.out.write_text("\n\n".join(text) + "\n")
    if failed:
        raise SystemExit("\n".join(("", *failed[:20])))


if __name__ == "__main__":
    main()
