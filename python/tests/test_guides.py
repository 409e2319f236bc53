"""The guides in docs/guides are run; what stands under a block is what it prints."""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


def test_there_are_guides():
    assert len(GUIDES) >= 5


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_guide(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("```python") == len(BLOCK.findall(text)) > 0
    names = {"DATA": ROOT / "data"}
    for block in BLOCK.finditer(text):
        line = text[: block.start()].count("\n") + 2
        code = "\n" * (line - 1) + block.group(1)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, str(path), "exec"), names)
        assert out.getvalue() == (block.group(2) or ""), f"{path.name}:{line}"


def test_pages_of_the_site_have_no_dead_links(tmp_path):
    """`scripts/docs` stages the pages; a link that leads nowhere ends it."""
    program = Path(sys.executable).parent / "geowalk"
    staged = subprocess.run(
        [sys.executable, ROOT / "scripts" / "docs-pages", tmp_path / "pages", program], capture_output=True, text=True
    )
    assert staged.returncode == 0, staged.stderr
    commands = (tmp_path / "pages" / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    assert commands.count("\n## geowalk ") >= 12
