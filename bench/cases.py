"""The benchmark cases: commands of geowalk and of other systems, on the same bytes."""
import os, subprocess

from .measure import Case, Failed, of_geowalk, of_json, of_vw, of_vw_classes, run

HERE = os.path.dirname(os.path.abspath(__file__))
ONE_THREAD = {name: '1' for name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'ARROW_NUM_THREADS', 'RAYON_NUM_THREADS')}
# Specification of each walk, with a rate at which it learns on workload (a).
WALKS = {'sphere': ('sphere', '0.1'), 'simplex': ('explicit:simplex', '0.1'), 'eg': ('eg', '0.1'), 'egu': ('egu', '0.1'), 'orthant': ('explicit:orthant', '0.1'),
         'hyperbolic': ('explicit:hyperbolic', '0.1'), 'p-norm': ('mirror:p-norm', '0.1')}


class Ours:
    """A geowalk program and its features, read from its help, because older versions are measured too."""

    def __init__(self, path):
        self.path = path
        text = lambda *arguments: subprocess.run([path, *arguments], capture_output=True, text=True).stdout
        words = {line.split()[0] for line in text('--help').splitlines() if line.strip()}
        self.converts = 'convert' in words
        self.threads = {command: '--threads' in text(command, '--help') for command in ('train', 'predict')}
        self.version = text('--version').strip()

    def train(self, data, model, *rest, threads=1):
        count = ['--threads', str(threads)] if self.threads['train'] else []
        return [self.path, 'train', data, '--model', model, '--json', *count, *rest]

    def convert(self, data, output):
        return [self.path, 'convert', data, '--output', output]

    def predict(self, model, data, output, *rest):
        count = ['--threads', '1'] if self.threads['predict'] else []
        return [self.path, 'predict', model, data, '--output', output, *count, *rest]


def log_loss(predictions, truth):
    """Mean −ln p of the true class, from the output of `geowalk predict --proba` (a header of classes first)."""
    from math import log
    with open(predictions, encoding='utf-8') as file:
        place = {name: k for k, name in enumerate(file.readline().strip().split(','))}
        own = [float(line.split(',')[place[y]]) for line, y in zip(file, truth)]
    if len(own) != len(truth):
        raise Failed(f'{len(own)} predictions of {len(truth)} rows')
    return -sum(log(max(p, 1e-12)) for p in own) / len(own)


class Bench:
    """All cases of one run."""

    def __init__(self, ours, venv, kernels, data, scratch, stamp, quick):
        self.ours, self.data, self.scratch, self.stamp, self.quick = ours, data, scratch, stamp, quick
        self.python, self.kernels = os.path.join(venv, 'bin', 'python'), kernels
        self.often, self.some, self.few = (3, 2, 1) if quick else (5, 3, 2)

    def path(self, name):
        return os.path.join(self.data, name)

    def kept(self, name):
        return os.path.join(self.scratch, name)

    def truth(self, name):
        with open(self.path(name), encoding='ascii') as file:
            if name.endswith('.csv'):
                next(file)
                return [line.rstrip().rsplit(',', 1)[1] for line in file]
            return [line.split(' ', 1)[0] for line in file]

    def held_out(self, model, name):
        """Measures the log loss on held-out rows."""
        def measure():
            output = self.kept('held-out')
            run(self.ours.predict(model, self.path(name), output, '--proba'), ONE_THREAD)
            return {'held_out': log_loss(output, self.truth(name))}
        return measure

    def vw(self, *arguments):
        return [self.python, '-m', 'vowpalwabbit', *arguments]

    def vw_held_out(self, model, name, reads=of_vw, *more):
        def measure():
            # The model file of VW does not contain the loss.
            _, text = run(self.vw('-t', '-d', self.path(name), '-i', model, '--loss_function', 'logistic', *more), ONE_THREAD)
            return {'held_out': reads(text).get('loss')}
        return measure

    def peer(self, key, title, task, name, turns, **more):
        """A case of a library that learns in memory; `name` is the workload."""
        command = [self.python, os.path.join(HERE, 'peers.py'), task, self.data]
        return Case(key, title, command, of_json, ONE_THREAD, turns, self.stamp['rows'][name], **more)

    def groups(self):
        """The cases by workload; the cases of a group are run in turns."""
        return {'start': self.start(), 'a': self.sparse(), 'walks': self.walks(), 'b': self.dense(), 'c': self.classes(), 'd': self.tables(), 'service': self.service()}

    def service(self):
        script = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'scripts', 'serve-load')
        requests = '2000' if self.quick else '20000'
        command = [sys.executable, script, '--geowalk', self.ours.path, '--requests', requests, '--report']
        return [Case('serve', 'geowalk serve: microseconds of CPU per request and per row', command, of_json, turns=self.some, ours=True)]

    def start(self):
        return [Case('start.vw', 'start of Python and VW', self.vw('--version'), env=ONE_THREAD, turns=self.some),
                Case('start.geowalk', 'start of geowalk', [self.ours.path, '--version'], turns=self.some, ours=True)]

    def sparse(self):
        rows, no_threads = self.stamp['rows']['a'], '' if self.ours.threads['train'] else 'this geowalk has no --threads'
        gd = ['--walk', 'gd', '--loss', 'logistic', '--rate', '0.5']
        sgd = ['--loss_function', 'logistic', '-b', '18', '--sgd', '-l', '0.5', '--power_t', '0']
        cases = [Case('limits', 'kernels at the limit of the machine', [self.kernels['limits'], self.path('a.vw'), self.kept('a.csr'), '3'], of_json, turns=self.some, rows=rows, input='a.vw')]

        def vw(key, title, *arguments, **more):
            model = self.kept(f'{key}.vw')
            cases.append(Case(key, title, self.vw(*arguments, '-f', model), of_vw, ONE_THREAD, rows=rows, input='a.vw', **{'turns': self.often, 'after': self.vw_held_out(model, 'a_test.vw'), **more}))

        def ours(key, title, name, *arguments, threads=1, held_out=None, **more):
            model = self.kept(f'{key}.gw')
            after = self.held_out(model, held_out) if held_out else None
            cases.append(Case(key, title, self.ours.train(self.path(name), model, *arguments, threads=threads), of_geowalk, {}, ours=True, after=after,
                              **{'turns': self.often, 'rows': rows, 'input': name, 'beside': 'a.vw-sgd', 'limit': 'text_step_examples_per_s', **more}))

        vw('a.vw-sgd', 'VW --sgd, VW text', '-d', self.path('a.vw'), *sgd)
        ours('a.gd.vw', 'geowalk gd, VW text', 'a.vw', *gd, held_out='a_test.vw')
        ours('a.gd.vw.off', 'geowalk gd, VW text, certificate off', 'a.vw', *gd, '--certificate', 'off')
        ours('a.gd.vw.2', 'geowalk gd, VW text, two threads', 'a.vw', *gd, threads=2, lacks=no_threads)
        ours('a.gd.svm', 'geowalk gd, LIBSVM', 'a.svm', *gd, held_out='a_test.svm')
        ours('a.gd.svm.off', 'geowalk gd, LIBSVM, certificate off', 'a.svm', *gd, '--certificate', 'off')
        ours('a.gd.svm.2', 'geowalk gd, LIBSVM, two threads', 'a.svm', *gd, threads=2, lacks=no_threads)
        ours('a.gd.vw.head', 'geowalk gd, VW text, a tenth of the rows', 'a_head.vw', *gd, turns=self.some, rows=self.stamp['rows']['a_head'], beside='')
        ours('a.gd.svm.head', 'geowalk gd, LIBSVM, a tenth of the rows', 'a_head.svm', *gd, turns=self.some, rows=self.stamp['rows']['a_head'], beside='')
        vw('a.vw-default', 'VW, its defaults, VW text', '-d', self.path('a.vw'), '--loss_function', 'logistic', '-b', '18', turns=self.some)
        ours('a.free.vw', 'geowalk, its defaults, VW text', 'a.vw', held_out='a_test.vw', turns=self.some, beside='a.vw-default')

        cache = self.kept('a.cache')
        clean = lambda: os.path.exists(cache) and os.unlink(cache)
        vw('a.vw-cache-write', 'VW --sgd, writes its cache', '-d', self.path('a.vw'), '-k', '--cache_file', cache, *sgd, turns=1, before=clean, after=None)
        vw('a.vw-cache', 'VW --sgd, reads its cache', '-d', self.path('a.vw'), '--cache_file', cache, *sgd, turns=self.some, after=None)
        no_binary = '' if self.ours.converts else 'this geowalk has no binary form of data (convert)'
        convert = self.ours.convert(self.path('a.svm'), self.kept('a.gwd'))
        stale = lambda: os.path.exists(self.kept('a.gwd')) and os.unlink(self.kept('a.gwd'))
        cases.append(Case('a.convert', 'geowalk convert, LIBSVM to binary', convert, turns=self.few, rows=rows, input='a.svm', ours=True, lacks=no_binary, before=stale, beside='a.vw-cache-write',
                          after=lambda: {'bytes': os.path.getsize(self.kept('a.gwd'))}))
        binary = {'lacks': no_binary, 'beside': 'a.vw-cache', 'limit': 'binary_step_examples_per_s'}
        ours('a.gd.bin', 'geowalk gd, binary', self.kept('a.gwd'), *gd, **binary)
        ours('a.gd.bin.off', 'geowalk gd, binary, certificate off', self.kept('a.gwd'), *gd, '--certificate', 'off', **binary)

        vw_model = self.kept('a.vw-sgd.vw')
        cases.append(Case('a.vw-predict', 'VW predicts, VW text', self.vw('-t', '-d', self.path('a.vw'), '-i', vw_model, '--loss_function', 'logistic', '--link', 'logistic', '-p', self.kept('vw.predictions')), env=ONE_THREAD, turns=self.some, rows=rows, input='a.vw'))
        for form, name in (('vw', 'VW text'), ('svm', 'LIBSVM')):
            command = self.ours.predict(self.kept(f'a.gd.{form}.gw'), self.path(f'a.{form}'), self.kept('predictions'), '--proba')
            cases.append(Case(f'a.predict.{form}', f'geowalk predicts, {name}', command, turns=self.some, rows=rows, input=f'a.{form}', ours=True, beside='a.vw-predict', limit='parse_examples_per_s'))
        cases.append(self.peer('a.sklearn', 'scikit-learn SGDClassifier, in memory', 'sgd_sparse', 'a', 1, input='a.svm'))
        cases.append(self.peer('a.river', 'river LogisticRegression, 20,000 rows, in memory', 'river_sparse', 'a', 1))
        return cases

    def walks(self):
        """Each walk on the binary format, or on LIBSVM if this geowalk has no binary format."""
        name, limit = (self.kept('a.gwd'), 'binary_step_examples_per_s') if self.ours.converts else (self.path('a.svm'), 'text_step_examples_per_s')
        form = 'binary' if self.ours.converts else 'LIBSVM'
        out = []
        for walk, (typed, rate) in {'gd': ('gd', '0.5'), **WALKS}.items():
            command = self.ours.train(name, self.kept('walk.gw'), '--walk', typed, '--loss', 'logistic', '--rate', rate)
            out.append(Case(f'walk.{walk}', f'geowalk {walk}, {form}', command, of_geowalk, turns=self.some, rows=self.stamp['rows']['a'], input=name, ours=True, beside='walk.gd', limit=limit))
        return out

    def dense(self):
        rows = self.stamp['rows']['b']
        gd = ['--label', '_label', '--walk', 'gd', '--loss', 'squared', '--rate', '0.0001']
        common = {'rows': rows, 'input': 'b.csv', 'turns': self.some}
        ours = {'ours': True, 'beside': 'b.vw', 'limit': 'read_bytes_per_s', **common}
        vw = self.vw('-d', self.path('b.csv'), '--csv', '--sgd', '-l', '0.0001', '--power_t', '0', '-f', self.kept('b.vw'))
        return [
            Case('b.vw', 'VW --csv --sgd', vw, of_vw, ONE_THREAD, **common),
            Case('b.gd', 'geowalk gd, CSV', self.ours.train(self.path('b.csv'), self.kept('b.gw'), *gd), of_geowalk, **ours),
            Case('b.gd.off', 'geowalk gd, CSV, certificate off', self.ours.train(self.path('b.csv'), self.kept('b.gw'), *gd, '--certificate', 'off'), of_geowalk, **ours),
            self.peer('b.pyarrow', 'pyarrow reads the CSV, and nothing else', 'pyarrow_csv', 'b', self.few, input='b.csv'),
            self.peer('b.pandas', 'pandas reads the CSV, and nothing else', 'pandas_csv', 'b', 1, input='b.csv'),
            self.peer('b.sklearn', 'scikit-learn SGDRegressor, in memory', 'sgd_dense', 'b', 1, input='b.csv'),
        ]

    def classes(self):
        rows, out = self.stamp['rows']['c'], []
        for passes in (1, 3):
            model = self.kept(f'c{passes}.gw')
            command = self.ours.train(self.path('c.csv'), model, '--walk', 'natural', '--task', 'multiclass', '--passes', str(passes))
            out.append(Case(f'c.natural.{passes}', f'geowalk natural, CSV, {passes} pass{"es" if passes > 1 else ""}', command, of_geowalk, {}, self.some, rows * passes, 'c.csv',
                            after=self.held_out(model, 'c_test.csv'), ours=True, beside='c.lbfgs', metric='end_to_end'))
        binary = self.kept('c.gwd')
        no_binary = '' if self.ours.converts else 'this geowalk has no binary form of data (convert)'

        made = []

        def convert():
            if not made:
                made.append(run(self.ours.convert(self.path('c.csv'), binary), {}))
        out.append(Case('c.natural.bin', 'geowalk natural, binary, 1 pass', self.ours.train(binary, self.kept('c.gw'), '--walk', 'natural', '--task', 'multiclass'), of_geowalk, {}, self.some, rows,
                        lacks=no_binary, before=convert, ours=True))
        out.append(self.peer('c.lbfgs', 'scikit-learn lbfgs, in memory, standardised', 'lbfgs', 'c', self.few, input='c.csv'))
        out.append(self.peer('c.saga', 'scikit-learn saga, in memory, standardised', 'saga', 'c', 1, input='c.csv'))
        model = self.kept('c.vw')
        command = self.vw('-d', self.path('c.vw'), '--oaa', '20', '--loss_function', 'logistic', '--probabilities', '-f', model)
        out.append(Case('c.vw', 'VW --oaa 20, VW text, 1 pass', command, of_vw_classes, ONE_THREAD, 1, rows, 'c.vw', after=self.vw_held_out(model, 'c_test.vw', of_vw_classes, '--probabilities')))
        return out

    def tables(self):
        rows = self.stamp['rows']['d']

        def memory(key, title, what, train, name, turns, threads='1', **more):
            command = [self.kernels['tables'], what, '100', self.path(train), self.path('d_test.csv')]
            return Case(key, title, command, of_json, {'RAYON_NUM_THREADS': threads}, turns, self.stamp['rows'][name], ours=True, **more)
        tree = [self.ours.path, 'tree', self.path('d.csv'), '--depth', '8', '--bins', '255', '--loss', 'gini', '--model', self.kept('tree.gw'), '--json']
        lightgbm = [self.python, os.path.join(HERE, 'peers.py'), 'lightgbm_file', self.data]
        return [
            self.peer('d.tree.lightgbm', 'LightGBM, one tree of depth 8', 'lightgbm_tree', 'd', self.some),
            memory('d.tree', 'geowalk, one tree of depth 8, bins', 'tree', 'd.csv', 'd', self.some, beside='d.tree.lightgbm', metric='fit_cpu'),
            self.peer('d.tree.xgboost', 'XGBoost, one tree of depth 8', 'xgboost_tree', 'd', self.few),
            self.peer('d.tree.sklearn', 'scikit-learn, one tree of depth 8, exact', 'sklearn_tree', 'd', self.few),
            memory('d.tree.exact', 'geowalk, one tree of depth 8, exact', 'exact-tree', 'd.csv', 'd', self.some, beside='d.tree.sklearn', metric='fit_cpu'),
            Case('d.file', 'geowalk tree, CSV to model', tree, None, {'RAYON_NUM_THREADS': '1'}, self.some, rows, 'd.csv', ours=True, beside='d.file.lightgbm'),
            Case('d.file.lightgbm', 'LightGBM, its own reader, CSV to model', lightgbm, None, ONE_THREAD, self.few, rows, 'd.csv'),
            self.peer('d.stumps.xgboost', 'XGBoost, 100 stumps', 'xgboost_stumps', 'd', self.some),
            memory('d.stumps', 'geowalk, 100 stumps', 'stumps', 'd.csv', 'd', self.some, beside='d.stumps.xgboost', metric='fit_cpu'),
            memory('d.stumps.2', 'geowalk, 100 stumps, two threads', 'stumps', 'd.csv', 'd', self.some, threads='2', beside='d.stumps.xgboost', metric='fit_cpu'),
            self.peer('d.stumps.lightgbm', 'LightGBM, 100 stumps', 'lightgbm_stumps', 'd', self.few),
            self.peer('d.stumps.histogram', 'scikit-learn HistGradientBoosting, 100 stumps', 'histogram_stumps', 'd', 1),
            self.peer('d.stumps.adaboost', 'scikit-learn AdaBoost, 100 stumps', 'adaboost', 'd', 1),
            self.peer('r.imodels', 'imodels BoostedRules, 100 rules', 'imodels_rules', 'r', 1),
            memory('r.rules', 'geowalk, 100 rules of at most 3 literals', 'rules', 'r.csv', 'r', self.some, beside='r.imodels', metric='fit_cpu'),
        ]
