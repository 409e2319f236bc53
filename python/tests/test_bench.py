"""`scripts/bench` without running it: the data it makes, how it measures, and what it says about a run that was recorded."""

import copy
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench import cases, measure, table, targets, workloads  # noqa: E402

RECORDED = Path(__file__).parent / "bench_raw.jsonl"
TINY = {"a": 600, "a_test": 50, "b": 40, "c": 60, "c_test": 20, "d": 50, "d_test": 20, "r": 30}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """All the data, small."""
    folder = tmp_path_factory.mktemp("bench")
    workloads.SIZES["tiny"] = TINY
    return folder, workloads.write(folder, "tiny")


def test_data_are_what_they_are_said_to_be(tiny):
    folder, stamp = tiny
    assert workloads.made(folder, "tiny") == stamp and workloads.made(folder, "full") is None
    vw = [line.split() for line in (folder / "a.vw").read_text().splitlines()]
    svm = [line.split() for line in (folder / "a.svm").read_text().splitlines()]
    assert len(vw) == len(svm) == 600 and {row[0] for row in vw} == {"-1", "1"}
    for one, other in zip(vw, svm, strict=True):
        assert one[0] == other[0] and one[1] == "|f"
        cells = [(int(k) + 1, v) for k, v in (cell.split(":") for cell in one[2:])]
        assert cells == [(int(k), v) for k, v in (cell.split(":") for cell in other[1:])]
        indices = [k for k, _ in cells]
        assert indices == sorted(set(indices)) and 1 <= indices[0] and indices[-1] <= 1 << 18
        assert abs(sum(float(v) ** 2 for _, v in cells) - 1) < 1e-3
    features = sum(len(row) - 1 for row in svm)
    assert stamp["features"]["a"] == features and 60 < features / 600 < 80
    assert (folder / "a_head.vw").read_text() == "".join(" ".join(row) + "\n" for row in vw[:60])
    assert len((folder / "a_test.vw").read_text().splitlines()) == 50
    for name, rows, columns in (("b", 40, 101), ("c", 60, 51), ("c_test", 20, 51), ("d", 50, 31), ("d_test", 20, 31), ("r", 30, 31)):
        lines = (folder / f"{name}.csv").read_text().splitlines()
        assert len(lines) == rows + 1 and {line.count(",") + 1 for line in lines} == {columns}, name
    assert (folder / "r.csv").read_text().splitlines() == (folder / "d.csv").read_text().splitlines()[:31]


def test_data_are_the_same_each_time(tiny):
    first, again = next(workloads.sparse_blocks(100)), next(workloads.sparse_blocks(100))
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    x, y = workloads.classes(2000)
    assert x.shape == (50, 2000) and set(y) == set(range(1, 21))
    assert 4 < np.std(x[0]) / np.std(x[1]) < 6
    x, y = workloads.mixed(1000)
    assert x.shape == (30, 1000) and set(y) == {0, 1}


def test_data_cut_short_are_made_anew(tiny, tmp_path):
    folder, _ = tiny
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert workloads.made(tmp_path, "tiny")
    (tmp_path / "c.csv").write_text("x\n")
    assert workloads.made(tmp_path, "tiny") is None


def test_a_command_is_measured_and_its_failure_is_said():
    took, text = measure.run([sys.executable, "-c", "x = bytearray(60 << 20); sum(range(2_000_000)); print('@@{\"a\": 1}')"], {})
    assert measure.of_json(text) == {"a": 1}
    assert 0.01 < took["user"] + took["system"] <= took["wall"] + 0.05 and took["rss_mib"] > 60
    with pytest.raises(measure.Failed, match="ended with 3: sorry"):
        measure.run([sys.executable, "-c", "print('sorry'); raise SystemExit(3)"], {})


def test_of_several_runs_the_best_is_kept_whole():
    one = {"case": "k", "turn": 0, "user": 2.0, "system": 0.5, "wall": 3.0, "rss_mib": 9.0, "values": {"fit_cpu": 1.0, "x_per_s": 5.0, "loss": 0.25}}
    two = {"case": "k", "turn": 1, "user": 1.0, "system": 0.5, "wall": 4.0, "rss_mib": 8.0, "values": {"fit_cpu": 1.5, "x_per_s": 6.0, "loss": 0.25}}
    found = measure.best([one, two])["k"]
    assert (found["cpu"], found["wall"], found["rss_mib"], found["most"], found["turns"]) == (1.5, 3.0, 8.0, 2.5, 2)
    assert found["values"] == {"fit_cpu": 1.0, "x_per_s": 6.0, "loss": 0.25}


def test_turns_go_round_and_a_failure_ends_none_but_its_own(tmp_path):
    python = [sys.executable, "-c"]
    plan = [
        measure.Case("good", "", [*python, "pass"], turns=2, after=lambda: {"late": 1}),
        measure.Case("bad", "", [*python, "raise SystemExit(1)"], turns=2),
        measure.Case("old", "", [], turns=2, lacks="too old"),
    ]
    records = []
    measure.turns(plan, records.append, lambda text: None)
    assert [record["case"] for record in records] == ["good", "bad", "old", "good"]
    assert [record.get("values") for record in records if record["case"] == "good"] == [{}, {"late": 1}]
    assert "ended with 1" in records[1]["missing"] and records[2]["missing"] == "too old"


def test_losses_are_of_the_true_class(tmp_path):
    (tmp_path / "p").write_text("b,a\n0.25,0.75\n0.5,0.5\n")
    assert abs(cases.log_loss(tmp_path / "p", ["a", "b"]) + (np.log(0.75) + np.log(0.5)) / 2) < 1e-15
    with pytest.raises(measure.Failed, match="2 predictions of 3 rows"):
        cases.log_loss(tmp_path / "p", ["a", "b", "b"])


@pytest.fixture
def recorded():
    records = measure.read(RECORDED)
    return records, records[0]["run"] | {"load_least": 0.5, "load_most": 1.5}


def verdicts(records, run):
    return {target.text: (value, verdict, remark) for target, value, verdict, remark in targets.judge(targets.Results(measure.best(records), run))}


def test_a_recorded_run_has_its_tables(recorded):
    records, run = recorded
    page = table.page(records, run, run["plan"], "what was tried")
    for part in ("geowalk gd, LIBSVM", "VW --sgd", "LightGBM", "imodels", "start of Python and VW", "in memory already", "What is unfair", "What we lose", "what was tried", "Limits of this machine", "instructions per feature"):
        assert part in page, part
    assert "None" not in page.replace("None.", "") and "nan" not in page
    found = verdicts(records, run)
    assert len(found) == len(list(targets.targets())) > 40
    best = measure.best(records)
    value, verdict, _ = found["LIBSVM, `gd`, one thread: VW's CPU time / ours"]
    assert value == best["a.vw-sgd"]["cpu"] / best["a.gd.svm"]["cpu"]
    assert verdict == ("met" if value >= 3 else "not met")


def test_verdicts_follow_the_numbers(recorded):
    records, run = copy.deepcopy(recorded)
    text = "CSV: CPU time of VW `--csv` / ours"
    for record in records:
        if record.get("case") == "b.vw":
            record["user"], record["system"] = 8.0, 0.0
        if record.get("case") == "b.gd":
            record["user"], record["system"] = 1.0, 0.0
    assert verdicts(records, run)[text] == (8.0, "met", "+100 %")
    for record in records:
        if record.get("case") == "b.gd":
            record["user"] = 4.0
    assert verdicts(records, run)[text] == (2.0, "not met", "-50 %")
    assert "2, wanted at least 4" in table.page(records, run, run["plan"], "")
    assert verdicts([r for r in records if r.get("case") != "b.gd"], run)[text] == (None, "not measured", "b.gd was not run")


def test_small_data_and_busy_machines_are_not_judged(recorded):
    records, run = recorded
    held_out = "natural, one pass: held-out log-loss"
    assert run["quick"] and verdicts(records, run)[held_out][1:] == ("not measured", "data too small to say")
    assert verdicts(records, run | {"quick": False})[held_out][1] in ("met", "not met")
    two = "100 stumps: wall time of one thread / of two"
    assert verdicts(records, run)[two][1] in ("met", "not met")
    assert verdicts(records, run | {"load_most": 6.0})[two][1:] == ("not measured", "wall time on a busy machine (load 6.0)")


def test_the_command_explains_itself_and_writes_a_page_anew(tmp_path):
    bench = [sys.executable, ROOT / "scripts" / "bench"]
    assert "--quick" in subprocess.run([*bench, "--help"], capture_output=True, text=True, check=True).stdout
    (tmp_path / "raw.jsonl").write_bytes(RECORDED.read_bytes())
    printed = subprocess.run([*bench, "--page", tmp_path], capture_output=True, text=True, check=True).stdout
    assert "| target | wanted | found |" in printed and printed in (tmp_path / "README.md").read_text()
    assert json.loads(RECORDED.read_text().splitlines()[0])["run"]["date"] in (tmp_path / "README.md").read_text()
    refused = subprocess.run([*bench, "--venv", tmp_path], capture_output=True, text=True)
    assert refused.returncode == 1 and "no bin/python" in refused.stderr
