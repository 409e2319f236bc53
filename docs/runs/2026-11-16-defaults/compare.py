"""Default `geowalk train` against Vowpal Wabbit's defaults: average progressive loss after one pass, same rows, same features.

    python compare.py GEOWALK DATA_DIR > table.md

Every file is turned into VW text with the features geowalk gives it (numbers as name:value, names as name=value), and both read that very text:
geowalk keeps names apart by a dictionary (--exact); VW hashes into 22 bits.
"""
import csv, gzip, io, json, os, re, subprocess, sys, tempfile

geowalk, data = sys.argv[1], sys.argv[2]
BAD = re.compile(r"[\s:|]")

def opened(path):
    return gzip.open(path, "rt") if path.endswith(".gz") else open(path)

def from_svm(path, out, positive=None, limit=None):
    n = 0
    with opened(path) as f:
        for line in f:
            label, *features = line.split("#")[0].split()
            y = float(label)
            y = (1 if y == positive else -1) if positive is not None else (1 if y > 0 else -1)
            out.write(f"{y} |f {' '.join(features)}\n")
            n += 1
            if limit and n >= limit: break
    return n

def from_csv(path, out, positive=None, target=None, limit=None, nominal=()):
    n = 0
    with opened(path) as f:
        rows = csv.reader(f)
        head = next(rows)
        body = []
        for row in rows:
            body.append(row)
            if limit and len(body) >= limit: break
    label = head.index(target or next(c for c in ("class", "label", "target", "y") if c in head))
    numeric = []
    for j in range(len(head)):
        try:
            for r in body:
                if r[j] != "": float(r[j])
            numeric.append(head[j] not in nominal)
        except ValueError:
            numeric.append(False)
    for r in body:
        if r[label] == "": continue
        y = r[label] if positive is None else (1 if r[label] == positive else -1)
        parts = []
        for j, v in enumerate(r):
            if j == label: continue
            name = BAD.sub("_", head[j])
            if v == "": parts.append(f"{name}=missing")
            elif numeric[j]:
                if float(v) != 0: parts.append(f"{name}:{float(v)!r}")
            else: parts.append(f"{name}={BAD.sub('_', v)}")
        out.write(f"{y} |f {' '.join(parts)}\n")
        n += 1
    return n

S = lambda *p: os.path.join(data, *p)
SETS = [
    ("a9a", "logistic", lambda o: from_svm(S("sparse", "a9a-train.svm.gz"), o)),
    ("agaricus", "logistic", lambda o: from_svm(S("sparse", "agaricus-train.svm.gz"), o)),
    ("imdb", "logistic", lambda o: from_svm(S("sparse", "imdb-train.svm.gz"), o)),
    ("rcv1-small", "logistic", lambda o: from_svm(S("sparse", "rcv1-small-train.svm.gz"), o)),
    ("spamassassin", "logistic", lambda o: from_svm(S("sparse", "spamassassin.svm.gz"), o)),
    ("elec2", "logistic", lambda o: from_csv(S("streams", "elec2.csv.gz"), o, "UP")),
    ("covtype, class 2 against the rest", "logistic", lambda o: from_csv(S("streams", "covtype.csv.gz"), o, "2")),
    ("weather", "logistic", lambda o: from_csv(S("streams", "weather.csv.gz"), o, None)),
    ("phishing", "logistic", lambda o: from_csv(S("streams", "phishing.csv"), o, None)),
    ("adult", "logistic", lambda o: from_csv(S("uci", "adult-train.csv.gz"), o, ">50K")),
    ("beijing-pm25", "squared", lambda o: from_csv(S("streams", "beijing-pm25.csv.gz"), o)),
    ("nycflights13", "squared", lambda o: from_csv(S("streams", "nycflights13.csv.gz"), o)),
]

def run(*args):
    return subprocess.run(args, capture_output=True, text=True)

print("| data | rows | loss | VW defaults | geowalk defaults | ratio | " + " | ".join(["adagrad", "gd (auto rate)"]) + " |")
print("|---|---|---|---|---|---|---|---|")
for name, loss, make in SETS:
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "d.vw")
        try:
            with open(path, "w") as out: rows = make(out)
        except FileNotFoundError as e:
            print(f"{name}: {e}", file=sys.stderr); continue
        labels = set(l.split(" ", 1)[0] for l in open(path))
        if loss == "logistic" and labels - {"1", "-1"}:
            two = sorted(labels); print(name, two, file=sys.stderr)
            text = open(path).read().splitlines()
            with open(path, "w") as out:
                for l in text:
                    y, rest = l.split(" ", 1); out.write(f"{1 if y == two[-1] else -1} {rest}\n")
        v = run(sys.executable, "-m", "vowpalwabbit", "-d", path, "-b", "22", "--loss_function", loss, "--holdout_off")
        vw = float(re.search(r"average loss = (\S+)", v.stdout + v.stderr).group(1))
        def ours(*flags):
            g = run(geowalk, "train", path, "--exact", "--json", "--progress", "none", "--loss", loss, *flags)
            if g.returncode: return float("nan"), g.stderr.strip()[:120]
            j = json.loads(g.stdout); return j["loss"], j
        base, info = ours()
        others = [ours("--walk", w)[0] for w in ("adagrad", "gd")]
        if base != base: print(name, info, file=sys.stderr)
        print(f"| {name} | {rows} | {loss} | {vw:.4f} | {base:.4f} | {base/vw:.3f} | " + " | ".join(f"{x:.4g}" for x in others) + " |", flush=True)
