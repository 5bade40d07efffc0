"""Distributions from a sample: shares, the commonest values, bounds, and how many are distinct."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.model.distribution import (
    BOUNDS,
    MOST_COMMON,
    Distribution,
    distinct_values,
    distributions,
)
from sensewire.model.terms import iri, string, term_of, untyped

PRICE = string("price")


def of_prices(*events: Sequence[object], of: int | None = None) -> Distribution:
    sample = [[(PRICE, term_of(value)) for value in values] for values in events]
    (found,) = distributions(sample, len(sample) if of is None else of)
    return found


def test_shares_and_values() -> None:
    found = of_prices([5, 7], [5], [], [True])
    assert (found.share, found.values, found.distinct) == (0.75, 4 / 3, 3)
    assert found.kinds == (("number", 0.75), ("boolean", 0.25))
    assert found.common[0] == (str(term_of(5)), 0.5)
    assert found.numbers == (5.0, 5.0, 7.0)


def test_the_most_frequent_attribute_is_the_first() -> None:
    a, b, c = string("a"), iri("http://x.org/b"), string("c")
    found = distributions([[(c, a), (b, a)], [(b, a)], [(a, a), (b, b)]], 3)
    assert [each.attribute for each in found] == [b, a, c]


def test_a_value_that_a_sample_has_once_is_not_common() -> None:
    assert [value for value, _ in of_prices([1], [1], [2], of=100).common] == [str(term_of(1))]
    assert len(of_prices([1], [1], [2]).common) == 2  # where nothing else can be
    many = of_prices(*[[number] for number in range(MOST_COMMON + 5)] * 2)
    assert len(many.common) == MOST_COMMON


def test_bounds_cut_into_equal_parts() -> None:
    numbers = [float(number) for number in range(1_001)]
    random.Random(1).shuffle(numbers)
    found = of_prices(*[[number] for number in numbers])
    assert found.numbers == tuple(10.0 * place for place in range(BOUNDS))
    assert of_prices([float("nan")], [float("inf")], [3]).numbers == (3.0,)


def test_dates_are_told_as_they_were_written() -> None:
    values = ["2024-03-01", "2024-03-01T10:00:00+02:00", "soon", "2024-02-28"]
    assert of_prices(*[[value] for value in values]).dates == (
        "2024-02-28",
        "2024-03-01",
        "2024-03-01T10:00:00+02:00",
    )


def test_texts_of_plain_rdf_are_numbers_where_they_are() -> None:
    (found,) = distributions([[(PRICE, untyped("5"))], [(PRICE, untyped("x"))]], 2)
    assert found.numbers == (5.0,)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(1, 50))
def test_distinct_values_lie_between_those_seen_and_all(values: list[int], times: int) -> None:
    distinct = len(set(values))
    once = sum(values.count(value) == 1 for value in set(values))
    found = distinct_values(len(values), len(values) * times, distinct, once)
    assert distinct <= found <= len(values) * times
    assert times > 1 or found == distinct


@pytest.mark.parametrize("distinct", [10, 300, 100_000])
def test_the_estimate_is_near(distinct: int) -> None:
    draw = random.Random(7)
    population = [number % distinct for number in range(100_000)]
    sample = draw.sample(population, 5_000)
    found = of_prices(*[[value] for value in sample], of=len(population)).distinct
    assert found == pytest.approx(len(set(population)), rel=0.1)
