"""What knowledge files state, read without Sensewire: the truth that it is measured against.

Brick's triples come from pyoxigraph, WordNet's nouns from the lines of its files, and what is above
what from networkx. `Lexicon.meanings` restates the rule by which a word is looked up.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import networkx
import pyoxigraph

CONCEPT, INDIVIDUAL, PROPERTY = range(3)


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
    for node in ends(pairs(OWL + "equivalentClass", OWL + "disjointWith"), stated.broader):
        stated.entity(node, CONCEPT)
    for node in ends(pairs(RDFS + "subPropertyOf", OWL + "equivalentProperty", OWL + "inverseOf")):
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


def ends(*pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
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
        for kind, target in zip(pointers[::4], pointers[1::4], strict=False):
            if kind in kinds:
                kinds[kind].append((offset, target))
        stated.entity(offset, CONCEPT)  # a synset is a concept, also one that is an instance
    return stated


def _lines(path: Path) -> Iterator[str]:
    """The lines of a file of WordNet; those of its licence begin with spaces."""
    return (line for line in path.read_text().splitlines() if not line.startswith("  "))
