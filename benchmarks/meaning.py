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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from random import Random
from time import perf_counter
from typing import NamedTuple

import networkx
import pyoxigraph
import yaml

from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.parse import parse
from sensewire.model.errors import SubscriptionError
from sensewire.model.event import Event

ATTRIBUTES = Path(__file__).with_name("meaning.yaml")
ATTRIBUTE = "type"
CONCEPT, INDIVIDUAL, PROPERTY = range(3)
Pairs = set[tuple[int, int]]
"""(event, subscription): who gets what."""


# The truth: what the files state, read without Sensewire


def folded(word: str) -> str:
    """A word with case folded, space and underscore alike."""
    return word.casefold().replace("_", " ")


@dataclass(slots=True)
class Stated:
    """What a file states: entities (by any key) with their ranks, names and labels, and pairs."""

    ranks: dict[str, int] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    labels: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    broader: list[tuple[str, str]] = field(default_factory=list)
    same: list[tuple[str, str]] = field(default_factory=list)
    classes: list[tuple[str, str]] = field(default_factory=list)  # of individuals
    prefixes: dict[str, str] = field(default_factory=dict)

    def entity(self, key: str, rank: int) -> None:
        self.ranks[key] = min(rank, self.ranks.get(key, rank))


class Lexicon:
    """What words mean and what is narrower than what: the definition's rules, restated."""

    def __init__(self, stated: Stated) -> None:
        self._stated = stated
        synonyms = networkx.Graph(stated.same)
        self._root: dict[str, str] = {
            key: min(group) for group in networkx.connected_components(synonyms) for key in group
        }
        root = self.root
        upwards = (*stated.broader, *stated.classes)  # an individual is ⊑ its classes
        self._broader = networkx.DiGraph((root(a), root(b)) for a, b in upwards)
        self._broader.remove_edges_from(list(networkx.selfloop_edges(self._broader)))
        self._steps: list[dict[str, set[str]]] = [defaultdict(set) for _ in range(3)]
        self.spelt: dict[str, set[str]] = defaultdict(set)  # by root: every name and label
        for key in stated.ranks:
            names, labels = stated.names.get(key, []), stated.labels.get(key, [])
            for step, words in zip(self._steps, (names, labels), strict=False):
                for word in words:
                    step[word].add(key)
            for word in (*names, *labels):
                self._steps[2][folded(word)].add(key)
            self.spelt[root(key)].update(names, labels)
        self._above: dict[str, frozenset[str]] = {}
        self._below: dict[str, list[str]] = {}

    def root(self, key: str) -> str:
        """The one that stands for an entity and its synonyms."""
        return self._root.get(key, key)

    def meanings(self, word: str) -> frozenset[str]:
        """The roots that a word may stand for: the first step decides, in it the first kind.

        IRI, prefixed name, local name, label, then either of these folded; classes and concepts
        before individuals before properties.
        """
        prefix, _, local = word.partition(":")
        addresses = (word, self._stated.prefixes.get(prefix, "") + local)
        known = ({each} & self._stated.ranks.keys() for each in addresses if local)
        names, labels, alike = self._steps
        for hits in (*known, names.get(word), labels.get(word), alike.get(folded(word))):
            if hits:
                first = min(self._stated.ranks[hit] for hit in hits)
                return frozenset(self.root(hit) for hit in hits if self._stated.ranks[hit] == first)
        return frozenset()

    def above(self, root: str) -> frozenset[str]:
        """The roots that an entity is ⊑, itself included."""
        known = self._above.get(root)
        if known is None:
            found = networkx.descendants(self._broader, root) if root in self._broader else ()
            known = self._above[root] = frozenset((root, *found))
        return known

    def below(self, root: str) -> list[str]:
        """The roots that are ⊑ a root, itself left out, in a fixed order."""
        known = self._below.get(root)
        if known is None:
            known = self._below[root] = sorted(networkx.ancestors(self._broader, root))
        return known

    @cached_property
    def inner(self) -> set[str]:
        """The roots that have something below."""
        return {node for node, degree in self._broader.in_degree() if degree}

    @cached_property
    def addresses(self) -> dict[str, list[str]]:
        """The IRIs and prefixed names of each root, where the file has any."""
        found: dict[str, list[str]] = defaultdict(list)
        for prefix, start in self._stated.prefixes.items():
            for key in self._stated.ranks:
                if key.startswith(start) and len(key) > len(start):
                    found[self.root(key)] += (key, f"{prefix}:{key.removeprefix(start)}")
        return found


RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SHACL = "http://www.w3.org/ns/shacl#"
XSD = "http://www.w3.org/2001/XMLSchema#"
TOPS = (OWL + "Thing", RDFS + "Resource")
LABELS = (RDFS + "label", *(f"{SKOS}{kind}Label" for kind in ("pref", "alt", "hidden")))


def brick_file() -> Path:
    """The newest Brick that the package `brickschema` ships; the package is not imported."""
    spec = find_spec("brickschema")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("no package brickschema: pip install 'sensewire[brick]' brings it")
    folder = Path(spec.submodule_search_locations[0]) / "ontologies"
    versions = folder.glob("*.*/")
    return max(versions, key=lambda each: [*map(int, each.name.split("."))]) / "Brick.ttl"


def stated_in_turtle(path: Path) -> Stated:
    """What a Turtle file states: its classes, concepts, individuals, properties and their names."""
    stated = Stated()
    parser = pyoxigraph.parse(path=str(path), format=pyoxigraph.RdfFormat.TURTLE)
    triples: dict[str, list[tuple[str | None, str]]] = defaultdict(list)  # None: a blank node
    for quad in parser:
        subject = quad.subject.value if isinstance(quad.subject, pyoxigraph.NamedNode) else None
        if isinstance(quad.object, pyoxigraph.NamedNode):
            triples[quad.predicate.value].append((subject, quad.object.value))
        elif quad.predicate.value in LABELS and subject is not None:
            stated.labels[subject].append(quad.object.value)
    stated.prefixes = {prefix: start for prefix, start in parser.prefixes.items() if prefix}

    def pairs(*properties: str) -> list[tuple[str, str]]:
        every = (pair for property in properties for pair in triples[property])
        return [(one, other) for one, other in every if one is not None and one != other]

    narrower = pairs(SKOS + "narrower")
    upwards = (*pairs(RDFS + "subClassOf", SKOS + "broader"), *((b, a) for a, b in narrower))
    stated.broader = [(low, high) for low, high in upwards if high not in TOPS]
    stated.same = pairs(
        *(OWL + name for name in ("equivalentClass", "equivalentProperty", "sameAs")),
        SKOS + "exactMatch",
    )
    for node, type in triples[RDF + "type"]:
        if not type.startswith((RDF, RDFS, OWL, SKOS, SHACL)):
            stated.entity(type, CONCEPT)
        if node is None:
            continue
        if type in (OWL + "Class", RDFS + "Class", SKOS + "Concept"):
            stated.entity(node, CONCEPT)
        elif type.endswith("Property") and type.startswith((RDF, OWL)):
            stated.entity(node, PROPERTY)
        elif not type.startswith((RDF, RDFS, OWL, SKOS, SHACL)):
            stated.classes.append((node, type))
            stated.entity(node, INDIVIDUAL)
    for node in _ends(pairs(OWL + "equivalentClass", OWL + "disjointWith"), stated.broader):
        stated.entity(node, CONCEPT)
    for node in _ends(pairs(RDFS + "subPropertyOf", OWL + "equivalentProperty", OWL + "inverseOf")):
        stated.entity(node, PROPERTY)
    for property in (RDFS + "domain", RDFS + "range", SHACL + "class", SHACL + "targetClass"):
        for _, node in triples[property]:
            if not node.startswith(XSD) and node not in TOPS:
                stated.entity(node, CONCEPT)
    for _, node in triples[SHACL + "path"]:
        stated.entity(node, PROPERTY)
    for key in stated.ranks:
        cut = max(key.rfind("#"), key.rfind("/"))
        stated.names[key].append(key[(cut if cut >= 0 else key.rfind(":")) + 1 :])
    return stated


def _ends(*pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    return (end for each in pairs for pair in each for end in pair)


def stated_in_wordnet(folder: Path) -> Stated:
    """What WordNet's noun files state: synsets by offset, `dog#1` their names, words their labels.

    A line of the index ends with the word's synsets, the first sense first; a line of the data
    begins `offset number n count word number word number …`, then the pointers, four fields each.
    """
    stated = Stated()
    senses: dict[str, list[str]] = {}
    for line in _lines(folder / "index.noun"):
        word, _, count, *rest = line.split()
        senses[word] = rest[-int(count) :]
    for line in _lines(folder / "data.noun"):
        fields = line.partition("| ")[0].split()
        offset, after = fields[0], 4 + 2 * int(fields[3], 16)
        words = fields[4:after:2]
        stated.names[offset] = [f"{w}#{senses[w.lower()].index(offset) + 1}" for w in words]
        stated.labels[offset] = [word.replace("_", " ") for word in words]
        pointers = fields[after + 1 :]
        kinds = {"@": stated.broader, "@i": stated.classes}
        found = [*zip(pointers[::4], pointers[1::4], strict=False)]
        for kind, target in found:
            if kind in kinds:
                kinds[kind].append((offset, target))
        is_instance = any(kind == "@i" for kind, _ in found)
        stated.entity(offset, INDIVIDUAL if is_instance else CONCEPT)
    for node in _ends(stated.broader, ((of, of) for _, of in stated.classes)):
        stated.entity(node, CONCEPT)
    return stated


def _lines(path: Path) -> Iterator[str]:
    """The lines of a file of WordNet; those of its licence begin with spaces."""
    return (line for line in path.read_text().splitlines() if not line.startswith("  "))


# Words: how a class is written, rightly and wrongly


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
    for name in _ends(stated.same, stated.broader):
        stated.entity(name, PROPERTY)
        stated.names[name] = [name]
    return stated


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
