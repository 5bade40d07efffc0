"""Every example of `docs/knowledge.md` is run: files load, mistakes are refused, commands work."""

import re
import shlex
from pathlib import Path

import pytest

from sensewire.cli.main import main
from sensewire.knowledge.knowledge import Knowledge
from sensewire.model.errors import KnowledgeError

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "knowledge.md").read_text(encoding="utf-8")
SHEETS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
MISTAKES = re.findall(r'^>>> load\("(.*)"\)\n(.*)$', PAGE, re.MULTILINE)
COMMANDS = re.findall(r"^sensewire .*$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("text", SHEETS, ids=lambda text: text.split(":")[0])
def test_a_file_is_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text(text)
    content = Knowledge.load(tmp_path / "shop.yaml").content
    assert content.mappings


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_a_mistake_is_told(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text(text)
    with pytest.raises(KnowledgeError) as raised:
        Knowledge.load(tmp_path / "shop.yaml")
    assert str(raised.value).replace(f"{tmp_path}/", "") == message


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_works(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out


def test_the_page_shows_something_of_everything() -> None:
    assert (len(SHEETS), len(MISTAKES), len(COMMANDS)) == (2, 2, 3)
