"""The guides in docs/guides are run; what stands under a block is what it prints."""

import contextlib
import io
import re

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
