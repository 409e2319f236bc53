"""`geowalk train` without flags against Vowpal Wabbit's defaults and river: average progressive loss after one pass.

    python compare.py GEOWALK DATA_DIR OUT_DIR [NAME ...]

GEOWALK is the program, DATA_DIR the folder with the data sets, OUT_DIR where losses.csv, members.csv and time.csv go.
Runs with the Python of an environment that has vowpalwabbit and river (river is left out where it is not there, and
for sets of more than 30,000 rows or 1,000 features). geowalk reads the file as it is; VW reads text with the same
features (numbers as name:value, names as name=value, words as word:count). For the times both read that text.
"""

import csv
import gzip
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile

geowalk, data, folder, *only = sys.argv[1:]
BAD = re.compile(r"[\s:|]")


def opened(path):
    return gzip.open(path, "rt") if path.endswith(".gz") else open(path)


def from_svm(path):
    with opened(path) as f:
        for line in f:
            label, *features = line.split("#")[0].split()
            yield label, [(n, float(x)) for n, x in (part.split(":") for part in features)]


def from_csv(path):
    with opened(path) as f:
        head, *body = csv.reader(f)
    label = head.index(next(c for c in ("class", "label", "target", "y") if c in head))

    def is_number(j):
        try:
            return all(math.isfinite(float(row[j])) for row in body if row[j] != "")
        except ValueError:
            return False

    numeric = [is_number(j) for j in range(len(head))]
    for row in body:
        if row[label] == "":
            continue
        parts = []
        for j, value in enumerate(row):
            name = BAD.sub("_", head[j])
            if j == label:
                continue
            if value == "":
                parts.append((f"{name}=missing", 1.0))
            elif not numeric[j]:
                parts.append((f"{name}={BAD.sub('_', value)}", 1.0))
            elif float(value) != 0:
                parts.append((name, float(value)))
        yield row[label], parts


def from_text(path):
    with opened(path) as f:
        next(f)
        for line in f:
            label, text = line.rstrip("\n").split("\t", 1)
            counts = {}
            for word in re.findall(r"[a-z0-9']+", text.lower()):
                counts[word] = counts.get(word, 0) + 1
            yield label, [(word, float(count)) for word, count in counts.items()]


SETS = [  # name, how it is read, file, task
    ("a9a", from_svm, "sparse/a9a-train.svm.gz", "binary"),
    ("adult", from_csv, "uci/adult-train.csv.gz", "binary"),
    ("agaricus", from_svm, "sparse/agaricus-train.svm.gz", "binary"),
    ("avazu-tiny", from_csv, "sparse/avazu-tiny.csv", "binary"),
    ("criteo-tiny", from_csv, "sparse/criteo-tiny.csv.gz", "binary"),
    ("elec2", from_csv, "streams/elec2.csv.gz", "binary"),
    ("imdb", from_svm, "sparse/imdb-train.svm.gz", "binary"),
    ("phishing", from_csv, "streams/phishing.csv", "binary"),
    ("rcv1-small", from_svm, "sparse/rcv1-small-train.svm.gz", "binary"),
    ("sentence-polarity", from_text, "sparse/sentence-polarity.tsv.gz", "binary"),
    ("sms-spam", from_text, "sparse/sms-spam.tsv.gz", "binary"),
    ("spamassassin", from_svm, "sparse/spamassassin.svm.gz", "binary"),
    ("subjectivity", from_text, "sparse/subjectivity.tsv.gz", "binary"),
    ("weather", from_csv, "streams/weather.csv.gz", "binary"),
    ("newsgroups20", from_svm, "sparse/newsgroups20.svm.gz", "multiclass"),
    ("covtype", from_csv, "streams/covtype.csv.gz", "multiclass"),
    ("reuters21578", from_svm, "sparse/reuters21578.svm.gz", "multiclass"),
    ("beijing-pm25", from_csv, "streams/beijing-pm25.csv.gz", "regression"),
    ("nycflights13", from_csv, "streams/nycflights13.csv.gz", "regression"),
]


def run(*args):
    """Output, error output, and seconds of user time of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(args, capture_output=True, text=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return done.stdout, done.stderr, seconds


def ours(path, *flags):
    out, err, seconds = run(geowalk, "train", path, "--json", "--progress", "none", *flags)
    if not out:
        print(path, *flags, err.strip()[:200], file=sys.stderr)
        return None, seconds
    return json.loads(out), seconds


def vw(path, *flags):
    flags = ["-d", path, "-b", "22", "--holdout_off", *flags]
    out, err, seconds = run(sys.executable, "-m", "vowpalwabbit", *flags)
    text = out + err
    log = re.search(r"average multiclass log loss = (\S+)", text)
    loss = float((log or re.search(r"average loss = (\S+)", text)).group(1))
    return loss, seconds


def river(rows, task):
    """Logistic regression with a scaler, each example predicted before it is learned from."""
    try:
        from river import linear_model, preprocessing
    except ImportError:
        return None
    if len(rows) > 30_000 or len({name for _, x in rows for name, _ in x}) > 1000 or task == "multiclass":
        return None
    linear = linear_model.LogisticRegression if task == "binary" else linear_model.LinearRegression
    model = preprocessing.StandardScaler() | linear()
    total = 0.0
    for y, x in rows:
        x = dict(x)
        if task == "binary":
            p = model.predict_proba_one(x).get(y == "1", 0.5)
            total -= math.log(max(p, 2.0**-52))
            model.learn_one(x, y == "1")
        else:
            total += (model.predict_one(x) - float(y)) ** 2
            model.learn_one(x, float(y))
    return total / len(rows)


def coded(rows, task):
    labels = sorted({y for y, _ in rows})
    if task == "binary":
        positive = "1" if "1" in labels else "+1" if "+1" in labels else labels[-1]
        code = {y: "1" if y == positive else "-1" for y in labels}
    elif task == "multiclass":
        code = {y: str(k + 1) for k, y in enumerate(labels)}
    else:
        code = {y: y for y in labels}
    return [(code[y], x) for y, x in rows], len(labels)


def table(name, head, lines):
    with open(os.path.join(folder, name), "w", newline="") as out:
        csv.writer(out).writerows([head, *lines])
    def show(value):
        return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)

    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for line in lines:
        print("| " + " | ".join(map(show, line)) + " |")
    print(flush=True)


losses, members, times = [], [], []
with tempfile.TemporaryDirectory() as tmp:
    text = os.path.join(tmp, "d.vw")
    for name, read, file, task in SETS:
        if only and name not in only:
            continue
        path = os.path.join(data, file)
        if not os.path.exists(path):
            print(name, "is not there", file=sys.stderr)
            continue
        rows, classes = coded(list(read(path)), task)
        with open(text, "w") as out:
            for y, x in rows:
                out.write(f"{y} |f " + " ".join(n if v == 1 else f"{n}:{v!r}" for n, v in x) + "\n")
        # Each set of topics of a Reuters text counts as a class, which only the text says.
        path = text if name == "reuters21578" else path
        how = ["--on-error", "skip"] if task == "regression" else []
        auto, _ = ours(path, "--task", task, "--walk", "auto", *how)
        single = "adagrad" if task == "regression" else "free"
        alone, _ = ours(path, "--task", task, "--walk", single, *how)
        flags = {
            "binary": ["--loss_function", "logistic"],
            "multiclass": ["--oaa", str(classes), "--probabilities", "--loss_function", "logistic"],
            "regression": [],
        }[task]
        theirs, theirs_time = vw(text, *flags)
        auto_text, auto_time = ours(text, "--task", task, "--walk", "auto", "--certificate", "off")
        _, alone_time = ours(text, "--task", task, "--walk", single, "--certificate", "off")
        if auto is None or alone is None or auto_text is None:
            continue
        each = auto["members"]
        best = min(member["loss"] for member in each) / auto["examples"]
        error = 1 - auto["metrics"]["accuracy"] if task != "regression" else None
        line = [name, len(rows), task, auto["loss"], best, alone["loss"], theirs, river(rows, task), error]
        losses.append([*line, auto["loss"] / best, auto["loss"] / alone["loss"], auto["loss"] / theirs])
        for member in each:
            average = member["loss"] / auto["examples"]
            values = [member["weight"], member["overhead"], member["overhead_bound"]]
            members.append([name, member["walk"], average, *values])
        times.append([name, auto_time, alone_time, theirs_time, auto_time / theirs_time, auto_text["loss"]])
        print(name, *losses[-1][3:], file=sys.stderr, flush=True)
head = ["data", "rows", "task", "auto", "best member", "free or adagrad", "VW defaults", "river", "error of auto"]
table("losses.csv", [*head, "auto / best", "auto / free", "auto / VW"], losses)
table("members.csv", ["data", "member", "loss per row", "weight", "team less member", "bound"], members)
table("time.csv", ["data", "auto, s", "free, s", "VW, s", "auto / VW", "loss of auto on the text"], times)
