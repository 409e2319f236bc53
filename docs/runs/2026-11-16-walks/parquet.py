"""Training from Parquet: geowalk against scikit-learn's load and partial_fit, CPU seconds, least of three, one after the other in turn.

    python parquet.py GEOWALK OUT.csv
"""
import csv, os, resource, subprocess, sys, tempfile
import numpy as np, pyarrow as pa, pyarrow.parquet as pq

geowalk, out = sys.argv[1:3]
SK = """
import sys, pyarrow.parquet as pq, numpy as np
from sklearn.linear_model import SGDRegressor
m = SGDRegressor(loss='squared_error', penalty=None, learning_rate='constant', eta0=0.0001)
for batch in pq.ParquetFile(sys.argv[1]).iter_batches(batch_size=65536):
    d = {n: batch.column(i).to_numpy() for i, n in enumerate(batch.schema.names)}
    y = d.pop('y')
    m.partial_fit(np.column_stack(list(d.values())), y)
"""
def cpu(args):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(args, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
rows, columns = 500_000, 100
with tempfile.TemporaryDirectory() as tmp:
    path = os.path.join(tmp, 'd.parquet')
    rng = np.random.default_rng(1)
    x = rng.normal(size=(rows, columns)); w = rng.normal(size=columns)
    y = x @ w + rng.normal(size=rows)
    pq.write_table(pa.table({**{f'x{i}': x[:, i] for i in range(columns)}, 'y': y}), path)
    start = os.path.join(tmp, 'start.py'); open(start, 'w').write(SK)
    lines = []
    for turn in range(3):
        lines.append(['geowalk', turn, cpu([geowalk, 'train', path, '--label', 'y', '--walk', 'gd', '--rate', '0.0001', '--model', os.path.join(tmp, 'm'), '--progress', 'none'])])
        lines.append(['scikit-learn', turn, cpu([sys.executable, start, path])])
        print(lines[-2:], flush=True)
with open(out, 'w', newline='') as f:
    csv.writer(f).writerows([['program', 'turn', 'cpu_seconds'], *lines])
