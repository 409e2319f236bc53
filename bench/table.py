"""Makes the tables and the page of a run from its records alone."""
from .instructions import QUOTED_VW
from .measure import best
from .targets import Missing, Results, judge

GROUPS = {
    'start': 'Start of the programs, which is part of every figure below',
    'a': 'Sparse text: one pass of logistic regression from file to saved model',
    'walk': 'Walks: the same rows, every walk beside `gd`',
    'b': 'Dense CSV: one pass of least squares from file to saved model',
    'c': 'Twenty classes',
}
UNFAIR = """\
* VW is the wheel of the package registry, `python -m vowpalwabbit`, so its rows include the start of Python (the row "start of Python and VW"). It has a parser thread that cannot be turned off there; both its threads count in CPU time.
* VW's CSV reader hashes the name of every column in every row; geowalk does so once. This favours us in (b).
* VW prints its loss and keeps nothing else. geowalk's rows include the certificate and the digest of the rows, unless the row says otherwise. This favours VW.
* In (c) lbfgs and saga get standardised features in memory; geowalk reads the file as it is. VW's one-against-all is another model, which cannot reach the optimum of the softmax.
* In (d) phases of geowalk are measured in a Rust program that uses the library on columns of f64, those of the others in Python on a matrix of f32, row by row in memory. Neither includes reading. The Python package adds a copy of the columns, which is not measured.
* Stumps: XGBoost and LightGBM take Newton steps of rate 0.3, AdaBoost and geowalk whole steps; scikit-learn's AdaBoost searches all thresholds, the others bins. The losses beside the times say what they bought.
* Rules: imodels boosts trees of depth 1, its default; geowalk conjunctions of up to three literals.
* Learning rates were set once and not tuned. Losses show that a program learned, and do not rank programs.
* The limits are kernels that check nothing, count nothing, print nothing, and read only what was written for them; they are compiled for this processor, geowalk for any.
* scikit-learn's and river's rows in (a) leave out what they do not do by themselves: `load` stands beside `fit`."""


def number(value, digits=2):
    return '' if value is None else f'{value:.{digits}f}'


def attempt(function):
    """The value of the function; None if something was not measured."""
    try:
        return function()
    except (Missing, KeyError, ZeroDivisionError):
        return None


def peer_value(results, case, metric):
    """CPU seconds of the peer's case."""
    if metric == 'end_to_end':
        return attempt(lambda: results.summed(case, 'load_cpu', 'scale_cpu', 'to_0.46_cpu'))
    return attempt(lambda: results.value(case, metric))


def of_limit(results, entry):
    """The speed of a case as a fraction of the limit of the machine."""
    if not entry['limit']:
        return None
    if entry['limit'] == 'read_bytes_per_s':
        return attempt(lambda: entry['bytes'] / results.value(entry['key'], 'cpu') / results.value('limits', entry['limit']))
    return attempt(lambda: results.speed(entry['key']) / results.value('limits', entry['limit']))


def from_files(results, plan, group):
    """A row per program that learns a model from a file."""
    yield '| | CPU s | wall s | examples per CPU s | MiB | progressive loss | held-out loss | peer\'s CPU time / ours | part of the limit | runs, slowest / fastest |'
    yield '|---|---|---|---|---|---|---|---|---|---|'
    for entry in plan:
        if entry['key'].split('.')[0] != group:
            continue
        found = results.best.get(entry['key'])
        if found is None:
            continue
        if 'missing' in found:
            yield f'| {entry["title"]} | not there: {found["missing"]} |' + ' |' * 8
            continue
        values = found['values']
        title, ratio, speed = entry['title'], None, results.run['rows_of'][entry['key']] / found['cpu'] if found['cpu'] else None
        if 'fit_cpu' in values or 'load_cpu' in values:
            phases = ', '.join(f'{name} {values[f"{name}_cpu"]:.2f}' for name in ('import', 'load', 'scale', 'fit') if f'{name}_cpu' in values)
            goals = ', '.join(f'to {name[3:-4]} {value:.2f}' for name, value in values.items() if name.startswith('to_'))
            title, speed = f'{title}: {", ".join(filter(None, (phases, goals)))}', None
        if entry['beside']:
            other = peer_value(results, entry['beside'], entry['metric'])
            ratio = other / found['cpu'] if other and found['cpu'] else None
        part = of_limit(results, entry)
        yield (f'| {title} | {found["cpu"]:.2f} | {found["wall"]:.2f} | {"" if not speed else f"{speed / 1e3:.0f} k"} | {found["rss_mib"]:.0f} | {number(values.get("loss"), 4)} | '
               f'{number(values.get("held_out", values.get("log_loss")), 4)} | {number(ratio)} | {number(part)} | {found["turns"]}, {found["most"] / found["cpu"] if found["cpu"] else 1:.2f} |')


def in_memory(results, plan):
    """Trees, stumps and rules, phase by phase."""
    yield '| | binning or sorting, CPU s | fit, CPU s | million rows predicted per CPU s | log-loss | test error | AUC | peer\'s fit / ours | least bytes at the speed of memory / fit |'
    yield '|---|---|---|---|---|---|---|---|---|'
    memory = attempt(lambda: results.value('limits', 'memory_bytes_per_s'))
    for entry in plan:
        if entry['key'].split('.')[0] not in 'dr' or entry['key'].startswith('d.file'):
            continue
        found = results.best.get(entry['key'])
        if found is None:
            continue
        if 'missing' in found:
            yield f'| {entry["title"]} | not there: {found["missing"]} |' + ' |' * 7
            continue
        values, rows = found['values'], results.run['rows_of'][entry['key']]
        predicted = values.get('predicted_rows', rows) / values['predict_cpu'] / 1e6 if values.get('predict_cpu') else None
        other = peer_value(results, entry['beside'], entry['metric']) if entry['beside'] else None
        ratio = other / values['fit_cpu'] if other else None
        # Bytes that must be read: one-byte codes of all columns, once per level of a tree or per round.
        least = rows * 30 * (8 if 'tree' in entry['key'] else 100) / memory / values['fit_cpu'] if memory and entry['ours'] and 'exact' not in entry['key'] else None
        yield (f'| {entry["title"]} | {number(values.get("bin_cpu"), 3)} | {values["fit_cpu"]:.3f} | {number(predicted)} | {number(values.get("log_loss"), 4)} | {number(values.get("error"), 4)} | '
               f'{number(values.get("auc"), 4)} | {number(ratio)} | {number(least)} |')
    for key in ('d.file', 'd.file.lightgbm'):
        title = next((entry['title'] for entry in plan if entry['key'] == key), key)
        cpu = attempt(lambda: results.value(key, 'cpu'))
        if cpu is not None:
            yield f'| {title}: {cpu:.2f} CPU s | | | | | | | | |'


def limits(results):
    """The limits of the machine."""
    names = {'memory_bytes_per_s': ('memory, read', 1e9, 'GB/s'), 'read_bytes_per_s': ('read() of a file in memory', 1e9, 'GB/s'), 'parse_examples_per_s': ('VW text in memory: parse', 1e6, 'M examples/s'),
             'parse_step_examples_per_s': ('VW text in memory: parse, SGD', 1e6, 'M examples/s'), 'text_step_examples_per_s': ('VW text from a file: read(), parse, SGD', 1e6, 'M examples/s'),
             'csr_step_examples_per_s': ('parsed rows in memory: SGD', 1e6, 'M examples/s'), 'csr_score_examples_per_s': ('parsed rows in memory: ⟨w, x⟩', 1e6, 'M examples/s'),
             'binary_step_examples_per_s': ('parsed rows from a file: read(), SGD', 1e6, 'M examples/s'), 'two_at_once': ('two threads that share nothing, each with parse and SGD, over one, by the clock', 1.0, 'times')}
    yield '| one thread, CPU time | |\n|---|---|'
    for name, (title, unit, word) in names.items():
        value = attempt(lambda: results.value('limits', name))
        yield f'| {title} | {"not measured" if value is None else f"{value / unit:.2f} {word}"} |'


def counted(results):
    """Instructions per feature."""
    yield '| learning from sparse rows | instructions per feature |\n|---|---|'
    for key, title in (('i.vw', 'geowalk gd, VW text'), ('i.svm', 'geowalk gd, LIBSVM'), ('i.bin', 'geowalk gd, binary'), ('i.vw-sgd', 'VW --sgd (the wheel under valgrind), VW text')):
        found = results.best.get(key)
        if found is not None:
            yield f'| {title} | {found.get("missing") or number(found["values"]["instructions_per_feature"], 1)} |'
    yield f'| VW --sgd --onethread, VW text: quoted, not measured here | {QUOTED_VW} |'


def of_targets(results):
    yield '| | target | wanted | found | | room (+) or distance (−) |\n|---|---|---|---|---|---|'
    for target, value, verdict, remark in judge(results):
        wanted = f'{"≥" if target.at_least else "≤"} {target.bound:.4g}'
        mark = {'met': 'met', 'not met': '**not met**'}.get(verdict, verdict)
        yield f'| {target.workload} | {target.text} | {wanted} | {"" if value is None else f"{value:.4g}"} | {mark} | {remark} |'


def lost(results, plan):
    """Sentences about the cases in which another program takes less time than geowalk."""
    for entry in plan:
        if not entry['ours'] or not entry['beside'] or entry['beside'].startswith('walk'):
            continue
        name = entry['metric'] if entry['metric'] != 'end_to_end' else 'cpu'
        own, other = attempt(lambda: results.value(entry['key'], name)), peer_value(results, entry['beside'], entry['metric'])
        if own and other and own > other:
            peer = next(one['title'] for one in plan if one['key'] == entry['beside'])
            yield f'* {entry["title"]}: {own:.3f} CPU s, where {peer} takes {other:.3f} ({own / other:.2f} times).'
    # Reading is most of their cost. For rows that are in memory already, only the fit counts.
    for key, ours, title in (('a.sklearn', 'a.gd.bin', 'binary'), ('b.sklearn', 'b.gd', 'CSV')):
        own, other = attempt(lambda: results.value(ours, 'cpu')), attempt(lambda: results.value(key, 'fit_cpu'))
        if own and other and own > other:
            yield f'* On rows that are in memory already, the fit of scikit-learn\'s SGD takes {other:.3f} CPU s, where geowalk takes {own:.3f} from {title}, reading, checks, certificate and model file included.'


def ratios(records, run, plan):
    """The printed result: one table of ratios, and the targets."""
    results = Results(best(records), run)
    lines = []
    for group, title in GROUPS.items():
        rows = list(from_files(results, plan, group))
        if len(rows) > 2:
            lines += [f'## {title}', '', *rows, '']
    rows = list(in_memory(results, plan))
    if len(rows) > 2:
        lines += ['## Trees, stumps and rules, in memory, one thread', '', *rows, '']
    lines += ['## Limits of this machine', '', *limits(results), '', '## Instructions', '', *counted(results), '', '## Targets', '', *of_targets(results), '']
    return '\n'.join(lines)


def page(records, run, plan, remarks):
    """The README.md of the run."""
    results = Results(best(records), run)
    verdicts = [verdict for _, _, verdict, _ in judge(results)]
    machine = run['machine']
    size = 'quick mode: a twentieth of the data, which says whether the bench works and little about speed' if run['quick'] else 'full mode'
    head = f"""\
# Speed beside other systems, {run['date']}

{size[0].upper() + size[1:]}. `scripts/bench` made this folder; every run is in `raw.jsonl`, every command in `commands.txt`, the machine and all versions in `machine.json`.
Of {len(verdicts)} targets {verdicts.count('met')} are met, {verdicts.count('not met')} are not, {verdicts.count('not measured')} were not measured.

**How far to trust it.** {machine['processor']}, {machine['cores']} cores, {machine['system']}; load {run['load_least']:.1f} to {run['load_most']:.1f} during the run. The runs of a workload go round through all programs, and figures are those of
the run with least CPU time (user and system, all threads); wall times are the least of all runs, and mean nothing where the load was above {machine['cores']}. The last column says how far runs of the same program were apart: differences smaller than that are nothing.
Peak memory has a floor of some 9 MiB, that of the process that starts the others. geowalk: {run['geowalk']}.
"""
    losses = list(lost(results, plan)) or ['Nowhere in this run did a peer take less time than ours for the same work.']
    missed = [f'* {target.text}: {value:.4g}, wanted {"at least" if target.at_least else "at most"} {target.bound:.4g} ({remark}).' for target, value, verdict, remark in judge(results) if verdict == 'not met']
    return '\n'.join([head, ratios(records, run, plan), '## What we lose', '', *losses, '', '### Targets that are not met', '', *(missed or ['None.']), '', *([remarks, ''] if remarks else []),
                      '## What is unfair, and to whom', '', UNFAIR, ''])
