"""Instructions per example, which no other program on the machine can change: the difference of two runs under valgrind, divided by the difference of their examples.

python count.py [OUT.csv]   needs valgrind, and what measure.py needs
"""

import csv
import re
import subprocess
import sys

WORK = """
import random, sys
who, what, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
random.seed(0)
names = [f"feature{k}" for k in range(30)]
rows = [(dict(zip(names, [random.gauss(0.0, 1.0) for _ in names])), k % 3 == 0) for k in range(2000)]
if who == "river":
    from river import linear_model, optim
    model = linear_model.LogisticRegression(optim.SGD(0.05))
else:
    import geowalk
    model = geowalk.OnlineClassifier(walk=who)
def learn():
    for x, y in rows:
        model.learn_one(x, y)
def predict():
    for x, _ in rows:
        model.predict_proba_one(x)
def both():
    for x, y in rows:
        model.predict_proba_one(x)
        model.learn_one(x, y)
learn()
for _ in range(count):
    globals()[what]()
"""


def instructions(*arguments):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-c", WORK, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**__import__("os").environ, "PYTHONHASHSEED": "0"})
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


if __name__ == "__main__":
    table = [("what", "who", "instructions per example", "times fewer than river")]
    for what in ("learn", "predict", "both"):
        for who in ("river", "free", "gd"):
            each = (instructions(who, what, 4) - instructions(who, what, 1)) / 6000
            if who == "river":
                first = each
            table.append((what, who, f"{each:.0f}", f"{first / each:.2f}"))
            print(*table[-1], flush=True)
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(table)
