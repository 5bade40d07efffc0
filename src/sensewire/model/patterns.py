"""Regular expressions: RE2's, whose time is linear in the text, whatever the expression."""

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=4_096)
def compiled(expression: str) -> Any:  # Any: re2 ships no types
    """An expression made ready; `re2.error` where it is none. re2 is imported by the first one.

    >>> compiled("^Z.*h$").search("Zürich") is not None
    True
    """
    import re2

    options = re2.Options()
    options.log_errors = False  # the error is raised: nothing is to be written to stderr too
    return re2.compile(expression, options)


def problem_with(expression: str) -> str | None:
    """What is wrong with an expression, or None.

    >>> problem_with("("), problem_with("a")
    ('missing ): (', None)
    """
    import re2

    try:
        compiled(expression)
    except re2.error as error:
        problem = error.args[0]
        return problem.decode(errors="replace") if isinstance(problem, bytes) else str(problem)
    return None
