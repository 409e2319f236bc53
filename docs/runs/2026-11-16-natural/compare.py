#!/usr/bin/env python3
"""Held-out log-loss of natural gradient and of others, on the same rows.

    GEOWALK_SHARED=../shared GEOWALK=target/release/geowalk compare.py [DATA,DATA,...] > raw.jsonl

Each data set is shuffled with a fixed seed; one quarter, at most 20,000 rows, is held out. geowalk reads the files as they are. The others get standardised
features (texts: as counts, and as log(1 + count) scaled to length 1), in memory. With GEOWALK_ALONE=1 only geowalk runs. Needs numpy, scikit-learn, vowpalwabbit."""
import csv, gzip, json, os, subprocess, sys, tempfile, time, warnings
from collections import Counter
import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.preprocessing import LabelEncoder, StandardScaler, normalize
import vowpalwabbit

warnings.filterwarnings('ignore')
SHARED = os.environ.get('GEOWALK_SHARED', '../shared')
GEOWALK = os.environ.get('GEOWALK', 'target/debug/geowalk')
WORK = os.environ.get('GEOWALK_WORK') or tempfile.mkdtemp()
TABLES = {name: f'uci/{name}.csv.gz' for name in ('segment', 'optdigits', 'pendigits', 'letter', 'satimage', 'shuttle')}
TABLES['covtype'] = 'streams/covtype.csv.gz'
TEXTS = {'newsgroups20': 'sparse/newsgroups20.svm.gz', 'reuters21578': 'sparse/reuters21578.svm.gz'}
LABELS = ('class', 'label', 'target', 'y')


def split(rows):
    order = np.random.default_rng(7).permutation(len(rows))
    n = min(len(rows) // 4, 20000)
    return [rows[i] for i in order[n:]], [rows[i] for i in order[:n]]


def prepare(name):
    """Writes train and test files; gives their paths."""
    kind = 'csv' if name in TABLES else 'svm'
    paths = [os.path.join(WORK, f'{name}-{part}.{kind}') for part in ('train', 'test')]
    if all(map(os.path.exists, paths)):
        return paths
    with gzip.open(os.path.join(SHARED, {**TABLES, **TEXTS}[name]), 'rt') as f:
        lines = f.read().splitlines()
    head = [lines.pop(0)] if kind == 'csv' else []
    if name == 'reuters21578':  # several topics: the first; the 20 most frequent of these; documents with a text
        pairs = [line.partition(' ') for line in lines]
        lines = [f"{label.split(',')[0]} {rest}" for label, _, rest in pairs if rest.strip()]
        first = Counter(line.split(' ', 1)[0] for line in lines)
        keep = {label for label, _ in first.most_common(20)}
        lines = [line for line in lines if line.split(' ', 1)[0] in keep]
    for path, part in zip(paths, split(lines)):
        with open(path, 'w') as f:
            f.write('\n'.join(head + part) + '\n')
    return paths


def load(paths):
    if paths[0].endswith('svm'):
        x, y = load_svmlight_file(paths[0])
        tx, ty = load_svmlight_file(paths[1], n_features=x.shape[1])
        for m in (x, tx):  # scikit-learn wants indices of 32 bits
            m.indices, m.indptr = m.indices.astype(np.int32), m.indptr.astype(np.int32)
        return x, y.astype(int).astype(str), tx, ty.astype(int).astype(str)
    out = []
    for path in paths:
        with open(path) as f:
            rows = list(csv.reader(f))
        c = next(i for i, column in enumerate(rows[0]) if column in LABELS)
        out.append(np.array([[float(v or 0) for i, v in enumerate(r) if i != c] for r in rows[1:]]))
        out.append(np.array([r[c] for r in rows[1:]]))
    return out


def say(data, tool, p, y, seconds, **more):
    """p: probabilities by row and class, y: numbers of the classes."""
    own = np.clip(p[np.arange(len(y)), y], 1e-15, 1)
    print(json.dumps({'data': data, 'tool': tool, 'log_loss': round(float(-np.log(own).mean()), 4),
                      'accuracy': round(float((p.argmax(1) == y).mean()), 4), 'seconds': round(seconds, 1), **more}), flush=True)


def geowalk(data, walk, paths, truth, passes=1):
    model = os.path.join(WORK, 'model.gw')
    start = time.time()
    command = [GEOWALK, 'train', paths[0], '--walk', walk, '--task', 'multiclass', '--certificate', 'off', '--passes', str(passes),
               '--model', model, '--json', '--progress', 'none']
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.time() - start
    tool = f'geowalk {walk}' + (f', {passes} passes' if passes > 1 else '')
    if done.returncode:
        print(json.dumps({'data': data, 'tool': tool, 'error': done.stderr.strip()[-300:]}), flush=True)
        return
    summary = json.loads(done.stdout)
    lines = subprocess.run([GEOWALK, 'predict', model, paths[1], '--proba'], capture_output=True, text=True, check=True).stdout.splitlines()
    p = np.array([[float(v) for v in line.split(',')] for line in lines[1:]])
    place = {label: i for i, label in enumerate(lines[0].split(','))}
    y = np.array([place[label] if label in place else place[str(float(label))] for label in truth])
    say(data, tool, p, y, seconds, progressive=round(summary['loss'], 4), walk=summary['walk'])


def peers(data, paths):
    x, y, tx, ty = load(paths)
    names = LabelEncoder().fit(np.r_[y, ty])
    y, z, classes, text = names.transform(y), names.transform(ty), len(names.classes_), data in TEXTS
    if text:
        sets = [('counts', x, tx)]
        logs = [m.copy() for m in (x, tx)]
        for m in logs:
            m.data = np.log1p(m.data)
        sets.append(('log, length 1', *map(normalize, logs)))
    else:
        scale = StandardScaler().fit(x)
        sets = [('standardised', scale.transform(x), scale.transform(tx))]
    c = 1.0 if text else 1000.0
    for label, a, b in sets:
        tools = {
            'scikit-learn SGDClassifier(log_loss), 1 epoch': SGDClassifier(loss='log_loss', max_iter=1, tol=None, random_state=0),
            'scikit-learn SGDClassifier(log_loss, average), 1 epoch': SGDClassifier(loss='log_loss', max_iter=1, tol=None, average=True, random_state=0),
            f'scikit-learn LogisticRegression(saga, C={c:g}), 1 epoch': LogisticRegression(solver='saga', max_iter=1, C=c),
        }
        if len(y) <= 1000000:
            tools[f'scikit-learn LogisticRegression(lbfgs, C={c:g}), batch'] = LogisticRegression(max_iter=300, C=c)
        for tool, model in tools.items():
            start = time.time()
            model.fit(a, y)
            seconds = time.time() - start
            p = np.full((len(z), classes), 1e-15)
            p[:, model.classes_] = model.predict_proba(b)
            say(data, f'{tool}; {label}', p, z, seconds)
    label, a, b = sets[-1]

    def line(m, i, y):
        cells = zip(m[i].indices, m[i].data) if text else enumerate(m[i])
        return f'{y + 1} |f ' + ' '.join(f'{j}:{v:.7g}' for j, v in cells if v)
    train, test = ([line(m, i, y) for i, y in enumerate(ys)] for m, ys in ((a, y), (b, z)))
    start = time.time()
    vw = vowpalwabbit.Workspace(f'--oaa {classes} --probabilities --loss_function logistic -b 22 --quiet')
    for text_line in train:
        vw.learn(text_line)
    seconds = time.time() - start
    say(data, f'VW --oaa --probabilities, 1 pass; {label}', np.array([vw.predict(t) for t in test]), z, seconds)


def main():
    chosen = sys.argv[1].split(',') if len(sys.argv) > 1 else [*TABLES, *TEXTS]
    for data in chosen:
        paths = prepare(data)
        truth = load(paths)[3] if data in TEXTS else None
        if truth is None:
            with open(paths[1]) as f:
                rows = list(csv.reader(f))
            c = next(i for i, column in enumerate(rows[0]) if column in LABELS)
            truth = [r[c] for r in rows[1:]]
        others = ['natural:poisson', 'natural:multinomial'] if data in TEXTS else \
            ['natural:gaussian-shared-diagonal', 'natural:gaussian-diagonal', 'natural:gaussian', 'natural-sgd', 'natural-adagrad']
        for walk in ['natural', *others, 'free']:
            geowalk(data, walk, paths, truth)
        geowalk(data, 'natural', paths, truth, passes=3)
        if not os.environ.get('GEOWALK_ALONE'):
            peers(data, paths)


if __name__ == '__main__':
    main()
