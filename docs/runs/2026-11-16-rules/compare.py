#!/usr/bin/env python3
"""CPU seconds and test error of 100 boosted rules, on the data of `crates/geowalk/examples/rules.rs`: 40,000 rows to learn from, 10,000 to test, 30 columns.

    cargo build --release -p geowalk --example rules
    python compare.py target/release/examples/rules

One thread each. Needs numpy, scikit-learn, imodels; reads /proc, so Linux."""
import os, subprocess, sys, tempfile, time
import numpy as np
from imodels import BoostedRulesClassifier
from sklearn.tree import DecisionTreeClassifier


def seconds(pid):
    fields = open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


data = os.path.join(tempfile.mkdtemp(), 'data.csv')
run = subprocess.Popen([sys.argv[1], '50000', '30', '100', data], stdout=subprocess.PIPE, text=True, env={**os.environ, 'RAYON_NUM_THREADS': '1'})
print(run.stdout.readline().strip())  # the data are written
before = seconds(run.pid)
line = run.stdout.readline().strip()
print(line, 'CPU', seconds(run.pid) - before)
run.kill()
rows = np.loadtxt(data, delimiter=',')
x, y, cut = rows[:, :-1], (rows[:, -1] > 0).astype(int), 40000
for depth in (1, 3):
    model = BoostedRulesClassifier(estimator=DecisionTreeClassifier(max_depth=depth), n_estimators=100, random_state=0)
    start = time.process_time()
    model.fit(x[:cut], y[:cut])
    print('imodels, depth', depth, 'CPU', time.process_time() - start, 'test error', (model.predict(x[cut:]) != y[cut:]).mean(), flush=True)
