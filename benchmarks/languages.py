"""How fast subscriptions are read, in every language: microseconds a text, in one run.

100,000 different texts of each, as people write them: four patterns and a constraint or two. One
core, in time that the process got from it.

    .venv/bin/python benchmarks/languages.py
"""

from collections.abc import Callable
from time import process_time

from sensewire.language.parse import parse

COUNT = 100_000

TEXTS: dict[str, Callable[[int], str]] = {
    "sensewire": lambda number: (
        f"product = computer{number} and brand in (IBM, Dell) and price <= {number} "
        "and not used = true"
    ),
    "sparql": lambda number: (
        "PREFIX ex: <http://x.org/> SELECT ?x ?y WHERE { "
        f"ex:page{number} ex:project ?x . ?x ex:supervisor ex:Arno{number % 97} ; ex:year ?y . "
        f"?x a ex:Academia . FILTER(?y > {1900 + number % 100} && ?y <= 2010) }}"
    ),
    "gql": lambda number: (
        f"SELECT ?x WHERE (Homepage{number}, Project, G-ToPSS), "
        "(G-ToPSS, Supervisor, Arno Jacobsen), (G-ToPSS, YEAR, ?x) "
        f"SUCHTHAT (?x > {1900 + number % 100})"
    ),
    "statements": lambda number: (
        "(_:H, ?1, (Selling, target, Computer)) (_:H, ?2, (Selling, price, MoneyValue)) "
        "(?2, dollar, (MoneyValue, currency, Thing)) "
        f"(?2, ?3, (MoneyValue, rdf:value, xsd:decimal), ?3 < {number}.00)"
    ),
}


def main() -> None:
    """Measure and print."""
    for language, text in TEXTS.items():
        texts = [text(number) for number in range(COUNT)]
        parse(texts[0], language)
        start = process_time()
        for each in texts:
            parse(each, language)
        took = process_time() - start
        print(f"{language:<12}{took:6.1f} s for {COUNT:,}{took / COUNT * 1e6:8.0f} µs each")


if __name__ == "__main__":
    main()
