"""Predicates, patterns and constraints in one subscription; events that are records and graphs.

    event          _:H with 6 attributes of words and 6 of numbers, about 4 of 20 vertices, between
                   which there are 40 edges; each of these has a size and a class
    subscription   a word, a range or two of numbers, what it is about, one or two edges from there,
                   a least size; half of them a class, or one above it

A subscription is made of a publication, so that each could match: 0.1 % for each of 40 of what is
published, the others of what never is. *mixed, ranges only* has no words and names no vertex: its
patterns fit nearly everywhere, and two ranges of numbers are all that tells subscriptions apart.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from random import Random
from typing import NamedTuple

from sensewire.model import datatypes
from sensewire.model.conditions import (
    Between,
    Equal,
    IsA,
    Order,
    Relation,
    Variable,
    exact,
    meaning,
)
from sensewire.model.event import Event, Fact
from sensewire.model.expressions import Expression, Test
from sensewire.model.subscription import (
    Atom,
    Conjunction,
    Home,
    Predicate,
    Subscription,
    TriplePattern,
)
from sensewire.model.terms import HOME, RDF_TYPE, Term, iri, literal, term_of, untyped
from workloads.graph_texts import TIME, property_of, vertex_of
from workloads.graph_workload import PLACE, GraphWorkload, tree_of_classes

NAME, RANGES = "mixed", "mixed, ranges only"
ATTRIBUTES, WORDS, HIGHEST = 6, 60, 10_000
VERTICES, PUBLISHED, EDGES, PROPERTIES, ABOUT = 500, 20, 40, 20, 4
SIZES = 10
PUBLICATIONS, OTHERS, NEVER = 40, 8, 2_000
RATIO = 0.001
_PARENTS = (-1, 0, 0, 1, 1, 1, 2, 2, 2)
_LOWEST = range(3, len(_PARENTS))
_ABOUT, _SIZE = (iri(PLACE + name) for name in ("about", "size"))


class Publication(NamedTuple):
    """What an event says."""

    words: list[int]
    numbers: list[int]
    about: list[int]
    edges: list[tuple[int, int, int]]
    sizes: dict[int, int]


def mixed(subscriptions: int, seed: int) -> GraphWorkload:
    """Draw the workload."""
    return _drawn(NAME, subscriptions, seed)


def mixed_ranges(subscriptions: int, seed: int) -> GraphWorkload:
    """Draw the one with ranges only."""
    return _drawn(RANGES, subscriptions, seed)


def _drawn(name: str, subscriptions: int, seed: int) -> GraphWorkload:
    random = Random(f"{seed} mixed")
    class_of = [random.choice(_LOWEST) for _ in range(VERTICES)]
    taxonomy = tree_of_classes(_PARENTS)
    published, others, never = (
        [_publication(random) for _ in range(count)] for count in (PUBLICATIONS, OTHERS, NEVER)
    )
    matching = round(PUBLICATIONS * RATIO * subscriptions)
    made = [
        _subscription(
            random,
            published[number % PUBLICATIONS] if number < matching else random.choice(never),
            class_of,
            name == NAME,
        )
        for number in range(subscriptions)
    ]
    random.shuffle(made)

    def asked(rows: Iterable[int]) -> Iterator[Subscription]:
        return (made[row] for row in rows)

    return GraphWorkload(
        name,
        subscriptions,
        asked,
        [_event(each, class_of, f"e{number}") for number, each in enumerate(published)],
        [_event(each, class_of, f"w{number}") for number, each in enumerate(others)],
        taxonomy.knowledge,
    )


def _publication(random: Random) -> Publication:
    vertices = random.sample(range(VERTICES), PUBLISHED)
    edges: dict[tuple[int, int, int], None] = {}
    for one, other in pairwise(vertices):
        edges[one, random.randrange(PROPERTIES), other] = None
    while len(edges) < EDGES:
        one, other = random.sample(vertices, 2)
        edges[one, random.randrange(PROPERTIES), other] = None
    return Publication(
        [int(WORDS * random.random() ** 2) for _ in range(ATTRIBUTES)],
        [random.randrange(HIGHEST) for _ in range(ATTRIBUTES)],
        random.sample(vertices[:-1], ABOUT),  # from each of which an edge leads on
        [*edges],
        {vertex: random.randrange(SIZES) for vertex in vertices},
    )


def _subscription(
    random: Random, of: Publication, class_of: list[int], names: bool
) -> Subscription:
    word = random.randrange(ATTRIBUTES)
    equal = Predicate(exact(_word(word)), Equal(meaning(untyped(_spelt(of.words[word])))))
    atoms: list[Atom] = [equal] if names else []
    for place in random.sample(range(ATTRIBUTES), random.randint(1, 2) if names else 2):
        around = random.randint(100, 2_000)
        low = max(0, of.numbers[place] - random.randrange(around))
        atoms.append(Predicate(exact(_number(place)), Between(term_of(low), term_of(low + around))))
    vertex = random.choice(of.about)
    about, size, then, last = map(Variable, ("about", "size", "then", "last"))
    atoms.append(TriplePattern(Home(), exact(_ABOUT), about))
    atoms.append(TriplePattern(about, exact(_SIZE), size))
    _, by, other = random.choice([edge for edge in of.edges if edge[0] == vertex])
    onwards = [edge for edge in of.edges if edge[0] == other]
    if onwards and (random.random() < 0.5 or not names):
        _, further, end = random.choice(onwards)
        atoms.append(TriplePattern(about, exact(property_of(by)), then))
        is_named = names and random.random() < 0.7
        atoms.append(
            TriplePattern(
                then, exact(property_of(further)), exact(vertex_of(end)) if is_named else last
            )
        )
    else:
        to = exact(vertex_of(other)) if names else then
        atoms.append(TriplePattern(about, exact(property_of(by)), to))
    constraints: list[Expression] = [
        Test(size, Order(Relation.AT_LEAST, term_of(random.randint(0, of.sizes[vertex]))))
    ]
    if random.random() < 0.5:
        number = class_of[vertex]
        asked = random.choice([number, _PARENTS[number], 0])
        constraints.append(Test(about, IsA(meaning(iri(f"{PLACE}c{asked}")))))
    return Subscription((Conjunction(tuple(atoms), tuple(constraints)),))


def _event(of: Publication, class_of: list[int], name: str) -> Event:
    facts = [Fact(HOME, _word(place), untyped(_spelt(word))) for place, word in enumerate(of.words)]
    facts += [
        Fact(HOME, _number(place), _integer(number)) for place, number in enumerate(of.numbers)
    ]
    facts += [Fact(HOME, _ABOUT, vertex_of(vertex)) for vertex in of.about]
    facts += [
        Fact(vertex_of(one), property_of(by), vertex_of(other)) for one, by, other in of.edges
    ]
    for vertex, size in of.sizes.items():
        facts.append(Fact(vertex_of(vertex), _SIZE, _integer(size)))
        facts.append(Fact(vertex_of(vertex), RDF_TYPE, iri(f"{PLACE}c{class_of[vertex]}")))
    return Event(PLACE + name, TIME, tuple(facts), HOME)


def _integer(number: int) -> Term:
    return literal(str(number), datatypes.INTEGER)


def _word(place: int) -> Term:
    return iri(f"{PLACE}word{place}")


def _number(place: int) -> Term:
    return iri(f"{PLACE}number{place}")


def _spelt(word: int) -> str:
    return f"w{word}"
