"""`import sensewire` stays light: nothing heavy until it is used."""

import subprocess
import sys

import pytest

HEAVY = ("pyspark", "pandas", "numba", "pyarrow", "numpy", "lark", "pint", "pyoxigraph", "rich")


def loaded_after(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint(*sorted(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in run.stdout.splitlines()[-1].split()}


def test_importing_sensewire_loads_nothing_heavy() -> None:
    assert loaded_after("import sensewire").isdisjoint(HEAVY)


@pytest.mark.parametrize(
    "code",
    [
        "import sensewire as sw; sw.Engine().match(sw.Event.record({'a': 1}))",
        "from sensewire.cli.main import main; assert main(['check', 'price <= 5']) == 0",
    ],
)
def test_what_needs_no_spark_loads_none(code: str) -> None:
    assert loaded_after(code).isdisjoint(("pyspark", "pandas", "numba"))


def test_the_public_names_are_there() -> None:
    import sensewire

    for name in sensewire.__all__:
        assert getattr(sensewire, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sensewire.nothing
