"""The worked examples of Liu et al. 2007, section 2.1: a city watched from the air, S1 to S5.

The operators are stubs that read what the event's payload says was seen.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from sensewire.engine import Engine
from sensewire.language.parse import parse
from sensewire.match.matcher import Operator
from sensewire.model.conditions import Variable
from sensewire.model.errors import SubscriptionError
from sensewire.model.event import Event
from sensewire.model.terms import Term, quantity, term_of

SUBSCRIPTIONS = {
    "S1": "locIn(Bronx) and chasePattern(policeCar, anyCar)",
    "S2": "locIn(Bronx) and mobPattern(?people) and ?people > 50",
    "S3": "locWithin(TimesSquare, 5000m) and trafficPattern(congestion)"
    " and pedestrianCount(?ped) and ?ped > 250",
    "S4": "locIn(Bronx) and trafficPattern(congestion) and trafficPattern(accident)"
    " and policeCarCount(?pol) and ?pol < 2",
    "S5": "distanceFrom(StatueOfLiberty, ?x) and ?x < 1000m"
    " and tourBoatCount(?y) and coastGuardBoatCount(?z) and ?y > 2*?z",
}


def seen(event: Event) -> dict[str, Any]:
    assert isinstance(event.payload, dict)
    return event.payload


def says(key: str) -> Operator:
    """Whether the constants are among what was seen under the key."""
    return lambda event, *constants: (*(c.text for c in constants),) in seen(event).get(key, ())


def counts(key: str) -> Operator:
    """Every number that was seen under the key."""

    def operator(event: Event, *arguments: Term | Variable) -> Iterator[dict[str, Term]]:
        variable = arguments[-1]
        assert isinstance(variable, Variable)
        return ({variable.name: _term(value)} for value in seen(event).get(key, ()))

    return operator


def _term(value: object) -> Term:
    found = quantity(value) if isinstance(value, str) else term_of(value)
    assert found is not None
    return found


def within(event: Event, place: Term, distance: Term) -> bool:
    """Whether the place is as near as asked; the constant comes with its unit."""
    asked, actual = quantity(distance.text), quantity(seen(event)["distance"])
    assert asked is not None
    assert actual is not None
    return place.text == "TimesSquare" and actual.value.base <= asked.value.base  # type: ignore[union-attr]


OPERATORS: dict[str, Operator] = {
    "locIn": says("in"),
    "chasePattern": says("chase"),
    "trafficPattern": says("traffic"),
    "locWithin": within,
    "mobPattern": counts("people"),
    "pedestrianCount": counts("pedestrians"),
    "policeCarCount": counts("police cars"),
    "distanceFrom": counts("from the statue"),
    "tourBoatCount": counts("tour boats"),
    "coastGuardBoatCount": counts("coast guard boats"),
}


@pytest.fixture
def engine() -> Engine:
    made = Engine(operators=OPERATORS)
    for name, text in SUBSCRIPTIONS.items():
        made.add(parse(text), id=name)
    return made


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"in": [("Bronx",)], "chase": [("policeCar", "anyCar")]}, ["S1"]),
        ({"in": [("Queens",)], "chase": [("policeCar", "anyCar")]}, []),
        ({"in": [("Bronx",)], "people": [51]}, ["S2"]),
        ({"in": [("Bronx",)], "people": [50]}, []),
        ({"in": [("Bronx",)], "people": [3, 80]}, ["S2"]),
        ({"distance": "4 km", "traffic": [("congestion",)], "pedestrians": [251]}, ["S3"]),
        ({"distance": "6 km", "traffic": [("congestion",)], "pedestrians": [251]}, []),
        (
            {"in": [("Bronx",)], "traffic": [("congestion",), ("accident",)], "police cars": [1]},
            ["S4"],
        ),
        ({"in": [("Bronx",)], "traffic": [("congestion",)], "police cars": [1]}, []),
        (
            {"from the statue": ["0.9 km"], "tour boats": [5], "coast guard boats": [2]},
            ["S5"],
        ),
        ({"from the statue": ["900 m"], "tour boats": [4], "coast guard boats": [2]}, []),
        ({"from the statue": ["1 km"], "tour boats": [5], "coast guard boats": [2]}, []),
    ],
)
def test_the_subscriptions_of_section_2_1(
    engine: Engine, payload: dict[str, Any], expected: list[str]
) -> None:
    event = Event.record({}, id="e", payload={"distance": "99 km", **payload})
    matches = engine.match(event)
    assert [match.subscription for match in matches] == expected
    assert not matches.failures


def test_one_variable_in_two_operators_is_one_value() -> None:
    engine = Engine(operators=OPERATORS)
    engine.add(parse("tourBoatCount(?n) and coastGuardBoatCount(?n)"), id="as many")
    for tours, guards, expected in (([2, 3], [3, 4], 1), ([2], [3], 0)):
        payload = {"tour boats": tours, "coast guard boats": guards}
        assert len(engine.match(Event.record({}, payload=payload))) == expected


def test_a_joint_substitution_is_needed() -> None:
    engine = Engine(operators=OPERATORS)
    text = "select ?y, ?z where tourBoatCount(?y) and coastGuardBoatCount(?z) and ?y > 2*?z"
    engine.add(parse(text), id="S5")
    payload = {"tour boats": [3, 7], "coast guard boats": [1, 3]}
    (match,) = engine.match(Event.record({}, payload=payload))
    found = sorted((row["y"].value, row["z"].value) for row in match.rows)
    assert found == [(3, 1), (7, 1), (7, 3)]


def test_an_equal_question_is_asked_once_for_an_event() -> None:
    asked = []

    def counted(event: Event, *arguments: Term | Variable) -> bool:
        asked.append(arguments)
        return True

    engine = Engine(operators={"locIn": counted})
    for number in range(5):
        engine.add(parse(f"locIn(Bronx) and kind = k{number}"), id=str(number))
    engine.match(Event.record({"kind": ["k0", "k1", "k2"]}))
    assert len(asked) == 1


def test_an_operator_that_fails_is_reported_and_the_rest_goes_on(engine: Engine) -> None:
    payload = {"in": [("Bronx",)], "people": [51], "traffic": [("congestion",)]}
    matches = engine.match(Event.record({}, payload={**payload, "pedestrians": [251]}))
    assert [match.subscription for match in matches] == ["S2"]
    (failure,) = matches.failures
    assert (failure.subscription, failure.reason) == (
        "S3",
        "operator locWithin failed: KeyError: 'distance'",
    )


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (True, "answered yes, but bound no ?n"),
        ([{"m": 1, "o": 2}], "answered yes, but bound no ?n"),
        ("no", "answered a str; expected a bool or rows"),
        ({"n": 1}, "answered a dict; expected a bool or rows"),
        ([False], "answered a row that is a bool, not a mapping"),
        ([{"n": object()}], "a value of type object is no term"),
        (5, "TypeError"),
        (({"n": n} for n in count()), "answered more than 100,000 rows"),
    ],
)
def test_an_unusable_reply_is_a_failure(reply: Any, reason: str) -> None:
    engine = Engine(operators={"count": lambda event, n: reply})
    engine.add(parse("count(?n)"), id="s")
    (failure,) = engine.match(Event.record({})).failures
    assert reason in failure.reason


def test_one_value_for_one_variable_needs_no_name() -> None:
    """Who subscribed first, and what they called the variable, makes no difference."""
    engine = Engine(operators={"count": lambda event, n: [{"people": 7}]})
    for name in ("people", "n"):
        engine.add(parse(f"select ?{name} where count(?{name})"), id=name)
    found = [match.rows[0] for match in engine.match(Event.record({}))]
    assert found == [{"n": term_of(7)}, {"people": term_of(7)}]


def test_an_operator_must_be_registered(engine: Engine) -> None:
    with pytest.raises(
        SubscriptionError, match=r"there is no operator 'locNear'; registered: chase"
    ):
        engine.add(parse("locNear(Bronx)"))
