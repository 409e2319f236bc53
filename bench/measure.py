"""Running commands in turns, and the best of what they took."""
import json, os, re, subprocess, sys, tempfile
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
# A case that took this long is not run again.
LONG = 60.0


@dataclass
class Case:
    """One thing that is measured: a command and what its output says."""
    key: str
    title: str
    command: list
    reads: object = None          # text of its output -> values
    env: dict = field(default_factory=dict)
    turns: int = 1
    rows: int = 0                 # examples that one run goes through
    input: str = ''               # the file it reads, of whose bytes the figures speak
    lacks: str = ''               # why this program cannot be measured: an older geowalk, a missing library
    after: object = None          # () -> values, once at the end: held-out losses
    before: object = None         # called before each run: what a former one left is removed
    ours: bool = False
    beside: str = ''              # the case of a peer whose figure is divided by this one's
    limit: str = ''               # the limit of which this is a part: a value of the case 'limits'
    metric: str = 'cpu'           # what is compared: cpu, or a phase


class Failed(Exception):
    """A command that did not succeed."""


def short(command, text, how=''):
    """Which command failed and what it said, in a line that a table can hold."""
    said = ' '.join(text.split()).replace('|', '/')
    return f'{os.path.basename(command[0])} {" ".join(command[1:3])}{how}: {said[-200:]}'


def run(command, env):
    """(values of the process, its output)."""
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
    """How many processes want a processor, on average over the last minute."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def turns(cases, write, say):
    """Goes round through the cases until each has had its turns; writes a record for each run."""
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


# What programs say.

def of_json(text):
    """The object after @@, which our own runners print."""
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
    """The summary that --json prints among what is said on standard error."""
    found = re.search(r'^\{.*\}$', text, re.M)
    return {'loss': json.loads(found.group())['loss']} if found else {}


# What the records say.

def least(values, other):
    """Of each time the least, of each speed the largest; what else there is comes from the first."""
    out = dict(other) | dict(values)
    for name in set(values) & set(other):
        if name.endswith(('_cpu', '_wall')):
            out[name] = min(values[name], other[name])
        elif name.endswith('_per_s'):
            out[name] = max(values[name], other[name])
    return out


def best(records):
    """By case: CPU seconds and memory of the run that took least, the least wall time, the best of each phase, and how far the runs are apart."""
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
    """The records of raw.jsonl."""
    with open(path, encoding='utf-8') as file:
        return [json.loads(line) for line in file if line.strip()]
