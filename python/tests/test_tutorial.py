"""The commands of docs/tutorial.md print what stands below them.

`GEOWALK_WRITE=1 pytest python/tests/test_tutorial.py` writes what they print now into the page.
"""

import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

PAGE = ROOT / "docs" / "tutorial.md"
BLOCK = re.compile(r"```console\n(.*?)```\n", re.DOTALL)
MARK = "@@ end of a command @@"
# What differs from run to run, or from machine to machine.
CHANGING = re.compile(r"^(seconds +)\S+$|(saved to \S+, )\S+ s", re.MULTILINE)


def commands(block):
    return [line[2:] for line in block.splitlines() if line.startswith("$ ")]


def run(lines, folder):
    """What each command prints on standard output."""
    script = "trap 'kill $(jobs -p) 2> /dev/null' EXIT\n" + "".join(f"{line}\necho '{MARK}'\n" for line in lines)
    environment = os.environ | {"PATH": f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"}
    # With job control, so that %1 is the service.
    done = subprocess.run(
        ["bash", "-m", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    outputs = done.stdout.split(f"{MARK}\n")[:-1]
    assert len(outputs) == len(lines), done.stderr
    return [CHANGING.sub(lambda found: (found[1] or found[2]) + "...", output) for output in outputs]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_tutorial(tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    (tmp_path / "data").symlink_to(ROOT / "data")
    blocks = list(BLOCK.finditer(text))
    lines = [line for block in blocks for line in commands(block[1])]
    assert len(lines) > 10
    outputs = iter(run(lines, tmp_path))
    written, end = [], 0
    for block in blocks:
        body = "".join(f"$ {line}\n{next(outputs)}" for line in commands(block[1]))
        body = body if body.endswith("\n") else body + "\n"
        written += [text[end : block.start(1)], body]
        end = block.end(1)
    new = "".join([*written, text[end:]])
    if os.environ.get("GEOWALK_WRITE"):
        PAGE.write_text(new, encoding="utf-8")
    assert new == text, "run it with GEOWALK_WRITE=1 and look at the difference"
