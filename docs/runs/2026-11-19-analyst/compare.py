"""Ten tables as people have them: the queries of `geowalk show --format sql` in databases, against `geowalk predict`.

    python compare.py GEOWALK [PSQL]

GEOWALK is the command; PSQL how psql reaches a PostgreSQL, such as "host=localhost user=postgres". Needs the package
duckdb. Prints a line for each table, learner and database: rows, and how many differ.
"""

import csv
import datetime
import io
import math
import random
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

GEOWALK, PSQL = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
FOLDER = Path(tempfile.mkdtemp())
TRUE = random.Random(7)


def german(n=900):
    """An export of a German spreadsheet: semicolons, decimal commas, points between thousands, UTF-16."""
    for k in range(n):
        amount, days = TRUE.gauss(9000, 5000), TRUE.randint(0, 900)
        opened = datetime.date(2021, 1, 1) + datetime.timedelta(days=days)
        bad = (amount > 12000) != (TRUE.random() < 0.1) or days < 60
        euros = f"{amount:,.2f}".translate(str.maketrans(",.", ".,"))
        yield [k, f"0{1000 + k % 77}", euros, opened.strftime("%d.%m.%Y"), TRUE.choice(["Süd", "Nord"]), "faul" if bad else "gut"]


def number(text):
    return float(text.replace(".", "").replace(",", "."))


def title(n=300):
    for _ in range(n):
        x, kind = TRUE.random(), TRUE.choice("xyz")
        yield [f"{x:.3f}", kind, "yes" if (x > 0.6) != (kind == "z") else "no"]


def dates(n=800):
    for k in range(n):
        when = datetime.datetime(2020, 1, 1) + datetime.timedelta(minutes=TRUE.randint(0, 1_400_000))
        late = when.weekday() > 4 or when > datetime.datetime(2022, 3, 1)
        yield [k, when.isoformat(" ", "seconds"), TRUE.randint(1, 9), "late" if late else "on time"]


def notes(n=700):
    words = "the customer wrote LAWYER lawyer's again, and don’t pay! été Straße x2 lawyers".split()
    for k in range(n):
        text = " ".join(TRUE.choices(words, k=TRUE.randint(3, 9)))
        yield [text if k % 20 else "", k % 7, "bad" if "lawyer" in text.lower() and k % 5 else "good"]


def dirty(n=900):
    for _ in range(n):
        age, income = TRUE.randint(18, 80), TRUE.randint(5, 900) / 4
        bad = (age < 30) != (income > 200)
        age = TRUE.choice([f" {age}", f"{age}\t", str(age), str(age), "", "  ", "NA", "-999"])
        yield [age, TRUE.choice([f"{income:.2f} ", f"+{income}", f"{income:e}", "", "-999"]), "bad" if bad else "good"]


RESERVED = ["select", "order", "group by", "score", "prediction", "geowalk_score", "t", "v", "c1", "data"]


def reserved(n=500):
    for _ in range(n):
        row = [round(TRUE.gauss(0, 1), 3) for _ in RESERVED]
        yield [*row, "lost" if row[0] + row[5] > 0.4 else "kept"]


QUOTES = ["O'Neil", 'say "hi"', "p=q", "back\\slash", "a;b", "line\nbreak", "--", "`tick`", "%s", "plain"]


def quotes(n=800):
    for _ in range(n):
        name, x = TRUE.choice(QUOTES), TRUE.random()
        yield [name, f"{x:.3f}", "it's" if (name in QUOTES[:4]) != (x > 0.7) else 'no "way"']


def unicode(n=800):
    names = ["Straße", "STRASSE", "été", "e\u0301te\u0301", "日本", "Ω", "ω", "🙂", "ı", "İ", "ß", "\u202eabc"]
    for _ in range(n):
        name, x = TRUE.choice(names), TRUE.randint(0, 9)
        yield [name, x, "да" if (name in names[:6]) != (x > 7) else "нет"]


def nulls(n=900):
    for _ in range(n):
        a, b, job = TRUE.randint(0, 20), TRUE.gauss(0, 1), TRUE.choice(["cook", "clerk", "missing", "null"])
        kind = ("a", "b", "c")[(a > 9) + (job == "cook")]
        yield ["" if TRUE.random() < 0.2 else a, "" if TRUE.random() < 0.3 else f"{b:.6f}", "" if TRUE.random() < 0.2 else job, kind]


def million(n=1_000_000):
    for k in range(n):
        a, b, c = TRUE.random(), TRUE.gauss(0, 1), TRUE.randint(0, 5)
        yield [k, f"{a:.6f}", f"{b:.4f}", "abcdef"[c], "yes" if (a > 0.4) + (b > 0.2) + (c > 3) > 1 else "no"]


# Rows, columns with the label last, flags of the reader, lines above the header.
TABLES = {
    "German export": (german, ["Kunde", "PLZ", "Betrag", "Eröffnet", "Region", "Risiko"],
                      ["--label", "Risiko", "--decimal", ",", "--thousands", ".", "--nominal", "PLZ", "--ignore", "Kunde"], ""),
    "title above the header": (title, ["x", "kind", "class"], ["--skip-lines", "2"], "Customers, third quarter\n\n"),
    "ids and dates": (dates, ["id", "opened", "visits", "class"], ["--ignore", "id"], ""),
    "free text": (notes, ["note", "visits", "class"], ["--text", "note"], ""),
    "dirty numbers": (dirty, ["age", "income", "class"], ["--missing=NA", "--missing=-999"], ""),
    "reserved words": (reserved, [*RESERVED, "class"], [], ""),
    "quotes": (quotes, ["na\"me", "it's", "class"], [], ""),
    "unicode": (unicode, ["имя", "número", "class"], [], ""),
    "NULLs, three classes": (nulls, ["a", "b", "job", "class"], [], ""),
    "a million rows": (million, ["id", "a", "b", "kind", "class"], ["--ignore", "id"], ""),
}
LEARNERS = {"rules": ["boost", "--rounds", "12"], "tree": ["tree"], "trees": ["boost", "--weak", "trees", "--rounds", "5"]}


def run(*arguments, **more):
    done = subprocess.run([GEOWALK, *map(str, arguments)], capture_output=True, text=True, encoding="utf-8", **more)
    if done.returncode:
        raise SystemExit(f"{arguments}: {done.stderr}")
    return done.stdout


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def asked(database, query, head, rows):
    """Class and probability of every row."""
    # Databases may give rows in another order.
    head, rows = [*head, "row number"], [[*row, str(k)] for k, row in enumerate(rows)]
    names = ", ".join(f"{quoted(name)} TEXT" for name in head)
    inner = query.strip().removesuffix(";")
    wanted = f"SELECT geowalk_prediction, geowalk_probability FROM (\n{inner}\n) AS found "
    wanted += 'ORDER BY CAST("row number" AS INTEGER)'
    if database == "sqlite":
        base = sqlite3.connect(":memory:")
        base.execute(f"CREATE TABLE data ({names})")
        base.executemany(f"INSERT INTO data VALUES ({', '.join('?' * len(head))})", rows)
        return base.execute(wanted).fetchall()
    plain = FOLDER / "plain.csv"
    with open(plain, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    if database == "duckdb":
        base = duckdb.connect()
        base.execute(f"CREATE TABLE data ({names})")
        base.execute(f"INSERT INTO data SELECT * FROM read_csv('{plain}', header=false, all_varchar=true, nullstr='\\N', quote='\"', escape='\"', delim=',', columns={{{', '.join(repr(str(k)) + ': ' + repr('VARCHAR') for k in range(len(head)))}}})")
        return base.execute(wanted).fetchall()
    script = f"CREATE TEMP TABLE data ({names});\n\\copy data FROM '{plain}' CSV\n"
    script += f"COPY ({wanted}) TO STDOUT CSV"
    done = subprocess.run(["psql", PSQL, "-Xqv", "ON_ERROR_STOP=1", "-f", "-"], input=script, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        raise SystemExit(done.stderr)
    return [(name, float(share)) for name, share in csv.reader(io.StringIO(done.stdout, newline=""))]


def main():
    total = 0
    for name, (make, head, flags, above) in TABLES.items():
        rows = [[str(cell) for cell in row] for row in make()]
        path = FOLDER / "table.csv"
        german_export = make is german
        with open(path, "w", newline="", encoding="utf-16" if german_export else "utf-8") as file:
            file.write(above)
            csv.writer(file, delimiter=";" if german_export else ",").writerows([head, *rows])
        held = [[str(number(cell)) if k == 2 else cell for k, cell in enumerate(row)] for row in rows] if german_export else rows
        for learner, way in LEARNERS.items():
            run(*way, path, *flags, "--progress", "none", "--model", FOLDER / "m.gw", "--force")
            classes = [row[0] for row in csv.reader(io.StringIO(run("predict", FOLDER / "m.gw", path, *flags), newline=""))]
            order, *shares = csv.reader(io.StringIO(run("predict", FOLDER / "m.gw", path, "--proba", *flags), newline=""))
            for database in ["sqlite", "duckdb", *(["postgres"] if PSQL else [])]:
                if make is notes and database != "duckdb":
                    continue
                query = run("show", FOLDER / "m.gw", "--format", "sql", "--dialect", database)
                found = asked(database, query, head, held)
                wrong = abs(len(found) - len(rows))
                for (prediction, share), best, own in zip(found, classes, shares):
                    wanted = float(own[1] if len(order) == 2 else own[order.index(best)])
                    near = share is not None and math.isclose(share, wanted, rel_tol=1e-11, abs_tol=1e-14)
                    wrong += prediction != best or not near
                total += wrong
                print(f"{name:24} {learner:6} {database:9} {len(rows):8} rows, {wrong} differ, {len(set(classes))} classes", flush=True)
    print("in all", total)


main()
