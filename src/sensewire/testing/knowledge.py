"""Hypothesis strategies for knowledge: small, acyclic, over the names that other strategies use.

Two schemes share some of the names, so that words are ambiguous, merged, or bound by a scope. The
functions are drawn from a list that a caller gives.
"""

from collections.abc import Sequence

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from sensewire.knowledge.content import Draft, EntityKind, Place, as_attribute, in_scheme
from sensewire.knowledge.hierarchy import Hierarchy, cycle_among
from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.mappings import MappingFunction, mapping_function
from sensewire.model.terms import Term, iri, string

SCHEMES = ("one", "two")
_PLACE = Place("generated")


@st.composite
def knowledge(
    draw: DrawFn,
    values: Sequence[str],
    attributes: Sequence[str],
    functions: Sequence[MappingFunction] = (),
) -> Knowledge:
    """Knowledge in which some of the names are synonyms, narrower, or classes of each other.

    >>> knowledge(["laptop", "computer"], ["price"]).validate()
    """
    draft = Draft()
    for scheme in SCHEMES:
        entities = [
            *(in_scheme(name, scheme) for name in values),
            *(iri(f"http://{scheme}.org/{name}") for name in values[:2]),
        ]
        chosen = draw(st.lists(st.sampled_from(entities), max_size=6, unique=True))
        _relate(draw, draft, chosen, scheme)
        named = [in_scheme(name, scheme) for name in (*attributes, "tags")]
        _relate_properties(draw, draft, draw(st.permutations(named)), scheme)
        for bound in draw(st.lists(st.sampled_from(attributes), max_size=1)):
            if chosen:
                draft.scopes.setdefault(string(bound), ((scheme,), _PLACE))
    for function in draw(st.lists(st.sampled_from(functions), max_size=2)) if functions else ():
        draft.mapping(function, _PLACE)
    edges = [(as_attribute(a), as_attribute(b)) for a, b in (*draft.broader, *draft.subproperties)]
    alike = Hierarchy((), [(as_attribute(a), as_attribute(b)) for a, b in draft.same])
    assume(not cycle_among(edges, alike.root))  # names that merge may close one
    return Knowledge(draft.content())


def function_of_one(name: str, of: str, attribute: str, text: str) -> MappingFunction:
    """A function from one attribute to another."""
    return mapping_function(name, [(of, string(of))], [(string(attribute), text)])


def sample_functions() -> list[MappingFunction]:
    """Functions between price and colour: one works, one fails, one rarely speaks."""
    return [
        function_of_one("paint", "price", "colour", "price > 1 ? 'crimson' : 'green'"),
        function_of_one("ratio", "price", "colour", "1 / (price - price)"),
        function_of_one("dye", "colour", "price", "colour == 'red' ? 2 : null"),
    ]


def _relate(draw: DrawFn, draft: Draft, chosen: Sequence[Term], scheme: str) -> None:
    """Each entity is a synonym of an earlier one, or below some: so there is no cycle."""
    for place, entity in enumerate(chosen):
        labels = draw(st.lists(st.sampled_from(("Thing", "one word", "other")), max_size=1))
        draft.entity(entity, scheme, EntityKind.CONCEPT, labels=labels)
        earlier = draw(st.lists(st.sampled_from(chosen[:place]), max_size=2)) if place else []
        match draw(st.sampled_from(("broader", "broader", "same", "instance"))):
            case "broader":
                draft.broader.update(dict.fromkeys(((entity, e) for e in earlier), _PLACE))
            case "same" if earlier:
                draft.same[earlier[0], entity] = _PLACE
            case "instance" if earlier:
                draft.entity(entity, scheme, EntityKind.INDIVIDUAL)
                draft.instances.update(dict.fromkeys(((entity, e) for e in earlier), _PLACE))


def _relate_properties(draw: DrawFn, draft: Draft, named: Sequence[Term], scheme: str) -> None:
    """At most one pair a scheme, and only downwards by name: merged names make no cycle."""
    one, other = sorted(named[:2], key=lambda term: term.text)
    match draw(st.sampled_from(("none", "narrower", "same"))):
        case "narrower":
            draft.subproperties[one, other] = _PLACE
        case "same" if scheme == SCHEMES[0]:
            draft.same[one, other] = _PLACE
        case _:
            return
    for each in (one, other):
        draft.entity(each, scheme, EntityKind.PROPERTY)
