"""Queries of `geowalk show --format sql`, run by databases: on every row they answer as `geowalk predict` does.

SQLite and DuckDB are always asked; PostgreSQL where GEOWALK_POSTGRES says how psql reaches one, such as
"host=localhost user=postgres".
"""

import csv
import datetime
import io
import json
import math
import os
import sqlite3
import subprocess

import duckdb
import numpy as np
import pytest
from conftest import ROOT, command

WAYS = [
    ["boost", "--rounds", "12"],
    ["boost", "--rounds", "12", "--literals", "3", "--abstain"],
    ["boost", "--weak", "stumps", "--rounds", "20", "--loss", "exponential"],
    ["boost", "--weak", "small-trees", "--rounds", "8", "--loss", "gini"],
    ["boost", "--weak", "trees", "--rounds", "8", "--rate", "0.5"],
    ["boost", "--weak", "columns", "--rounds", "15", "--loss", "logistic"],
    ["boost", "--reduction", "mh", "--literals", "3", "--rounds", "20", "--loss", "mu(mu=0.3)"],
    ["boost", "--reduction", "mh", "--weak", "small-trees"],
    ["tree"],
    ["tree", "--loss", "entropy", "--prune", "0.3"],
]
DATA = ROOT / "data"
POSTGRES = os.environ.get("GEOWALK_POSTGRES")
DATABASES = [
    "sqlite",
    "duckdb",
    pytest.param("postgres", marks=pytest.mark.skipif(not POSTGRES, reason="GEOWALK_POSTGRES is not set")),
]


class Postgres:
    """What the tests use of a connection, through psql: statements are kept, and undone after each query."""

    def __init__(self):
        self.statements = ["CREATE SCHEMA main", "SET LOCAL search_path TO main"]

    def execute(self, query):
        if query.startswith(("CREATE", "ALTER")):
            self.statements.append(query)
            return None
        query = query.strip().removesuffix(";")
        script = ";\n".join(["BEGIN", *self.statements, f"SELECT row_to_json(r) FROM (\n{query}\n) AS r", "ROLLBACK;"])
        flags = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1", "--file=-"]
        told = subprocess.run(["psql", POSTGRES, *flags], input=script, capture_output=True, text=True, encoding="utf-8")
        assert told.returncode == 0, told.stderr
        rows = [json.loads(line) for line in told.stdout.splitlines()]
        self.description = [(name,) for name in rows[0]]
        self.rows = [tuple(row.values()) for row in rows]
        return self

    def executemany(self, insert, rows):
        def literal(cell):
            if cell is None or isinstance(cell, float):
                return "NULL" if cell is None else repr(cell)
            return "'" + cell.replace("'", "''") + "'"

        values = ", ".join(f"({', '.join(map(literal, row))})" for row in rows)
        self.statements.append(f"{insert.split(' VALUES ')[0]} VALUES {values}")

    def fetchall(self):
        return self.rows


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def write(path, head, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])


def load(database, path, typed, table="data", missing=("",)):
    """The table as a database may hold it: with types and NULL, or as text with empty strings, as imports often are."""
    with open(path, newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    numeric = [all(number(row[k]) is not None for row in rows if row[k].strip() not in missing) for k in range(len(head))]
    if typed:
        rows = [
            [None if cell.strip() in missing else number(cell) if numeric[k] else cell for k, cell in enumerate(row)]
            for row in rows
        ]
    names = ['"' + name.replace('"', '""') + '"' for name in head]
    real = {"sqlite": "REAL", "duckdb": "DOUBLE", "postgres": "DOUBLE PRECISION"}[database]
    kinds = [real if typed and own else "TEXT" for own in numeric]
    opened = {"sqlite": lambda: sqlite3.connect(":memory:"), "duckdb": duckdb.connect, "postgres": Postgres}
    base = opened[database]()
    base.execute(f"CREATE TABLE {table} ({', '.join(map(' '.join, zip(names, kinds)))})")
    base.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(head))})", rows)
    return base, head, rows


def ask(base, query):
    found = base.execute(query)
    names = [column[0] for column in found.description]
    return names, found.fetchall()


def predicted(model, path, *flags):
    """Classes and probabilities by the command."""
    classes = [line[0] for line in csv.reader(io.StringIO(command("predict", model, path, *flags).stdout))]
    head, *shares = csv.reader(io.StringIO(command("predict", model, path, "--proba", *flags).stdout))
    return classes, head, [[float(share) for share in row] for row in shares]


def compare(model, path, database, typed, *flags, missing=("",)):
    """Every row of a file: class, probability, and the columns of the table as they were."""
    query = command("show", model, "--format", "sql", "--dialect", database, "--table", "main.customers").stdout
    base, head, rows = load(database, path, typed, "customers", missing)
    names, found = ask(base, query)
    classes, order, shares = predicted(model, path, *flags)
    assert [row[names.index("geowalk_prediction")] for row in found] == classes
    at = names.index("geowalk_probability")
    for row, own, best in zip(found, shares, classes):
        share = own[1] if len(order) == 2 else own[order.index(best)]
        assert math.isclose(row[at], share, rel_tol=1e-12, abs_tol=1e-15)
    kept = len(head)
    assert [list(row[-kept:]) for row in found] == rows, "all columns of the table are kept"
    return set(classes)


def odd_tables(folder, classes):
    """Names with quotes, gaps, numbers that are large and small, and a second table with names that the first has not."""
    random = np.random.default_rng(classes)
    head = ['a "b"', "it's", "x=y", "n,m"]
    names = ["O'Neil", 'say "hi"', "p=q", "", "plain", "ünï", "back\\slash"]
    values = ["1", "2.5", "", "-3e-7", "1e20"]
    labels = ["it's", 'no "way"', "third"]
    rows = []
    for _ in range(200):
        name, value = random.choice(names), random.choice(values)
        kind = (name in ("O'Neil", "p=q")) + 2 * (value in ("1", "")) + int(random.random() < 0.1)
        rows.append([name, value, random.choice(["u=v", "w", ""]), f"{random.random():.3f}", labels[kind % classes]])
    write(folder / "train.csv", [*head, "class"], rows)
    rows = [
        [name, value, other, "0.5"]
        for name in [*names, "new"]
        for value in [*values, "7", "-1e9"]
        for other in ("u=v", "", "unseen")
    ]
    write(folder / "new.csv", head, rows)


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("way", WAYS, ids=" ".join)
def test_query_answers_as_predict_does(tmp_path, way, classes, database):
    odd_tables(tmp_path, classes)
    model = tmp_path / "model.gw"
    command(way[0], tmp_path / "train.csv", *way[1:], "--model", model)
    for name in ("train.csv", "new.csv"):
        for typed in (True, False):
            found = compare(model, tmp_path / name, database, typed)
    assert len(found) > 1


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("way", [["boost", "--rounds", "25"], ["tree"]], ids=" ".join)
def test_breast_cancer_is_the_same_in_a_database(tmp_path, way, database):
    data, model = DATA / "breast-cancer.csv", tmp_path / "model.gw"
    command(way[0], data, *way[1:], "--model", model)
    for typed in (True, False):
        assert len(compare(model, data, database, typed)) == 2


RESERVED = [
    *["score", "score_1", "prediction", "probability", "select", "order", "group by", "data", "v", "t", "c1"],
    *["geowalk_input", "geowalk_found", "*/ --\n\"; x", "\u202e`b\\", "[a]"],
]


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("way", [["boost", "--rounds", "20"], ["tree"]], ids=" ".join)
def test_no_column_is_taken_for_a_name_of_the_query(tmp_path, way, classes, database):
    random = np.random.default_rng(1)
    head = [*RESERVED, "geowalk_score", "geowalk_probability_"]
    numbers = random.standard_normal((300, len(head))).round(3)
    labels = ["lost", "kept", "new"]
    kinds = (numbers[:, 0] > 0.3).astype(int) + (numbers[:, 1] + numbers[:, 4] > 1) + (numbers[:, -2] > 1)
    write(tmp_path / "a.csv", [*head, "class"], [[*row, labels[k % classes]] for row, k in zip(numbers, kinds)])
    command(way[0], tmp_path / "a.csv", *way[1:], "--model", tmp_path / "model.gw")
    assert len(compare(tmp_path / "model.gw", tmp_path / "a.csv", database, True)) == classes


@pytest.mark.parametrize("database", DATABASES)
def test_results_of_another_model_in_the_table_change_nothing(tmp_path, database):
    data, model = DATA / "breast-cancer.csv", tmp_path / "model.gw"
    command("boost", data, "--model", model)
    query = command("show", model, "--format", "sql", "--dialect", database).stdout
    base, *_ = load(database, data, True)
    names, found = ask(base, query)
    for name in ("geowalk_score", "geowalk_prediction", "geowalk_probability"):
        base.execute(f"ALTER TABLE data ADD COLUMN {name} REAL DEFAULT 7.5")
    assert [row[:3] for row in ask(base, query)[1]] == [row[:3] for row in found]


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("way", [["boost"], ["boost", "--abstain"], ["tree"]], ids=" ".join)
def test_blanks_empty_text_and_missing_words_are_read_alike(tmp_path, way, database):
    random = np.random.default_rng(2)
    rows = []
    for _ in range(400):
        age, income = random.integers(18, 80), random.integers(5, 900) / 4
        job = random.choice(["clerk", "Clerk", "cook", "missing", "NA"])
        bad = (age < 30) != (job in ("cook", "NA"))
        age = random.choice([f" {age}", f"{age}\t", str(age), "", "  ", "NA", "-999"], p=[0.2, 0.2, 0.3, 0.1, 0.1, 0.05, 0.05])
        income = random.choice([f"{income:.2f} ", "", "-999"], p=[0.8, 0.1, 0.1])
        rows.append([age, f" {job} ", income, "bad" if bad else "good"])
    write(tmp_path / "a.csv", ["age", "job", "income", "class"], rows)
    model, words = tmp_path / "model.gw", ["--missing=NA", "--missing=-999"]
    command(way[0], tmp_path / "a.csv", *way[1:], *words, "--model", model)
    for missing in (["", "NA"], ["", "NA", "-999"]):
        for typed in (True, False):
            assert len(compare(model, tmp_path / "a.csv", database, typed, missing=missing)) == 2


def notes():
    random = np.random.default_rng(3)
    words = "the customer wrote LAWYER lawyer's Lawyer, again and don\u2019t don't pay! été Straße x2 lawyers".split()
    for row in range(600):
        text = " ".join(random.choice(words, size=random.integers(3, 9)))
        if row % 9 == 0:
            text = text.replace(" ", "—")
        yield [text if row % 20 else "", row % 7, "bad" if "lawyer" in text.lower() and row % 5 else "good"]


@pytest.mark.parametrize("way", [["boost", "--rounds", "20"], ["tree"]], ids=" ".join)
def test_free_text_is_split_by_duckdb_and_refused_elsewhere(tmp_path, way):
    model = tmp_path / "model.gw"
    write(tmp_path / "a.csv", ["note", "visits", "class"], notes())
    command(way[0], tmp_path / "a.csv", *way[1:], "--text", "note", "--model", model)
    for typed in (True, False):
        assert len(compare(model, tmp_path / "a.csv", "duckdb", typed)) == 2
    for dialect in ("sqlite", "postgres", "mysql", "bigquery"):
        refused = command("show", model, "--format", "sql", "--dialect", dialect, check=False)
        assert refused.returncode == 2
        assert "column 'note' is free text" in refused.stderr and "--dialect duckdb" in refused.stderr


FORMS = ["%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%Y-%m-%d %H:%M", "%d.%m.%Y %H:%M:%S", "%Y-%m-%dT%H:%M:%S.%f"]


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("way", [["boost", "--rounds", "30"], ["tree", "--prune", "off"]], ids=" ".join)
def test_dates_are_taken_apart(tmp_path, way, database):
    random, rows = np.random.default_rng(5), []
    for k in range(500):
        day = datetime.datetime(2019, 11, 1) + datetime.timedelta(days=int(random.integers(0, 900)), seconds=int(random.integers(0, 86_400)))
        late = day > datetime.datetime(2021, 5, 4, 12, 30)
        bad = (day.weekday() > 4) + (day.month in (1, 2)) + late + (random.random() < 0.1) > 1
        rows.append(["" if k % 17 == 0 else day.strftime(FORMS[k % len(FORMS)]), k % 5, "bad" if bad else "good"])
    write(tmp_path / "a.csv", ["opened at", "x", "class"], rows)
    model = tmp_path / "m.gw"
    command(way[0], tmp_path / "a.csv", *way[1:], "--model", model)
    for typed in (True, False):
        assert len(compare(model, tmp_path / "a.csv", database, typed)) == 2
    for dialect in ("mysql", "bigquery"):
        refused = command("show", model, "--format", "sql", "--dialect", dialect, check=False)
        assert refused.returncode == 2 and "column 'opened at' holds dates" in refused.stderr
    # What is no date stops the query, or has no answer.
    query = command("show", model, "--format", "sql", "--dialect", database).stdout
    write(tmp_path / "b.csv", ["opened at", "x"], [["yesterday", "1"]])
    base, *_ = load(database, tmp_path / "b.csv", True)
    if database == "sqlite":
        assert ask(base, query)[1][0][0] is None
    else:
        with pytest.raises((duckdb.Error, AssertionError)):
            ask(base, query.replace("main.", ""))


def test_text_in_a_column_of_numbers_is_no_number(tmp_path):
    write(tmp_path / "a.csv", ["x", "class"], [[k, "ab"[k > 10]] for k in range(20)])
    command("tree", tmp_path / "a.csv", "--model", tmp_path / "model.gw")
    rows = [["3"], ["12abc"], ["inf"], ["0x3"], ["1e400"], [" +15 "]]
    write(tmp_path / "b.csv", ["x"], rows)
    query = command("show", tmp_path / "model.gw", "--format", "sql").stdout
    base, *_ = load("sqlite", tmp_path / "b.csv", False)
    assert [row[0] for row in ask(base, query)[1]] == ["a", None, None, None, None, "b"]
    query = command("show", tmp_path / "model.gw", "--format", "sql", "--dialect", "duckdb").stdout
    base, *_ = load("duckdb", tmp_path / "b.csv", False)
    with pytest.raises(duckdb.ConversionException):
        ask(base, query)


def test_rows_of_counts_have_zeros_for_what_is_absent(tmp_path):
    lines = [f"{'1' if k % 3 else '-1'} {'1:2 ' if k % 3 == 0 else ''}{f'2:{k}' if k % 2 else ''}" for k in range(1, 40)]
    (tmp_path / "a.svm").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command("boost", tmp_path / "a.svm", "--model", tmp_path / "model.gw")
    classes = command("predict", tmp_path / "model.gw", tmp_path / "a.svm").stdout.splitlines()
    query = command("show", tmp_path / "model.gw", "--format", "sql").stdout
    base = sqlite3.connect(":memory:")
    base.execute('CREATE TABLE data ("1" REAL, "2" REAL)')
    for line in lines:
        cells = dict(pair.split(":") for pair in line.split()[1:])
        base.execute("INSERT INTO data VALUES (?, ?)", (cells.get("1"), cells.get("2")))
    assert [row[0] for row in ask(base, query)[1]] == classes
