"""Makes the data that all programs read. The same version of numpy gives the same bytes.

    python bench/workloads.py DIR full|quick

 a  sparse, two classes: 1M rows with about 70 of 2^18 features, of power-law frequency, tf-idf values and norm 1
      a.vw, a.svm (indices from 1); 50,000 held-out rows: a_test.vw, a_test.svm; the first tenth: a_head.vw, a_head.svm
      a_small.*, a_large.*: the first 2000 and 12,000 rows; instructions are counted for their difference
 b  dense regression: 1M rows with 100 columns of unequal scale: b.csv; the label is called _label, as VW requires
 c  20 classes: 500,000 rows with 50 columns, some of scale 5: c.csv, c.vw; 50,000 held-out rows: c_test.csv, c_test.vw
 d  two classes, 500,000 rows with 30 columns of mixed kinds: d.csv; 50,000 held-out rows: d_test.csv
      r.csv: the first 50,000 rows, for rules

quick: a twentieth of the rows.
"""
import json, os, sys

PLACES = 1 << 18
SIZES = {
    'full': {'a': 1_000_000, 'a_test': 50_000, 'b': 1_000_000, 'c': 500_000, 'c_test': 50_000, 'd': 500_000, 'd_test': 50_000, 'r': 50_000},
    'quick': {'a': 50_000, 'a_test': 5_000, 'b': 50_000, 'c': 25_000, 'c_test': 5_000, 'd': 25_000, 'd_test': 5_000, 'r': 10_000},
}
COUNTED = {'a_small': 2_000, 'a_large': 12_000}
# Part of the stamp. Increase it to discard data made before.
VERSION = 1


def sparse_blocks(rows, seed=1001, most=20_000):
    """Blocks (start, index, value in millionths, label) of the sparse rows, from one continuous random sequence."""
    import numpy as np
    rng = np.random.default_rng(seed)
    frequency = 1.0 / (np.arange(PLACES) + 10.0) ** 1.05
    cdf = np.cumsum(frequency / frequency.sum())
    place = rng.permutation(PLACES).astype(np.uint32)
    idf = np.log(1.0 / np.minimum(1.0, 75 * frequency / frequency.sum())).astype(np.float32) + 0.3
    weights = (rng.standard_normal(PLACES) * (rng.random(PLACES) < 0.25)).astype(np.float32) * 4.0
    for done in range(0, rows, most):
        n = min(most, rows - done)
        drawn = np.clip(rng.lognormal(np.log(75) - 0.18, 0.6, n), 8, 400).astype(np.int64)
        rank = np.minimum(np.searchsorted(cdf, rng.random(int(drawn.sum()))), PLACES - 1)
        row = np.repeat(np.arange(n, dtype=np.int64), drawn)
        # A feature drawn twice is one feature with count 2.
        key, first, times = np.unique(row * PLACES + place[rank], return_index=True, return_counts=True)
        rank, row, index = rank[first], key // PLACES, (key % PLACES).astype(np.uint32)
        value = (1 + np.log(times)) * idf[rank]
        value /= np.sqrt(np.bincount(row, value**2, n))[row]
        start = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(row, minlength=n), out=start[1:])
        chance = 1 / (1 + np.exp(0.1 - 2.5 * np.bincount(row, value * weights[rank], n)))
        yield start, index, np.rint(value * 1e6).astype(np.int64), np.where(rng.random(n) < chance, 1, -1)


def write_sparse(folder, sizes):
    """Writes all files of the sparse rows; the held-out rows are the last ones of the stream."""
    decimals = ['0'] + [f'0.{k:06}'.rstrip('0') for k in range(1, 1_000_000)] + ['1']
    from_zero = [f' {k}:' for k in range(PLACES)]
    from_one = [f' {k + 1}:' for k in range(PLACES)]
    train, total = sizes['a'], sizes['a'] + sizes['a_test']
    names = {'a': (0, train), 'a_test': (train, total), 'a_head': (0, train // 10), **{name: (0, rows) for name, rows in COUNTED.items()}}
    files = {name: [open(os.path.join(folder, f'{name}.{end}'), 'w', encoding='ascii') for end in ('vw', 'svm')] for name in names}
    at, features = 0, dict.fromkeys(names, 0)
    for start, index, value, label in sparse_blocks(total):
        text = [decimals[v] for v in value.tolist()]
        zero = [from_zero[i] + v for i, v in zip(index.tolist(), text)]
        one = [from_one[i] + v for i, v in zip(index.tolist(), text)]
        ends = list(zip(label.tolist(), start[:-1].tolist(), start[1:].tolist()))
        lines = [[f'{y} |f' + ''.join(zero[i:j]) + '\n' for y, i, j in ends], [f'{y}' + ''.join(one[i:j]) + '\n' for y, i, j in ends]]
        for name, (first, last) in names.items():
            low, high = max(first - at, 0), min(last - at, len(ends))
            if low < high:
                features[name] += int(start[high] - start[low])
                for file, own in zip(files[name], lines):
                    file.write(''.join(own[low:high]))
        at += len(ends)
    for pair in files.values():
        for file in pair:
            file.close()
    return features


def write_csv(path, columns, label, name='y'):
    """Writes columns of numbers as CSV with a header, the label last, as the shortest decimals that preserve the numbers."""
    import pyarrow as pa, pyarrow.csv as pacsv
    plain = pacsv.WriteOptions(include_header=True, quoting_style='none', quoting_header='none')
    table = pa.table([pa.array(column) for column in columns] + [pa.array(label)], names=[f'x{k}' for k in range(len(columns))] + [name])
    pacsv.write_csv(table, path, plain)


def dense(rows, columns=100, seed=1002):
    """A linear target with noise of standard deviation 1/2. Columns have unequal scales; some are correlated."""
    import numpy as np
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((columns, rows), dtype=np.float32)
    for k in range(0, columns, 5):
        x[k] = 0.7 * x[k] + 0.7 * x[(k + 1) % columns]
    x *= np.exp(rng.uniform(-2, 2, columns)).astype(np.float32)[:, None]
    x = np.round(x, 5)
    w = (rng.standard_normal(columns) * (rng.random(columns) < 0.5)).astype(np.float32)
    return x, np.round(w @ x + 0.5 * rng.standard_normal(rows, dtype=np.float32), 5).astype(np.float32)


def classes(rows, columns=50, count=20, seed=1003):
    """Gaussian classes of unit covariance around random means. Every seventh column is then multiplied by five."""
    import numpy as np
    rng = np.random.default_rng(seed)
    means = rng.standard_normal((count, columns)).astype(np.float32) * 0.45
    y = rng.integers(0, count, rows)
    x = rng.standard_normal((rows, columns), dtype=np.float32) + means[y]
    x[:, ::7] *= 5.0
    return np.round(x, 4).T.copy(), (y + 1).astype(np.int32)


def mixed(rows, seed=1004):
    """Normal, log-normal, uniform and geometric columns, small numbers, and a logistic target with interactions."""
    import numpy as np
    rng = np.random.default_rng(seed)
    normal = rng.standard_normal((12, rows), dtype=np.float32)
    skewed = np.exp(rng.standard_normal((6, rows), dtype=np.float32))
    uniform = rng.random((4, rows), dtype=np.float32) * 100
    counts = rng.geometric(0.05, (4, rows)).clip(max=200).astype(np.float32)
    kinds = rng.integers(0, 12, (4, rows)).astype(np.float32)
    score = (1.2 * (normal[0] > 0.3) * (skewed[0] > 1) - 0.9 * (normal[1] * normal[2] > 0) + 0.8 * np.sin(uniform[0] / 10)
             + 0.5 * (counts[0] > 15) + 0.6 * np.isin(kinds[0], (1, 4, 7)) - 0.7 * (kinds[1] == 3) * (normal[3] < 0)
             + 0.4 * normal[4] + 0.3 * np.log(skewed[1]) - 0.2)
    x = np.concatenate([np.round(normal, 4), np.round(skewed, 4), np.round(uniform, 2), counts, kinds])
    return x, (rng.random(rows) < 1 / (1 + np.exp(-1.6 * score))).astype(np.int8)


def write_vw(path, columns, label):
    """Writes dense rows as VW text, for the one-against-all reduction of VW."""
    with open(path, 'w', encoding='ascii') as file:
        for at in range(0, columns.shape[1], 50_000):
            for row, y in zip(columns[:, at:at + 50_000].T.tolist(), label[at:at + 50_000].tolist()):
                file.write(f'{y} |f ' + ' '.join(f'{k}:{v:.7g}' for k, v in enumerate(row)) + '\n')


def write(folder, size):
    """Makes all data, and the stamp that records them."""
    sizes = SIZES[size]
    os.makedirs(folder, exist_ok=True)
    path = lambda name: os.path.join(folder, name)
    if os.path.exists(path('stamp.json')):
        os.unlink(path('stamp.json'))
    features = write_sparse(folder, sizes)
    x, y = dense(sizes['b'])
    write_csv(path('b.csv'), x, y, '_label')
    for name, make, rows, held in (('c', classes, sizes['c'], sizes['c_test']), ('d', mixed, sizes['d'], sizes['d_test'])):
        x, y = make(rows + held)
        for part, own in ((name, slice(None, rows)), (f'{name}_test', slice(rows, None))):
            write_csv(path(f'{part}.csv'), x[:, own], y[own])
            if name == 'c':
                write_vw(path(f'{part}.vw'), x[:, own], y[own])
    write_csv(path('r.csv'), x[:, :sizes['r']], y[:sizes['r']])
    rows = {**sizes, **COUNTED, 'a_head': sizes['a'] // 10}
    made = {'version': VERSION, 'size': size, 'rows': rows, 'features': features, 'bytes': {f: os.path.getsize(path(f)) for f in sorted(os.listdir(folder))}}
    with open(path('stamp.json'), 'w', encoding='ascii') as file:
        json.dump(made, file, indent=1)
    return made


def made(folder, size):
    """The stamp of existing data if they are complete and of this version, otherwise None."""
    try:
        with open(os.path.join(folder, 'stamp.json'), encoding='ascii') as file:
            stamp = json.load(file)
        same = all(os.path.getsize(os.path.join(folder, name)) == size for name, size in stamp['bytes'].items())
    except (OSError, ValueError):
        return None
    return stamp if same and (stamp['version'], stamp['size']) == (VERSION, size) else None


if __name__ == '__main__':
    write(sys.argv[1], sys.argv[2])
