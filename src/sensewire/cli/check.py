"""`sensewire check`: a subscription's canonical form, or what is wrong with it, and where."""

import argparse
import sys

from sensewire.cli.options import LANGUAGES
from sensewire.model.errors import ParseError, UnsupportedError, pointed_at


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "check",
        help="read a subscription, and write it in its canonical form",
        description="Read a subscription, and write it in its canonical form, on one line.",
        allow_abbrev=False,
    )
    parser.add_argument("text", metavar="TEXT", help='as in "price <= 900 and not used = true"')
    parser.add_argument(
        "--language", default="sensewire", metavar="L", help=f"what it is written in: {LANGUAGES}"
    )
    parser.add_argument("--reading", metavar="R", help="meaning: read its constants by meaning")
    parser.add_argument(
        "--knowledge",
        nargs="+",
        action="extend",
        default=[],
        metavar="K",
        help="files or folders of knowledge; a word that has several meanings there is an error, "
        "and a statement pattern that its concept model does not allow",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the canonical form to stdout, or the error to stderr."""
    from sensewire.language.parse import parse
    from sensewire.language.unparse import unparse
    from sensewire.model.canonical import canonical

    try:
        subscription = parse(arguments.text, language=arguments.language, reading=arguments.reading)
    except ParseError as error:
        print(error, file=sys.stderr)  # as it stands: a word before it would move the caret
        return 2
    except UnsupportedError as error:
        what = f"not supported: {error.what}"
        print(pointed_at(arguments.text, error.position, what), file=sys.stderr)
        return 2
    if arguments.knowledge:
        from sensewire.knowledge.knowledge import Knowledge
        from sensewire.match.ambiguity import refuse_ambiguity
        from sensewire.match.concept_model import ConceptModel

        knowledge = Knowledge.load(*arguments.knowledge)
        refuse_ambiguity(subscription, knowledge)
        ConceptModel(knowledge).refuse_impossible(subscription)
    print(unparse(canonical(subscription)))
    return 0
