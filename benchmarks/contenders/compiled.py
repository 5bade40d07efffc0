"""Ours: the compiled index; and what it is measured against, counting compiled likewise."""

from contenders.contender import Contender, Matching
from workloads.workload import Workload


def _index(workload: Workload) -> Matching:
    from sensewire.match.compiled.index import build

    return build(workload.conjunctions, workload.sample)


def _counting(workload: Workload) -> Matching:
    from sensewire.match.compiled_counting import CompiledCounting

    return CompiledCounting.build(workload.conjunctions)


COMPILED = Contender("compiled", _index, compiles=True)
COUNTING = Contender("compiled counting", _counting, compiles=True)
