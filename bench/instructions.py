"""Instructions per feature, counted by valgrind; they do not depend on the load of the machine."""
import re, shutil, subprocess, tempfile

# Not measured in this run. Counted once by the same method with a specially built VW (--onethread, 12,000 minus
# 2000 rows, no model saved).
QUOTED_VW = 692


def count(command):
    """Instructions of one run of a command over all threads; None if they cannot be counted."""
    with tempfile.TemporaryDirectory() as folder:
        counted = ['valgrind', '--tool=callgrind', f'--callgrind-out-file={folder}/out', *command]
        done = subprocess.run(counted, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    found = re.search(r'Collected : (\d+)', done.stderr)
    return int(found.group(1)) if found and not done.returncode else None


def cases(bench):
    """Keys, and functions from a file name to a command. The cost is that of 12,000 rows minus that of 2000 rows."""
    gd = ['--walk', 'gd', '--loss', 'logistic', '--rate', '0.5', '--progress', 'none']
    threads = ['--threads', '1'] if bench.ours.threads['train'] else []
    for form in ('vw', 'svm'):
        yield f'i.{form}', lambda name, form=form: [bench.ours.path, 'train', bench.path(f'{name}.{form}'), *gd, *threads], ''
    yield 'i.bin', lambda name: [bench.ours.path, 'train', bench.kept(f'{name}.gwd'), *gd, *threads], '' if bench.ours.converts else 'this geowalk has no binary form of data (convert)'
    sgd = ['--loss_function', 'logistic', '-b', '18', '--sgd', '-l', '0.5', '--power_t', '0', '--quiet']
    yield 'i.vw-sgd', lambda name: bench.vw('-d', bench.path(f'{name}.vw'), *sgd), 'half a minute under valgrind: counted in full mode only' if bench.quick else ''


def measure(bench, write, say, wanted):
    """Writes a record per case."""
    features = bench.stamp['features']
    for key, command, lacks in cases(bench):
        if not wanted(key):
            continue
        if not shutil.which('valgrind'):
            lacks = lacks or 'no valgrind here'
        if lacks:
            write({'case': key, 'missing': lacks})
            continue
        if key == 'i.bin':
            for name in ('a_small', 'a_large'):
                subprocess.run(bench.ours.convert(bench.path(f'{name}.svm'), bench.kept(f'{name}.gwd')), capture_output=True)
        small, large = count(command('a_small')), count(command('a_large'))
        if small is None or large is None:
            write({'case': key, 'missing': 'valgrind could not run it'})
            continue
        each = (large - small) / (features['a_large'] - features['a_small'])
        write({'case': key, 'values': {'instructions_per_feature': each}})
        say(f'{key}: {each:.1f} instructions per feature')
