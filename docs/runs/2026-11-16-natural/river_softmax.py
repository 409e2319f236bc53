#!/usr/bin/env python3
"""Held-out log-loss of river's SoftmaxRegression after one pass, on the rows that compare.py makes.

    GEOWALK_SHARED=../shared river_softmax.py [DATA,DATA,...] >> raw.jsonl

Features as the other programs get them: standardised, texts as log(1 + count) scaled to length 1. Two rates of its SGD, 0.1 and 0.01. Needs river besides what compare.py needs."""
import sys, time
import numpy as np
from river import linear_model, optim
from sklearn.preprocessing import LabelEncoder, StandardScaler, normalize
from compare import TABLES, TEXTS, load, prepare, say


def rows(m, text):
    for i in range(m.shape[0]):
        if text:
            own = m[i]
            yield dict(zip(own.indices.tolist(), own.data.tolist()))
        else:
            yield dict(enumerate(m[i].tolist()))


def main():
    chosen = sys.argv[1].split(',') if len(sys.argv) > 1 else [*TABLES, *TEXTS]
    for data in chosen:
        x, y, tx, ty = load(prepare(data))
        names = LabelEncoder().fit(np.r_[y, ty])
        y, z, text = names.transform(y), names.transform(ty), data in TEXTS
        if text:
            for m in (x, tx):
                m.data = np.log1p(m.data)
            a, b = normalize(x), normalize(tx)
        else:
            scale = StandardScaler().fit(x)
            a, b = scale.transform(x), scale.transform(tx)
        for rate in (0.1, 0.01):
            model = linear_model.SoftmaxRegression(optimizer=optim.SGD(rate))
            start = time.time()
            for row, label in zip(rows(a, text), y.tolist()):
                model.learn_one(row, label)
            seconds = time.time() - start
            p = np.full((len(z), len(names.classes_)), 1e-15)
            for i, row in enumerate(rows(b, text)):
                for label, own in model.predict_proba_one(row).items():
                    p[i, label] = own
            say(data, f"river SoftmaxRegression(SGD({rate})), 1 pass; {'log, length 1' if text else 'standardised'}", p, z, seconds)


main()
