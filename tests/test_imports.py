"""`import sensewire` stays light: nothing heavy until it is used."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("pyspark", "pandas", "numba", "pyarrow", "numpy", "lark", "pint", "pyoxigraph", "rich")


def loaded_after(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint(*sorted(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in run.stdout.splitlines()[-1].split()}


def test_importing_sensewire_loads_nothing_heavy() -> None:
    assert loaded_after("import sensewire").isdisjoint(HEAVY)


def test_checking_a_subscription_compiles_nothing() -> None:
    code = "from sensewire.cli.main import main; assert main(['check', 'price <= 5']) == 0"
    assert loaded_after(code).isdisjoint(("pyspark", "pandas", "numba"))


def test_matching_loads_no_spark_and_no_pandas() -> None:
    code = "import sensewire as sw; sw.Engine().match(sw.Event.record({'a': 1}))"
    assert loaded_after(code).isdisjoint(("pyspark", "pandas"))


@pytest.mark.parametrize(
    "code",
    [
        "import pyarrow as pa; engine.match_batch(pa.RecordBatch.from_pydict({'a': [1]}))",
        "engine.save(folder); sw.Engine.open(folder).match(sw.Event.record({'a': 1}))",
    ],
)
def test_what_needs_no_spark_loads_none(code: str, tmp_path: Path) -> None:
    """(Arrow itself loads pandas where it is installed, with the first array of Python values.)"""
    begin = f"import sensewire as sw; engine = sw.Engine(); folder = {str(tmp_path)!r}"
    assert "pyspark" not in loaded_after(f"{begin}\n{code}")


def test_an_engine_of_another_matcher_compiles_nothing() -> None:
    code = "import sensewire as sw; sw.Engine(matcher='oracle').match(sw.Event.record({'a': 1}))"
    assert loaded_after(code).isdisjoint(("pyspark", "pandas", "numba"))


def test_the_public_names_are_there() -> None:
    import sensewire

    for name in sensewire.__all__:
        assert getattr(sensewire, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sensewire.nothing
