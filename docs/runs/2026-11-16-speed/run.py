#!/usr/bin/env python3
"""geowalk and Vowpal Wabbit on the same bytes, one after the other, several times.

    run.py make DIR [--part 20]                      writes the data: 1M rows of each kind, or a part of them
    run.py run DIR [--geowalk PATH] [--reps 5]       measures; writes raw.csv beside this file, prints the tables of README.md

CPU seconds are user + system of the whole process, from start to the saved model; each figure is the least of the repetitions, and the repetitions go round
through all programs, so that a busy neighbour troubles all alike. Needs numpy and pyarrow (make), vowpalwabbit and GNU time (run). Instructions per feature: scripts/instructions.
"""
import argparse, csv, json, os, re, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def make_sparse(folder, rows):
    """Two classes, 2^18 features of power-law frequency, some 70 a row, values like those of tf-idf, rows of length 1."""
    import numpy as np
    places = 1 << 18
    rng = np.random.default_rng(1001)
    frequency = 1.0 / (np.arange(places) + 10.0) ** 1.05
    cdf = np.cumsum(frequency / frequency.sum())
    permutation = rng.permutation(places).astype(np.uint32)
    idf = np.log(1.0 / np.minimum(1.0, 75 * frequency / frequency.sum())).astype(np.float32) + 0.3
    weights = (rng.standard_normal(places) * (rng.random(places) < 0.25)).astype(np.float32) * 4.0

    def block(n):
        nnz = np.clip(rng.lognormal(np.log(75) - 0.18, 0.6, n), 8, 400).astype(np.int64)
        rank = np.searchsorted(cdf, rng.random(int(nnz.sum()))).astype(np.int64)
        np.minimum(rank, places - 1, out=rank)
        row = np.repeat(np.arange(n, dtype=np.int64), nnz)
        key, first, times = np.unique(row * places + permutation[rank], return_index=True, return_counts=True)
        rank, row, index = rank[first], key // places, (key % places).astype(np.uint32)
        value = (1 + np.log(times)).astype(np.float32) * idf[rank]
        norm = np.sqrt(np.bincount(row, value.astype(np.float64) ** 2, n)).astype(np.float32)
        value = np.round((value / norm[row]).astype(np.float64), 6).astype(np.float32)
        start = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(row, minlength=n), out=start[1:])
        chance = 1 / (1 + np.exp(-(2.5 * np.bincount(row, value * weights[rank], n) - 0.1)))
        return start, index, value, np.where(rng.random(n) < chance, 1, -1)

    with open(os.path.join(folder, 'a.vw'), 'w') as vw, open(os.path.join(folder, 'a.svm'), 'w') as svm:
        for done in range(0, rows, 20_000):
            start, index, value, label = block(min(20_000, rows - done))
            text = [('%.6f' % x).rstrip('0') for x in value.tolist()]
            zero = [f' {i}:{v}' for i, v in zip(index.tolist(), text)]
            one = [f' {i + 1}:{v}' for i, v in zip(index.tolist(), text)]
            for k, y in enumerate(label.tolist()):
                vw.write(f'{y} |f' + ''.join(zero[start[k]:start[k + 1]]) + '\n')
                svm.write(f'{y}' + ''.join(one[start[k]:start[k + 1]]) + '\n')


def make_dense(folder, rows, held_out):
    """A linear target in 100 columns of unequal scale, with noise."""
    import numpy as np, pyarrow as pa, pyarrow.csv as pacsv
    columns = 100
    rng = np.random.default_rng(1002)
    x = rng.standard_normal((columns, rows + held_out), dtype=np.float32)
    for j in range(0, columns, 5):
        x[j] = 0.7 * x[j] + 0.7 * x[(j + 1) % columns]
    x *= np.exp(rng.uniform(-2, 2, columns)).astype(np.float32)[:, None]
    x = np.round(x, 5)
    w = (rng.standard_normal(columns) * (rng.random(columns) < 0.5)).astype(np.float32)
    y = np.round(w @ x + 0.5 * rng.standard_normal(rows + held_out, dtype=np.float32), 5).astype(np.float32)
    plain = pacsv.WriteOptions(include_header=True, quoting_style='none', quoting_header='none')
    for name, label in (('b.csv', 'y'), ('b_vw.csv', '_label')):  # VW wants this name
        table = pa.table([pa.array(c[:rows]) for c in x] + [pa.array(y[:rows])], names=[f'x{i}' for i in range(columns)] + [label])
        pacsv.write_csv(table, os.path.join(folder, name), plain)


def measured(command):
    """User and system seconds, largest resident set in MiB, and the output."""
    with tempfile.TemporaryFile('w+') as out, tempfile.NamedTemporaryFile('r') as memory:
        # The kernel counts the memory of this script, from which a child is forked, as the child's: so there is one between, which is small.
        process = subprocess.Popen(['/usr/bin/time', '-f', '%M', '-o', memory.name, *command], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read()
        rss = memory.read().split()
    if process.returncode:
        sys.exit(f'{" ".join(command)}\n{text[-800:]}')
    return usage.ru_utime, usage.ru_stime, int(rss[-1]) / 1024, text


def loss_of(text):
    """The average progressive loss that a program reports."""
    found = re.search(r'average loss = ([-\d.e+]+)', text)
    if found:
        return float(found.group(1))
    found = re.search(r'^\{.*\}$', text, re.M)
    return json.loads(found.group())['loss'] if found else float('nan')


def programs(folder, geowalk, model):
    """Case, rows, command."""
    data = lambda name: os.path.join(folder, name)
    vw = [sys.executable, '-m', 'vowpalwabbit', '-f', model + '.vw']
    ours = lambda file, *rest: [geowalk, 'train', data(file), '--model', model, '--json', *rest]
    logistic = ['--loss', 'logistic', '--rate', '0.5']
    sgd = ['--loss_function', 'logistic', '-b', '18', '--sgd', '-l', '0.5', '--power_t', '0']
    yield 'start of VW', None, [sys.executable, '-m', 'vowpalwabbit', '--version']
    yield 'start of geowalk', None, [geowalk, '--version']
    yield 'sparse: VW --sgd, VW text', 'a', [*vw, '-d', data('a.vw'), *sgd]
    yield 'sparse: geowalk gd, VW text', 'a', ours('a.vw', '--walk', 'gd', *logistic)
    yield 'sparse: geowalk gd, VW text, no certificate', 'a', ours('a.vw', '--walk', 'gd', *logistic, '--certificate', 'off')
    yield 'sparse: geowalk gd, LIBSVM', 'a', ours('a.svm', '--walk', 'gd', *logistic)
    yield 'sparse: geowalk gd, LIBSVM, no certificate', 'a', ours('a.svm', '--walk', 'gd', *logistic, '--certificate', 'off')
    yield 'dense: VW --csv --sgd', 'b', [*vw, '-d', data('b_vw.csv'), '--csv', '--sgd', '-l', '0.0001', '--power_t', '0']
    yield 'dense: geowalk gd, CSV', 'b', ours('b.csv', '--walk', 'gd', '--loss', 'squared', '--rate', '0.0001')
    yield 'dense: geowalk gd, CSV, no certificate', 'b', ours('b.csv', '--walk', 'gd', '--loss', 'squared', '--rate', '0.0001', '--certificate', 'off')


SLOW = {'mirror:burg': '0.001', 'implicit:burg': '0.001'}
FULL = {'winnow': 'winnow(n=262144)', 'reparam-winnow': 'reparam-winnow(n=262144)'}


def walks(folder, geowalk, model):
    """Every walk on the first rows of the sparse data."""
    listed = json.loads(subprocess.run([geowalk, 'list', 'walks', '--json'], capture_output=True, text=True, check=True).stdout)
    names = [walk['name'] for walk in listed if 'mahalanobis' not in walk['name']]
    for name in ['explicit:euclidean'] + [name for name in names if name != 'explicit:euclidean']:
        yield f'walk {name}', 'head', [geowalk, 'train', os.path.join(folder, 'head.svm'), '--model', model, '--json', '--walk', FULL.get(name, name),
                                       '--loss', 'logistic', '--rate', SLOW.get(name, '0.1')]


def run(options):
    with open(os.path.join(options.folder, 'a.svm'), 'rb') as file, open(os.path.join(options.folder, 'head.svm'), 'wb') as head:
        for _, line in zip(range(100_000), file):
            head.write(line)
    rows = {}
    for name, file in (('a', 'a.svm'), ('b', 'b.csv'), ('head', 'head.svm')):
        with open(os.path.join(options.folder, file), 'rb') as data:
            rows[name] = sum(chunk.count(b'\n') for chunk in iter(lambda: data.read(1 << 24), b'')) - (name == 'b')
    best = {}
    with tempfile.TemporaryDirectory() as scratch, open(os.path.join(HERE, 'raw.csv'), 'w', newline='') as raw:
        writer = csv.writer(raw, lineterminator='\n')
        writer.writerow(['repetition', 'case', 'rows', 'user', 'system', 'rss_mib', 'loss'])
        model = os.path.join(scratch, 'model')
        plan = list(programs(options.folder, options.geowalk, model)) + list(walks(options.folder, options.geowalk, model))
        plan = [entry for entry in plan if re.search(options.only, entry[0])]
        for repetition in range(options.reps):
            for case, data, command in plan:
                user, system, rss, text = measured(command)
                loss = loss_of(text)
                writer.writerow([repetition, case, rows.get(data, 0), f'{user:.3f}', f'{system:.3f}', f'{rss:.1f}', f'{loss:.6f}'])
                raw.flush()
                known = best.get(case)
                if known is None or user + system < known[0]:
                    best[case] = (user + system, rss, loss, rows.get(data, 0))
    start = best.get('start of VW', (0.0,))[0]
    print('| case | CPU s | rows per CPU s | MiB | loss | against VW | VW without its start |\n|---|---|---|---|---|---|---|')
    for case, (cpu, rss, loss, count) in best.items():
        kind = case.split(':')[0]
        against = next((best[other][0] for other in best if other.startswith(f'{kind}: VW')), None)
        ratio = f'{against / cpu:.2f} | {(against - start) / cpu:.2f}' if against else '|'
        if not case.startswith('walk'):
            print(f'| {case} | {cpu:.2f} | {count / cpu / 1e3:.0f} k | {rss:.0f} | {loss:.4f} | {ratio} |')
    reference = best.get('walk explicit:euclidean')
    if reference:
        print('\n| walk | CPU s | times gd | loss |\n|---|---|---|---|')
        for case, (cpu, _, loss, _) in best.items():
            if case.startswith('walk'):
                print(f'| {case[5:]} | {cpu:.2f} | {cpu / reference[0]:.2f} | {loss:.4f} |')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('what', choices=['make', 'run'])
    parser.add_argument('folder')
    parser.add_argument('--part', type=int, default=1)
    parser.add_argument('--geowalk', default=shutil.which('geowalk') or os.path.join(HERE, '../../../target/release/geowalk'))
    parser.add_argument('--reps', type=int, default=5)
    parser.add_argument('--only', default='.')
    options = parser.parse_args()
    if options.what == 'make':
        os.makedirs(options.folder, exist_ok=True)
        make_sparse(options.folder, 1_000_000 // options.part)
        make_dense(options.folder, 1_000_000 // options.part, 50_000 // options.part)
    else:
        run(options)


if __name__ == '__main__':
    main()
