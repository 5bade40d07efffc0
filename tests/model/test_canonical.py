"""The canonical form: order of atoms and names of variables do not matter, everything else does.

Proved by breaking: a canonical form that does not name variables apart inside `not`, that skips the
individualisation of tied variables, or that forgets which variables are selected is caught.
"""

import random
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensewire.model.canonical import canonical, canonical_clauses, renamed
from sensewire.model.conditions import Equal, OneOf, Variable, exact, meaning
from sensewire.model.errors import SubscriptionError
from sensewire.model.expressions import Comparison, Equality, Minus
from sensewire.model.subscription import (
    Atom,
    Conjunction,
    Not,
    OperatorCall,
    Predicate,
    Subscription,
    TriplePattern,
)
from sensewire.model.terms import term_of

P, Q = meaning("p"), meaning("q")


def pattern(subject: str, object: str) -> TriplePattern:
    return TriplePattern(Variable(subject), P, Variable(object))


def graph(*edges: tuple[str, str], select: tuple[str, ...] | None = None) -> Subscription:
    variables = None if select is None else tuple(map(Variable, select))
    return Subscription((Conjunction(tuple(pattern(*edge) for edge in edges)),), variables)


def clauses(subscription: Subscription) -> list[object]:
    return [made.clause for made in canonical_clauses(subscription)]


edges = st.lists(
    st.tuples(st.sampled_from("abcde"), st.sampled_from("abcde")), min_size=1, max_size=7
)


@settings(max_examples=300, deadline=None)
@given(edges, st.permutations("abcde"), st.randoms(use_true_random=False))
def test_renaming_and_reordering_change_nothing(
    shape: list[tuple[str, str]], names: list[str], order: random.Random
) -> None:
    other = [(names["abcde".index(s)], names["abcde".index(o)]) for s, o in shape]
    order.shuffle(other)
    assert clauses(graph(*shape)) == clauses(graph(*other))


@settings(max_examples=200, deadline=None)
@given(edges, edges)
def test_equal_canonical_forms_are_isomorphic(
    a: list[tuple[str, str]], b: list[tuple[str, str]]
) -> None:
    import networkx

    isomorphic = networkx.is_isomorphic(networkx.DiGraph(set(a)), networkx.DiGraph(set(b)))
    assert (clauses(graph(*a)) == clauses(graph(*b))) == isomorphic


def test_regular_graphs_that_refinement_alone_cannot_tell_apart() -> None:
    six = [(f"a{i}", f"a{(i + 1) % 6}") for i in range(6)]
    threes = [(f"{n}{i}", f"{n}{(i + 1) % 3}") for n in "ab" for i in range(3)]
    assert clauses(graph(*six)) != clauses(graph(*threes))
    shuffled = [(f"x{(i * 5) % 6}", f"x{((i + 1) * 5) % 6}") for i in range(6)]
    assert clauses(graph(*six)) == clauses(graph(*shuffled))


def test_ties_that_are_no_symmetry_are_tried_one_by_one() -> None:
    """All variables look alike to refinement, but some stand in a six-cycle and some in threes."""
    six = [(f"s{i}", f"s{(i + 1) % 6}") for i in range(6)]
    threes = [(f"{n}{i}", f"{n}{(i + 1) % 3}") for n in "ab" for i in range(3)]
    first = clauses(graph(*six, *threes))
    assert first == clauses(graph(*threes, *six))
    swapped = {"s": "z", "a": "s", "b": "t"}
    renamed_too = [(swapped[s[0]] + s[1], swapped[o[0]] + o[1]) for s, o in (*six, *threes)]
    assert first == clauses(graph(*reversed(renamed_too)))


def test_selection_breaks_a_tie() -> None:
    both_ways = (("x", "y"), ("y", "x"))
    assert clauses(graph(*both_ways, select=("x",))) == clauses(graph(*both_ways, select=("y",)))
    assert clauses(graph(*both_ways, select=("x",))) != clauses(graph(*both_ways))


def test_large_and_symmetric_clauses_take_no_time() -> None:
    start = time.perf_counter()
    for size in (30, 2_000):
        canonical_clauses(graph(*[("h", f"leaf{i}") for i in range(size)]))
        canonical_clauses(graph(*[(f"v{i}", f"v{(i + 1) % size}") for i in range(size)]))
    assert time.perf_counter() - start < 20


def test_past_the_bound_a_clause_still_stands_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sensewire.model.canonical.MOST_WORK", 1_000)
    size = 500
    cycle = graph(*[(f"v{i}", f"v{(i + 1) % size}") for i in range(size)], select=("v3",))
    (made,) = canonical_clauses(cycle)
    assert len(made.clause.conjunction.atoms) == size
    assert [name for name, _ in made.names] == ["v3"]
    assert clauses(cycle) == clauses(cycle)


def test_selected_variables_keep_their_subscribers_names() -> None:
    a = canonical_clauses(graph(("x", "y"), select=("y",)))[0]
    b = canonical_clauses(graph(("s", "t"), select=("t",)))[0]
    c = canonical_clauses(graph(("s", "t"), select=("s",)))[0]
    assert a.clause == b.clause != c.clause
    assert [name for name, _ in a.names] == ["y"]
    assert [name for name, _ in b.names] == ["t"]


def test_what_matters_is_kept() -> None:
    base = graph(("x", "y"))
    assert clauses(base) != clauses(replace(base, injective=True))
    assert clauses(base) != clauses(replace(base, tolerance=1.0))
    assert clauses(graph(("x", "x"))) != clauses(base)


def test_variables_of_one_negation_belong_to_it() -> None:
    def negations(first: str, second: str) -> Subscription:
        atoms: tuple[Atom, ...] = (
            pattern("x", "x"),
            Not(Conjunction((TriplePattern(Variable("x"), P, Variable(first)),))),
            Not(Conjunction((TriplePattern(Variable("x"), Q, Variable(second)),))),
        )
        return Subscription((Conjunction(atoms),))

    assert clauses(negations("y", "y")) == clauses(negations("y", "z"))
    outside = negations("y", "z").conjunctions[0]
    bound = Conjunction((*outside.atoms, pattern("y", "z")))
    assert clauses(Subscription((bound,))) != clauses(negations("y", "z"))


def test_equal_alternatives_and_repeated_atoms_are_one() -> None:
    a = Predicate(meaning("a"), Equal(meaning("b")))
    c = Predicate(meaning("c"), OneOf((meaning("x"), meaning("y"))))
    d = Predicate(meaning("c"), OneOf((meaning("y"), meaning("x"))))
    both = Subscription((Conjunction((a, c, a)), Conjunction((d, a))))
    assert len(clauses(both)) == 1


def test_renaming_leaves_the_rest_alone() -> None:
    call = OperatorCall("near", (Variable("x"), meaning("home")))
    assert renamed(call, {Variable("x"): Variable("y")}).arguments[0] == Variable("y")


@settings(max_examples=100, deadline=None)
@given(edges, st.permutations("abcde"), st.randoms(use_true_random=False))
def test_the_canonical_subscription_is_one_for_all_its_forms(
    shape: list[tuple[str, str]], names: list[str], order: random.Random
) -> None:
    other = [(names["abcde".index(s)], names["abcde".index(o)]) for s, o in shape]
    order.shuffle(other)
    first = canonical(graph(*shape))
    assert first == canonical(graph(*other)) == canonical(first)
    selected = canonical(graph(*shape, select=(shape[0][0],)))
    assert selected.select == (Variable(shape[0][0]),)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Subscription(()), "at least one conjunction"),
        (lambda: Subscription((Conjunction(),), tolerance=0.0), "a tolerance is a number above 0"),
        (lambda: Subscription((Conjunction(),), (Variable("x"),)), "is selected, but not bound"),
        (
            lambda: Subscription(
                (
                    Conjunction(
                        (),
                        (Comparison(Equality.EQUAL, Variable("x"), Variable("x")),),
                    ),
                )
            ),
            "stands in a constraint, but no atom binds it",
        ),
        (
            lambda: Subscription((Conjunction((OperatorCall("Regex", ()),)),)),
            "Regex is a function of constraints and no operator",
        ),
        (
            lambda: Subscription(
                (Conjunction((Predicate(P, Equal(Q)),)),),
                strict=True,
            ),
            "a strict subscription has patterns and constraints only",
        ),
        (
            lambda: Subscription((Conjunction((pattern("x", "y"),)),), strict=True),
            "a strict subscription reads its constants exactly",
        ),
        (
            lambda: Subscription((Conjunction((), (Minus(exact(term_of(5))),)),)),
            "a constraint has at least one variable",
        ),
    ],
)
def test_senseless_subscriptions_are_refused(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(SubscriptionError, match=message):
        make()
