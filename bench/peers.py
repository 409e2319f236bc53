"""Measures libraries that learn in memory. Prints the CPU seconds of import, load, binning, fit and prediction as one
JSON object.

    python bench/peers.py TASK DATA_DIR

Runs in the environment of bench/requirements.txt, with one thread: the caller sets OMP_NUM_THREADS and similar variables.
"""
import itertools, json, os, sys, tempfile, time, warnings

BINS, DEPTH, ROUNDS = 255, 8, 100
TASKS = {}


def task(function):
    TASKS[function.__name__] = function
    return function


class Phases(dict):
    """Seconds by name; `phases('fit', f)` measures f."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def __call__(self, name, function):
        wall, cpu = time.perf_counter(), time.process_time()
        out = function()
        self[f'{name}_cpu'] = time.process_time() - cpu
        self[f'{name}_wall'] = time.perf_counter() - wall
        return out

    def path(self, name):
        return os.path.join(self.folder, name)


def matrix(path):
    """Reads a CSV file with pyarrow, the fastest reader here. Returns a matrix of f32 and the last column."""
    import numpy as np, pyarrow.csv as pacsv
    table = pacsv.read_csv(path, read_options=pacsv.ReadOptions(use_threads=False))
    x = np.empty((table.num_rows, table.num_columns - 1), np.float32)
    for k in range(x.shape[1]):
        x[:, k] = table.column(k).to_numpy()
    return x, table.column(x.shape[1]).to_numpy()


def judge(phases, y, probability):
    """Records log loss, error and AUC on held-out rows of two classes."""
    import numpy as np
    from sklearn.metrics import roc_auc_score
    own = np.clip(np.where(y > 0, probability, 1 - probability), 1e-12, 1)
    phases.update(log_loss=float(-np.log(own).mean()), error=float(((probability > 0.5) != (y > 0)).mean()), auc=float(roc_auc_score(y > 0, probability)))


# Workload (a)

@task
def sgd_sparse(phases):
    phases('import', lambda: __import__('sklearn.linear_model'))
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import SGDClassifier
    import numpy as np

    def load(name):
        x, y = load_svmlight_file(phases.path(name), n_features=1 << 18, dtype=np.float32, zero_based=False)
        x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
        return x, y
    x, y = phases('load', lambda: load('a.svm'))
    model = SGDClassifier(loss='log_loss', alpha=1e-9, max_iter=1, tol=None, shuffle=False, learning_rate='constant', eta0=0.5)
    phases('fit', lambda: model.fit(x, y))
    phases('predict', lambda: model.decision_function(x))
    x, y = load('a_test.svm')
    judge(phases, y, model.predict_proba(x)[:, 1])


@task
def river_sparse(phases, rows=20_000):
    from river import linear_model, optim

    def load():
        with open(phases.path('a.svm'), encoding='ascii') as file:
            split = [line.split() for line in itertools.islice(file, rows)]
        return [({k: float(v) for k, v in (cell.split(':') for cell in cells[1:])}, cells[0] == '1') for cells in split]
    data = phases('load', load)
    model = linear_model.LogisticRegression(optimizer=optim.SGD(0.5), l2=0.0)

    def fit():
        for x, y in data:
            model.learn_one(x, y)
    phases('fit', fit)
    phases['rows'] = len(data)


# Workload (b)

@task
def pyarrow_csv(phases):
    phases('import', lambda: __import__('pyarrow.csv'))
    phases('load', lambda: matrix(phases.path('b.csv')))


@task
def pandas_csv(phases):
    import numpy as np, pandas as pd
    phases('load', lambda: pd.read_csv(phases.path('b.csv'), dtype=np.float32))


@task
def sgd_dense(phases):
    from sklearn.linear_model import SGDRegressor
    import numpy as np
    x, y = phases('load', lambda: matrix(phases.path('b.csv')))
    model = SGDRegressor(max_iter=1, tol=None, shuffle=False, learning_rate='constant', eta0=1e-4, alpha=0)
    phases('fit', lambda: model.fit(x, y))
    phases['train_mse'] = float(np.mean((model.predict(x) - y) ** 2))


# Workload (c)

def standardised(phases):
    import numpy as np
    x, y = phases('load', lambda: matrix(phases.path('c.csv')))
    tx, ty = matrix(phases.path('c_test.csv'))

    def scale():
        mean, deviation = x.mean(0), x.std(0)
        return (x - mean) / deviation, (tx - mean) / deviation
    x, tx = phases('scale', scale)

    def loss(model):
        p = model.predict_proba(tx)[np.arange(len(ty)), ty - 1]
        return float(-np.log(np.clip(p, 1e-12, 1)).mean())
    return x, y, loss


def reach(phases, solver, steps, goals):
    """Fits from scratch with more and more steps. Records the CPU seconds of the first fit that reaches each goal, and
    the smallest loss."""
    from sklearn.linear_model import LogisticRegression
    x, y, loss = standardised(phases)
    goals, curve = dict(goals), []
    for count in steps:
        model = LogisticRegression(C=1.0, solver=solver, max_iter=count, tol=1e-9)
        cpu = time.process_time()
        model.fit(x, y)
        cpu = time.process_time() - cpu
        curve.append((count, cpu, loss(model)))
        for name in [name for name, goal in goals.items() if curve[-1][2] <= goal]:
            phases[name] = cpu
            del goals[name]
        if not goals:
            break
    phases.update(curve=curve, log_loss=min(own for _, _, own in curve), steps=curve[-1][0])


@task
def lbfgs(phases):
    reach(phases, 'lbfgs', (6, 7, 8, 9, 10, 20), {'to_0.46_cpu': 0.46, 'to_0.456_cpu': 0.456})


@task
def saga(phases):
    reach(phases, 'saga', (1, 2, 4), {'to_0.46_cpu': 0.46})


# Workload (d)

def tables(phases, train='d.csv'):
    x, y = phases('load', lambda: matrix(phases.path(train)))
    return x, y, *matrix(phases.path('d_test.csv'))


def boosted_by_lightgbm(phases, rounds, leaves, depth, rate):
    phases('import', lambda: __import__('lightgbm'))
    import lightgbm as lgb
    x, y, tx, ty = tables(phases)
    settings = {'objective': 'binary', 'num_leaves': leaves, 'max_depth': depth, 'learning_rate': rate, 'num_threads': 1, 'max_bin': BINS, 'verbose': -1, 'force_col_wise': True}
    data = lgb.Dataset(x, y, params=settings)
    phases('bin', data.construct)
    model = phases('fit', lambda: lgb.train(settings, data, rounds))
    with tempfile.TemporaryDirectory() as folder:
        phases('save', lambda: model.save_model(os.path.join(folder, 'model')))
    phases('predict', lambda: model.predict(x, num_threads=1))
    judge(phases, ty, model.predict(tx))


@task
def lightgbm_tree(phases):
    boosted_by_lightgbm(phases, 1, 1 << DEPTH, DEPTH, 1.0)


@task
def lightgbm_stumps(phases):
    boosted_by_lightgbm(phases, ROUNDS, 2, 1, 0.3)


@task
def lightgbm_file(phases):
    """From file to model with the CSV reader of LightGBM."""
    import lightgbm as lgb
    settings = {'objective': 'binary', 'num_leaves': 1 << DEPTH, 'max_depth': DEPTH, 'learning_rate': 1.0, 'num_threads': 1, 'max_bin': BINS, 'verbose': -1,
                'force_col_wise': True, 'header': True, 'label_column': 'name:y'}
    model = lgb.train(settings, lgb.Dataset(phases.path('d.csv'), params=settings), 1)
    with tempfile.TemporaryDirectory() as folder:
        model.save_model(os.path.join(folder, 'model'))


def boosted_by_xgboost(phases, rounds, depth, rate):
    phases('import', lambda: __import__('xgboost'))
    import xgboost as xgb
    x, y, tx, ty = tables(phases)
    data = phases('bin', lambda: xgb.QuantileDMatrix(x, y, nthread=1, max_bin=BINS))
    settings = {'tree_method': 'hist', 'max_depth': depth, 'nthread': 1, 'objective': 'binary:logistic', 'eta': rate, 'max_bin': BINS}
    model = phases('fit', lambda: xgb.train(settings, data, rounds))
    phases('predict', lambda: model.inplace_predict(x))
    judge(phases, ty, model.inplace_predict(tx))


@task
def xgboost_tree(phases):
    boosted_by_xgboost(phases, 1, DEPTH, 1.0)


@task
def xgboost_stumps(phases):
    boosted_by_xgboost(phases, ROUNDS, 1, 0.3)


def of_scikit_learn(phases, model, train='d.csv'):
    x, y, tx, ty = tables(phases, train)
    phases('fit', lambda: model.fit(x, y))
    phases('predict', lambda: model.predict(tx))
    phases['predicted_rows'] = len(ty)
    judge(phases, ty, model.predict_proba(tx)[:, 1])


@task
def sklearn_tree(phases):
    from sklearn.tree import DecisionTreeClassifier
    of_scikit_learn(phases, DecisionTreeClassifier(max_depth=DEPTH, random_state=0))


@task
def adaboost(phases):
    from sklearn.ensemble import AdaBoostClassifier
    of_scikit_learn(phases, AdaBoostClassifier(n_estimators=ROUNDS, random_state=0))


@task
def histogram_stumps(phases):
    from sklearn.ensemble import HistGradientBoostingClassifier
    of_scikit_learn(phases, HistGradientBoostingClassifier(max_iter=ROUNDS, max_depth=1, learning_rate=0.3, early_stopping=False, random_state=0))


@task
def imodels_rules(phases):
    from imodels import BoostedRulesClassifier
    of_scikit_learn(phases, BoostedRulesClassifier(n_estimators=ROUNDS, random_state=0), 'r.csv')


def main():
    warnings.filterwarnings('ignore')
    phases = Phases(sys.argv[2])
    TASKS[sys.argv[1]](phases)
    print('@@' + json.dumps(phases))


if __name__ == '__main__':
    main()
