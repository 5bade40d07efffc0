"""Subscriptions and events of one condition each, in words that were changed in known ways.

A class is written by any of its names, or by those of what is narrower; held-out parts write words
that are misspelt, plural, German, ambiguous, or another's.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

import yaml

from workloads.lexicon import PROPERTY, Lexicon, Stated, ends, folded

ATTRIBUTE = "type"


class Spelling(NamedTuple):
    """The words that someone may write for one class, by what the rule makes of them."""

    clear: tuple[str, ...]  # this class and no other
    ambiguous: tuple[str, ...]  # this one and others
    mistaken: tuple[str, ...]  # only others


def spelling(lexicon: Lexicon, root: str) -> Spelling:
    """The names of a class and its synonyms, also in other case and with other spaces."""
    found: tuple[list[str], ...] = ([], [], [])
    written = {*lexicon.addresses.get(root, ())}
    for word in lexicon.spelt[root]:
        spaced = word.replace("_", " ")
        written |= {word, word.lower(), word.upper(), spaced, spaced.title()}
        written.add(word.replace(" ", "_"))
    for word in sorted(written - {"Thing"}):  # which is everything
        meanings = lexicon.meanings(word)
        found[0 if meanings == {root} else 1 if root in meanings else 2].append(word)
    return Spelling(*map(tuple, found))


def is_plain(word: str) -> bool:
    """Whether people write a word so: no IRI, no prefix, no number of a sense."""
    return word.isascii() and word.replace("_", "").replace(" ", "").isalpha()


def misspelt(word: str, random: Random) -> str:
    """The word with one letter left out, put in, replaced, or exchanged with the next."""
    while True:
        at = random.randrange(len(word))
        letter = random.choice("abcdefghijklmnopqrstuvwxyz")
        edits = (
            word[:at] + word[at + 1 :],
            word[:at] + letter + word[at:],
            word[:at] + letter + word[at + 1 :],
            word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :],
        )
        made = random.choice(edits)
        if made and folded(made) != folded(word):
            return made


def plural(word: str) -> str:
    """The word in the plural, by the rules of English that have no exceptions listed."""
    lower = word.lower()
    if lower.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if lower.endswith("y") and lower[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


GERMAN = {
    "Brick": {
        "Fühler": "Sensor",
        "Temperaturfühler": "Temperature_Sensor",
        "Außenlufttemperaturfühler": "Outside_Air_Temperature_Sensor",
        "Bewegungsmelder": "Motion_Sensor",
        "Sollwert": "Setpoint",
        "Stellbefehl": "Command",
        "Störmeldung": "Alarm",
        "Lüftungsgerät": "Air_Handling_Unit",
        "Ventilator": "Fan",
        "Pumpe": "Pump",
        "Heizkessel": "Boiler",
        "Kältemaschine": "Chiller",
        "Kühlturm": "Cooling_Tower",
        "Aufzug": "Elevator",
        "Stromzähler": "Electrical_Meter",
        "Stockwerk": "Floor",
    },
    "WordNet": {
        "Hund": "dog#1",
        "Katze": "cat#1",
        "Pferd": "horse#1",
        "Eiche": "oak#2",
        "Tisch": "table#2",
        "Schraubenzieher": "screwdriver#1",
        "Fahrrad": "bicycle#1",
        "Geige": "violin#1",
        "Käse": "cheese#1",
        "Ärztin": "doctor#1",
        "Schadenersatz": "damages#1",
        "Gewitter": "thunderstorm#1",
    },
}
"""Words that no file knows, with the names of what they mean."""


# Cases: who asks for what, and who tells what


class Said(NamedTuple):
    """What a subscription asks for, or what an event tells: an attribute, a word, what is meant."""

    word: str
    meant: str
    attribute: str = ATTRIBUTE
    test: str = "="

    def subscription(self) -> str:
        """It as a subscription."""
        return f"{_quoted(self.attribute)} {self.test} {_quoted(self.word)}"


def _quoted(word: str) -> str:
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the measure; every word of a part that is not held out has one meaning."""

    name: str
    subscriptions: Sequence[Said]
    events: Sequence[Said]
    held_out: bool = True


Words = Callable[[str], Sequence[str]]
"""The words that may be written for a class; none where it has no such word."""


class Source:
    """Knowledge files, what they mean, and the drawing of cases from them."""

    def __init__(self, name: str, path: Path, stated: Stated) -> None:
        self.name = name
        self.path = path
        self.loading = 0.0  # seconds
        self.lexicon = Lexicon(stated)
        self.told = sorted(root for root in self.lexicon.spelt if len(self.lexicon.above(root)) > 1)
        self._spellings: dict[str, Spelling] = {}

    def spelling(self, root: str) -> Spelling:
        """How a class may be written."""
        if root not in self._spellings:
            self._spellings[root] = spelling(self.lexicon, root)
        return self._spellings[root]

    def clear(self, root: str) -> Sequence[str]:
        """The words that mean a class and no other."""
        return self.spelling(root).clear

    def plain(self, root: str) -> Sequence[str]:
        """Those of them that are words as people write them."""
        return [word for word in self.clear(root) if is_plain(word)]

    def subscriptions(
        self, random: Random, count: int, words: Words, of: Collection[str] = ()
    ) -> list[Said]:
        """Subscriptions for classes that have others below; `of`: that are above one of these."""
        wanted = self.lexicon.inner.intersection(*([self._above(of)] if of else ()))
        pool = [root for root in sorted(wanted) if words(root)]
        found = [random.choice(pool) for _ in range(count if pool else 0)]
        return [
            Said(random.choice(words(root)), root, test=random.choice(("=", "is a")))
            for root in found
        ]

    def _above(self, roots: Iterable[str]) -> set[str]:
        return set().union(*map(self.lexicon.above, roots))

    def events(
        self, random: Random, count: int, words: Words, subscriptions: Sequence[Said]
    ) -> list[Said]:
        """A third tell of a class that is asked for, a third of one below it, a third of any."""
        found: list[Said] = []
        if not (subscriptions and any(map(words, self.told))):
            return found
        while len(found) < count:
            root = random.choice(subscriptions).meant
            drawn = random.choice(([root], self.lexicon.below(root), self.told))
            meant = random.choice(drawn)
            if written := words(meant):
                found.append(Said(random.choice(written), meant))
        return found


def parts(source: Source, seed: int, subscriptions: int, events: int) -> Iterator[Part]:
    """The parts that are drawn from one source, each with its own generator.

    A part is empty where a small source has no such words.
    """
    spelling, clear, plain = source.spelling, source.clear, source.plain

    def drawn(name: str, asked: Words, told: Words, held_out: bool = True) -> Part:
        random = Random(f"{seed} {source.name} {name}")
        standing = source.subscriptions(random, subscriptions, asked)
        return Part(name, standing, source.events(random, events, told, standing), held_out)

    def each(change: Callable[[str, Random], str], name: str) -> Words:
        random = Random(f"{seed} {source.name} {name} words")
        return lambda root: [change(word, random) for word in plain(root)]

    yield drawn("one meaning", clear, clear, held_out=False)
    yield drawn("misspelt in the event", clear, each(misspelt, "events"))
    yield drawn("misspelt in the subscription", each(misspelt, "subscriptions"), clear)
    yield drawn("plural in the event", clear, each(lambda word, _: plural(word), "plural"))
    german = defaultdict(list)
    for word, name in GERMAN[source.name].items():
        for root in source.lexicon.meanings(name):
            german[root].append(word)
    if german:
        random = Random(f"{seed} {source.name} German")
        standing = source.subscriptions(random, subscriptions, clear, of=german)
        told = [random.choice(sorted(german)) for _ in range(events)]
        said = [Said(random.choice(german[root]), root) for root in told]
        yield Part("German in the event", standing, said)
    yield drawn("ambiguous in the event", clear, lambda root: spelling(root).ambiguous)
    yield ambiguous(source, Random(f"{seed} {source.name} ambiguous"), subscriptions, events)
    yield drawn("another's word in the event", clear, lambda root: spelling(root).mistaken)


def ambiguous(source: Source, random: Random, subscriptions: int, events: int) -> Part:
    """Subscriptions in ambiguous words, and events in the same words with any of their meanings."""
    standing = source.subscriptions(
        random, subscriptions, lambda root: source.spelling(root).ambiguous
    )
    words = [random.choice(standing).word for _ in range(events if standing else 0)]
    told = [Said(word, random.choice(sorted(source.lexicon.meanings(word)))) for word in words]
    return Part("ambiguous in both", standing, told)


def with_attributes(source: Source, attributes: Lexicon, part: Part, random: Random) -> Part:
    """The part with attributes by all their names, of which every class may stand under any."""
    names = [(root, word) for root in sorted(attributes.spelt) for word in attributes.spelt[root]]
    assert not any(source.lexicon.meanings(word) for _, word in names), "attributes known as words"
    written = [form for _, word in sorted(names) for form in (word, word.upper(), word.title())]

    def under(said: Said) -> Said:
        return said._replace(attribute=random.choice(written).replace("_", random.choice("_ ")))

    return Part(
        "one meaning, attributes renamed",
        [*map(under, part.subscriptions)],
        [*map(under, part.events)],
        held_out=False,
    )


def stated_in_yaml(path: Path) -> Stated:
    """The attributes of a knowledge file: synonyms, and properties below others."""
    stated = Stated()
    content = yaml.safe_load(path.read_text())
    stated.same = [(root, other) for root, all in content["synonyms"].items() for other in all]
    stated.broader = [*content["properties"].items()]
    for name in ends(stated.same, stated.broader):
        stated.entity(name, PROPERTY)
        stated.names[name] = [name]
    return stated
