"""`geowalk train` against Vowpal Wabbit's defaults, and every walk beside it: average progressive loss after one pass, same rows, same features.

    python compare.py GEOWALK DATA_DIR OUT_DIR

Every file is turned into VW text with the features geowalk gives it (numbers as name:value, names as name=value, words of a text as word:count), and both
read that very text: geowalk keeps names apart by a dictionary (--exact); VW hashes into 22 bits. Writes defaults.csv, several.csv, walks.csv and prints tables.
"""
import csv, gzip, json, os, re, subprocess, sys, tempfile

geowalk, data, folder = sys.argv[1:4]
BAD = re.compile(r"[\s:|]")


def opened(path):
    return gzip.open(path, "rt") if path.endswith(".gz") else open(path)


def from_svm(path):
    with opened(path) as f:
        for line in f:
            label, *features = line.split("#")[0].split()
            yield label, " ".join(features)


def from_csv(path, target=None):
    with opened(path) as f:
        rows = csv.reader(f)
        head = next(rows)
        body = list(rows)
    label = head.index(target or next(c for c in ("class", "label", "target", "y") if c in head))
    numeric = []
    for j in range(len(head)):
        try:
            for r in body:
                if r[j] != "":
                    float(r[j])
            numeric.append(True)
        except ValueError:
            numeric.append(False)
    for r in body:
        if r[label] == "":
            continue
        parts = []
        for j, v in enumerate(r):
            name = BAD.sub("_", head[j])
            if j == label:
                continue
            if v == "":
                parts.append(f"{name}=missing")
            elif not numeric[j]:
                parts.append(f"{name}={BAD.sub('_', v)}")
            elif float(v) != 0:
                parts.append(f"{name}:{float(v)!r}")
        yield r[label], " ".join(parts)


def from_text(path):
    with opened(path) as f:
        next(f)
        for line in f:
            label, text = line.rstrip("\n").split("\t", 1)
            counts = {}
            for word in re.findall(r"[a-z0-9']+", text.lower()):
                counts[word] = counts.get(word, 0) + 1
            yield label, " ".join(f"{w}:{c}" if c > 1 else w for w, c in counts.items())


S = lambda *p: os.path.join(data, *p)
TWO = [  # name, rows, the positive label (otherwise the last in order)
    ("a9a", from_svm, "sparse/a9a-train.svm.gz", None),
    ("agaricus", from_svm, "sparse/agaricus-train.svm.gz", None),
    ("imdb", from_svm, "sparse/imdb-train.svm.gz", None),
    ("rcv1-small", from_svm, "sparse/rcv1-small-train.svm.gz", None),
    ("spamassassin", from_svm, "sparse/spamassassin.svm.gz", None),
    ("sms-spam", from_text, "sparse/sms-spam.tsv.gz", None),
    ("sentence-polarity", from_text, "sparse/sentence-polarity.tsv.gz", None),
    ("subjectivity", from_text, "sparse/subjectivity.tsv.gz", None),
    ("avazu-tiny", from_csv, "sparse/avazu-tiny.csv", None),
    ("criteo-tiny", from_csv, "sparse/criteo-tiny.csv.gz", None),
    ("elec2", from_csv, "streams/elec2.csv.gz", "UP"),
    ("covtype, class 2 against the rest", from_csv, "streams/covtype.csv.gz", "2"),
    ("weather", from_csv, "streams/weather.csv.gz", None),
    ("phishing", from_csv, "streams/phishing.csv", None),
    ("adult", from_csv, "uci/adult-train.csv.gz", ">50K"),
]
REAL = [("beijing-pm25", from_csv, "streams/beijing-pm25.csv.gz", None), ("nycflights13", from_csv, "streams/nycflights13.csv.gz", None)]
MANY = [
    ("newsgroups20", from_svm, "sparse/newsgroups20.svm.gz", None),
    ("reuters21578", from_svm, "sparse/reuters21578.svm.gz", None),
    ("covtype", from_csv, "streams/covtype.csv.gz", None),
]
WALKS = [
    "free", "adagrad", "gd", "implicit:euclidean", "mirror:p-norm(q=1.5)", "eg+-(scale=10)", "egu(signed=true)",
    "reparam-eg(signed=true, scale=10)", "reparam-egu(signed=true)", "neg(signed=true)", "sphere(radius=10)", "projected-sphere(radius=10)",
    "explicit:hyperbolic", "explicit:simplex(signed=true, scale=10)",
]


def run(*args):
    return subprocess.run(args, capture_output=True, text=True)


def vw(path, *flags):
    v = run(sys.executable, "-m", "vowpalwabbit", "-d", path, "-b", "22", "--holdout_off", *flags)
    text = v.stdout + v.stderr
    loss = float(re.search(r"average loss = (\S+)", text).group(1))
    log = re.search(r"average multiclass log loss = (\S+)", text)
    return loss, float(log.group(1)) if log else None


def ours(path, *flags):
    g = run(geowalk, "train", path, "--exact", "--json", "--progress", "none", *flags)
    if g.returncode:
        print(path, flags, g.stderr.strip()[:160], file=sys.stderr)
        return None
    return json.loads(g.stdout)


def written(rows, path, kind, positive):
    rows = list(rows)
    labels = sorted(set(y for y, _ in rows))
    if kind == "two":
        positive = positive or ("1" if "1" in labels else "+1" if "+1" in labels else labels[-1])
        code = {y: "1" if y == positive else "-1" for y in labels}
    elif kind == "many":
        code = {y: str(k + 1) for k, y in enumerate(labels)}
    else:
        code = {y: y for y in labels}
    with open(path, "w") as out:
        out.writelines(f"{code[y]} |f {x}\n" for y, x in rows)
    return len(rows), len(labels)


def table(name, head, lines):
    with open(os.path.join(folder, name), "w", newline="") as out:
        csv.writer(out).writerows([head, *lines])
    show = lambda v: "" if v is None else f"{v:.4g}" if isinstance(v, float) else str(v)
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for line in lines:
        print("| " + " | ".join(map(show, line)) + " |")
    print(flush=True)


defaults, walks, several = [], [], []
with tempfile.TemporaryDirectory() as tmp:
    path = os.path.join(tmp, "d.vw")
    for kind, loss, sets in (("two", "logistic", TWO), ("real", "squared", REAL)):
        for name, read, file, positive in sets:
            rows, _ = written(read(S(*file.split("/"))), path, kind, positive)
            theirs, _ = vw(path, "--loss_function", loss)
            mine = ours(path, "--loss", loss)
            defaults.append([name, rows, loss, theirs, mine["loss"], mine["loss"] / theirs, mine["walk"]])
            if rows < 100_000:
                line = [name, theirs]
                for walk in WALKS:
                    j = ours(path, "--loss", loss, "--walk", walk) if walk != "free" or loss == "logistic" else None
                    line.append(j["loss"] if j else None)
                walks.append(line)
            print(name, file=sys.stderr, flush=True)
    for name, read, file, _ in MANY:
        rows, classes = written(read(S(*file.split("/"))), path, "many", None)
        error, log = vw(path, "--oaa", str(classes), "--probabilities", "--loss_function", "logistic")
        mine = ours(path, "--task", "multiclass")
        several.append([name, rows, classes, log, mine["loss"], mine["loss"] / log, error, 1 - mine["metrics"]["accuracy"]])
        print(name, file=sys.stderr, flush=True)
table("defaults.csv", ["data", "rows", "loss", "VW defaults", "geowalk defaults", "ratio", "walk"], defaults)
table("several.csv", ["data", "rows", "classes", "VW log-loss", "geowalk log-loss", "ratio", "VW error", "geowalk error"], several)
table("walks.csv", ["data", "VW defaults", *WALKS], walks)
