"""The performance targets of the project: each is a figure of one run and a bound for it."""
from dataclasses import dataclass

from .cases import WALKS


class Missing(Exception):
    """A figure that a target needs was not measured; the message says why."""


@dataclass
class Target:
    """Requires that `measure(results)` is at least, or at most, `bound`."""
    workload: str
    text: str
    measure: object
    bound: float
    at_least: bool
    full_only: bool = False   # not meaningful for small data
    needs_idle: bool = False  # wall time, not meaningful on a busy machine


class Results:
    """The best figures of a run. Access to a missing figure raises `Missing`."""

    def __init__(self, best, run):
        self.best, self.run = best, run

    def case(self, key):
        found = self.best.get(key)
        if found is None:
            raise Missing(f'{key} was not run')
        if 'missing' in found:
            raise Missing(found['missing'])
        return found

    def value(self, key, name):
        """CPU seconds, wall seconds, memory, or a phase."""
        found = self.case(key)
        value = found[name] if name in ('cpu', 'wall', 'rss_mib') else found['values'].get(name)
        if value is None:
            raise Missing(f'{key} gives no {name}')
        return value

    def ratio(self, above, below, name='cpu', other=None):
        return self.value(above, name) / self.value(below, other or name)

    def speed(self, key):
        """Examples per CPU second."""
        return self.run['rows_of'][key] / self.value(key, 'cpu')

    def summed(self, key, *names):
        return sum(self.value(key, name) for name in names)


def against_limit(key, limit):
    return lambda r: r.speed(key) / r.value('limits', limit)


def lightgbm_file(r):
    """CPU seconds of the faster of two ways of LightGBM from CSV to a model."""
    ways = [r.value('d.file.lightgbm', 'cpu')]
    try:
        ways.append(r.summed('d.tree.lightgbm', 'import_cpu', 'load_cpu', 'bin_cpu', 'fit_cpu', 'save_cpu'))
    except Missing:
        pass
    return min(ways)


def targets():
    """All targets, in the order of printing."""
    at_least = lambda workload, text, bound, measure, **more: Target(workload, text, measure, bound, True, **more)
    at_most = lambda workload, text, bound, measure, **more: Target(workload, text, measure, bound, False, **more)
    forms = (('vw', 'VW text'), ('svm', 'LIBSVM'))
    for form, name in forms:
        yield at_least('a', f'{name}, `gd`, one thread: VW\'s CPU time / ours', 3.0, lambda r, k=f'a.gd.{form}': r.ratio('a.vw-sgd', k))
    for form, name in forms:
        yield at_most('a', f'{name}: instructions per feature', 230.0, lambda r, k=f'i.{form}': r.value(k, 'instructions_per_feature'))
    for form, name in forms:
        yield at_least('a', f'{name}: examples per CPU second / those of the kernel that reads, parses, learns', 1.0, against_limit(f'a.gd.{form}', 'text_step_examples_per_s'))
    for form, name in forms:
        yield at_least('a', f'{name}: wall time of one thread / of two', 1.6, lambda r, k=f'a.gd.{form}': r.ratio(k, f'{k}.2', 'wall'), needs_idle=True)
    yield at_least('a', 'binary: examples per CPU second / those of the kernel that reads and learns', 0.5, against_limit('a.gd.bin', 'binary_step_examples_per_s'))
    for walk in WALKS:
        yield at_most('a', f'binary: CPU time of `{walk}` / of `gd`', 4.0 if walk == 'p-norm' else 2.0, lambda r, k=f'walk.{walk}': binary(r) and r.ratio(k, 'walk.gd'))
    yield at_least('b', 'CSV: CPU time of VW `--csv` / ours', 4.0, lambda r: r.ratio('b.vw', 'b.gd'))
    yield at_least('b', 'CSV: CPU time of pyarrow\'s reader alone / ours', 5.0, lambda r: r.ratio('b.pyarrow', 'b.gd', 'load_cpu', 'cpu'))
    yield at_most('c', 'natural, one pass: held-out log-loss', 0.46, lambda r: r.value('c.natural.1', 'held_out'), full_only=True)
    yield at_most('c', 'natural, one pass from CSV: CPU time / that of lbfgs to 0.46, load and scaling included', 1.0,
                  lambda r: r.value('c.natural.1', 'cpu') / r.summed('c.lbfgs', 'load_cpu', 'scale_cpu', 'to_0.46_cpu'), full_only=True)
    yield at_most('c', 'natural, one pass from binary: CPU time / that of the fit of lbfgs to 0.46 in memory', 1.0,
                  lambda r: r.ratio('c.natural.bin', 'c.lbfgs', 'cpu', 'to_0.46_cpu'), full_only=True)
    yield at_most('c', 'natural, three passes: held-out log-loss', 0.456, lambda r: r.value('c.natural.3', 'held_out'), full_only=True)
    yield at_most('d', 'tree of depth 8, bins: fit / LightGBM\'s', 1.0, lambda r: r.ratio('d.tree', 'd.tree.lightgbm', 'fit_cpu'))
    yield at_most('d', 'binning / LightGBM\'s', 0.5, lambda r: r.ratio('d.tree', 'd.tree.lightgbm', 'bin_cpu'))
    yield at_most('d', 'tree from CSV to model / LightGBM\'s faster way', 1 / 3, lambda r: r.value('d.file', 'cpu') / lightgbm_file(r))
    yield at_most('d', '100 stumps: fit / XGBoost\'s', 0.6, lambda r: r.ratio('d.stumps', 'd.stumps.xgboost', 'fit_cpu'))
    yield at_least('d', '100 stumps: prediction, XGBoost\'s CPU time / ours', 3.0, lambda r: r.ratio('d.stumps.xgboost', 'd.stumps', 'predict_cpu'))
    yield at_least('d', 'tree of depth 8, exact: scikit-learn\'s fit / ours, sorting included', 3.0, lambda r: r.value('d.tree.sklearn', 'fit_cpu') / r.summed('d.tree.exact', 'bin_cpu', 'fit_cpu'))
    yield at_least('d', '100 stumps: AdaBoostClassifier\'s fit / ours, binning included', 10.0, lambda r: r.value('d.stumps.adaboost', 'fit_cpu') / r.summed('d.stumps', 'bin_cpu', 'fit_cpu'))
    yield at_least('d', '100 stumps: wall time of one thread / of two', 1.2, lambda r: r.ratio('d.stumps', 'd.stumps.2', 'fit_wall'), needs_idle=True)
    yield at_most('d', '100 rules: fit / that of imodels\' BoostedRules', 0.1, lambda r: r.summed('r.rules', 'bin_cpu', 'fit_cpu') / r.value('r.imodels', 'fit_cpu'))
    yield at_most('d', '100 rules: test error / that of imodels', 1.0, lambda r: r.ratio('r.rules', 'r.imodels', 'error'))
    yield at_least('d', 'prediction with 100 stumps, million rows per minute and core', 10.0, lambda r: r.run['rows_of']['d.stumps'] / r.value('d.stumps', 'predict_cpu') * 60 / 1e6)
    for form, name in forms:
        yield at_least('predict', f'sparse {name}: VW\'s CPU time / ours', 3.0, lambda r, k=f'a.predict.{form}': r.ratio('a.vw-predict', k))
    for key, name in (('a.gd.vw', 'VW text'), ('a.gd.svm', 'LIBSVM'), ('b.gd', 'CSV')):
        yield at_most('certificates', f'{name}: CPU time with them / without', 1.1, lambda r, k=key: r.ratio(k, f'{k}.off'), full_only=True)
    for form, name in forms:
        yield at_most('memory', f'{name}: MiB that ten times the rows need more', 4.0, lambda r, k=f'a.gd.{form}': r.value(k, 'rss_mib') - r.value(f'{k}.head', 'rss_mib'), full_only=True)
    for form, name in forms:
        yield at_most('memory', f'{name}: MiB more than VW', 64.0, lambda r, k=f'a.gd.{form}': r.value(k, 'rss_mib') - r.value('a.vw-sgd', 'rss_mib'))
    yield at_most('service', 'predict: microseconds of CPU per request of one row', 20.0, lambda r: r.value('serve', 'predict_cpu'))
    yield at_most('service', 'learn, on disk before the answer: microseconds of CPU per request of one row', 25.0, lambda r: r.value('serve', 'learn_cpu'))
    yield at_least('service', 'learn, 10,000 JSON lines a request: thousand rows per CPU second (half of those of two cores)', 300.0, lambda r: 1000.0 / r.value('serve', 'rows_cpu'))


def binary(results):
    """Raises `Missing` unless the walks were measured on the binary format."""
    if not results.run['binary']:
        raise Missing('this geowalk has no binary form of data (convert)')
    return True


# If the load average is above this, wall times are not judged.
IDLE = 2.5


def judge(results):
    """Yields (target, value or None, 'met' | 'not met' | 'not measured', remark)."""
    for target in targets():
        try:
            value = target.measure(results)
        except Missing as why:
            yield target, None, 'not measured', str(why)
            continue
        met = value >= target.bound if target.at_least else value <= target.bound
        short = value / target.bound if target.at_least else target.bound / value if value > 0 else float('inf')
        remark = f'{(short - 1) * 100:+.0f} %' if short < 1000 else 'far within'
        busy = results.run.get('load_most')
        if target.full_only and results.run['quick']:
            yield target, value, 'not measured', 'data too small to say'
        elif target.needs_idle and busy is not None and busy > IDLE:
            yield target, value, 'not measured', f'wall time on a busy machine (load {busy:.1f})'
        else:
            yield target, value, 'met' if met else 'not met', remark
