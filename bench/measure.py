"""Runs commands in turns, and selects the best run of each."""
import json, os, re, subprocess, sys, tempfile
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
# A case whose run took longer than this, in seconds, is not repeated.
LONG = 60.0


@dataclass
class Case:
    """A benchmark case: a command and how to read its output."""
    key: str
    title: str
    command: list
    reads: object = None          # function from the output text to values
    env: dict = field(default_factory=dict)
    turns: int = 1
    rows: int = 0                 # number of examples processed in one run
    input: str = ''               # the input file; its size gives the bytes in the tables
    lacks: str = ''               # why the case cannot be measured: an older geowalk, a missing library
    after: object = None          # called once at the end; returns more values, such as held-out losses
    before: object = None         # called before each run, to remove files of the previous run
    ours: bool = False
    beside: str = ''              # key of the peer's case; the ratio is its figure divided by this one's
    limit: str = ''               # the value of the case 'limits' that this case is compared with
    metric: str = 'cpu'           # the compared figure: cpu, or a phase


class Failed(Exception):
    """A command failed."""


def short(command, text, how=''):
    """The failed command and its last output, on one line that fits in a table."""
    said = ' '.join(text.split()).replace('|', '/')
    return f'{os.path.basename(command[0])} {" ".join(command[1:3])}{how}: {said[-200:]}'


def run(command, env):
    """Runs a command; returns (time and memory of the process, its output)."""
    with tempfile.TemporaryDirectory() as folder:
        report, output = os.path.join(folder, 'report'), os.path.join(folder, 'output')
        child = [sys.executable, '-I', '-S', os.path.join(HERE, 'child.py'), report, output, *command]
        done = subprocess.run(child, env={**os.environ, **env}, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            raise Failed(short(command, done.stderr))
        with open(output, encoding='utf-8', errors='replace') as file:
            text = file.read()
        with open(report, encoding='ascii') as file:
            code, user, system, wall, rss = map(float, file.read().split())
    if code:
        raise Failed(short(command, text, f' ended with {code:.0f}'))
    return {'user': user, 'system': system, 'wall': wall, 'rss_mib': rss / 1024}, text


def load():
    """The load average of the last minute: number of runnable processes."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def turns(cases, write, say):
    """Runs the cases in rounds until each has had its turns; writes a record per run."""
    done = set()
    for turn in range(max((case.turns for case in cases), default=0)):
        for case in cases:
            if turn >= case.turns or case.key in done:
                continue
            if case.lacks:
                write({'case': case.key, 'missing': case.lacks})
                done.add(case.key)
                continue
            try:
                if case.before:
                    case.before()
                took, text = run(case.command, case.env)
                values = case.reads(text) if case.reads else {}
                last = turn + 1 == case.turns or took['wall'] > LONG
                if last and case.after:
                    values |= case.after()
            except Failed as failure:
                write({'case': case.key, 'missing': f'failed: {failure}'})
                say(f'{case.key}: {failure}')
                done.add(case.key)
                continue
            if last:
                done.add(case.key)
            write({'case': case.key, 'turn': turn, 'load': load(), **took, 'values': values})
            say(f'{case.key} {turn + 1}: {took["user"] + took["system"]:.2f} CPU s')


# Reading the output of programs.

def of_json(text):
    """The JSON object after @@, as printed by the benchmark programs."""
    found = re.search(r'^@@(\{.*\})$', text, re.M)
    if not found:
        raise Failed(f'no values in {text[-300:]!r}')
    return json.loads(found.group(1))


def of_vw(text):
    found = re.search(r'average loss = ([-\d.e+]+)', text)
    return {'loss': float(found.group(1))} if found else {}


def of_vw_classes(text):
    found = re.search(r'average multiclass log loss = ([-\d.e+]+)', text) or re.search(r'multiclass log loss = ([-\d.e+]+)', text)
    return {'loss': float(found.group(1))} if found else of_vw(text)


def of_geowalk(text):
    """The summary that --json prints among the lines on standard error."""
    found = re.search(r'^\{.*\}$', text, re.M)
    return {'loss': json.loads(found.group())['loss']} if found else {}


# Evaluating the records.

def least(values, other):
    """The smallest of each time and the largest of each speed; all other values come from the first argument."""
    out = dict(other) | dict(values)
    for name in set(values) & set(other):
        if name.endswith(('_cpu', '_wall')):
            out[name] = min(values[name], other[name])
        elif name.endswith('_per_s'):
            out[name] = max(values[name], other[name])
    return out


def best(records):
    """By case: CPU seconds and memory of the fastest run, the smallest wall time, the best of each phase, and the CPU
    seconds of the slowest run."""
    found = {}
    for record in records:
        if 'case' not in record:
            continue
        if 'missing' in record:
            found.setdefault(record['case'], {'missing': record['missing']})
            continue
        cpu = record['user'] + record['system'] if 'user' in record else None
        own = {'cpu': cpu, 'wall': record.get('wall'), 'rss_mib': record.get('rss_mib'), 'values': record['values'], 'turns': 1, 'most': cpu}
        known = found.get(record['case'])
        if known and 'missing' not in known:
            first, second = (own, known) if cpu is not None and cpu < known['cpu'] else (known, own)
            own = {**first, 'wall': min(own['wall'], known['wall']), 'most': max(own['most'], known['most']), 'turns': known['turns'] + 1,
                   'values': least(first['values'], second['values'])}
        found[record['case']] = own
    return found


def read(path):
    """Reads the records of raw.jsonl."""
    with open(path, encoding='utf-8') as file:
        return [json.loads(line) for line in file if line.strip()]
