"""Prepares a run: the environment of the peers, the programs, the data, and a description of the machine."""
import json, os, platform, re, shutil, subprocess, sys

from . import workloads

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HOME = os.path.join(ROOT, 'target', 'bench')
REQUIREMENTS = os.path.join(ROOT, 'bench', 'requirements.txt')


class Unready(Exception):
    """Something is missing; the message says how to get it."""


def command(words, **more):
    done = subprocess.run(words, cwd=ROOT, **more)
    if done.returncode:
        raise Unready(f'{" ".join(words)} failed')


def venv(path):
    """Path of the virtual environment with the peers, installed once per requirements file."""
    if path:
        if not os.path.exists(os.path.join(path, 'bin', 'python')):
            raise Unready(f'{path} has no bin/python: give --venv a virtual environment, or leave it out')
        return os.path.abspath(path)
    path = os.path.join(HOME, 'venv')
    with open(REQUIREMENTS, encoding='ascii') as file:
        wanted = file.read()
    stamp = os.path.join(path, 'installed.txt')
    if not os.path.exists(stamp) or open(stamp, encoding='ascii').read() != wanted:
        print('installing the peers into target/bench/venv', file=sys.stderr)
        command([sys.executable, '-m', 'venv', path])
        command([os.path.join(path, 'bin', 'python'), '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', REQUIREMENTS])
        with open(stamp, 'w', encoding='ascii') as file:
            file.write(wanted)
    return path


def geowalk(path):
    """Path of the geowalk program: the one given, or a build with the distribution profile."""
    if path:
        if not os.access(path, os.X_OK):
            raise Unready(f'{path} is no program: give --geowalk one, or leave it out and it is built')
        return os.path.abspath(path)
    if not shutil.which('cargo'):
        raise Unready('cargo is missing: install Rust 1.90 or newer (rustup), or give --geowalk PATH')
    command(['cargo', 'build', '--profile', 'dist', '--locked', '-p', 'geowalk-cli'])
    return os.path.join(ROOT, 'target', 'dist', 'geowalk')


def kernels():
    """Builds the programs of bench/kernels: `limits` for this processor, `tables` for any processor."""
    if not shutil.which('cargo'):
        raise Unready('cargo is missing: install Rust 1.90 or newer (rustup)')
    out = {}
    for name, features, flags in (('limits', [], '-C target-cpu=native'), ('tables', ['--features', 'tables'], '')):
        target = os.path.join(HOME, 'native' if flags else 'cargo')
        env = {**os.environ, 'CARGO_TARGET_DIR': target, 'RUSTFLAGS': flags}
        command(['cargo', 'build', '--release', '--locked', '--quiet', '--manifest-path', os.path.join('bench', 'kernels', 'Cargo.toml'), '--bin', name, *features], env=env)
        out[name] = os.path.join(target, 'release', name)
    return out


def data(python, quick):
    """The folder of the workloads and their stamp. Missing workloads are made."""
    size = 'quick' if quick else 'full'
    folder = os.path.join(HOME, 'data', size)
    stamp = workloads.made(folder, size)
    if not stamp:
        print(f'making the data in target/bench/data/{size}', file=sys.stderr)
        command([python, os.path.join(ROOT, 'bench', 'workloads.py'), folder, size])
        stamp = workloads.made(folder, size)
    if not stamp:
        raise Unready(f'the data in target/bench/data/{size} are not whole: is the disk full?')
    return folder, stamp


def machine(python, ours, git=True):
    """Processor, operating system, and versions of all programs."""
    model = None
    try:
        with open('/proc/cpuinfo', encoding='ascii', errors='replace') as file:
            model = re.search(r'^model name\s*:\s*(.*)$', file.read(), re.M)
    except OSError:
        pass
    said = lambda *words: subprocess.run(words, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    with open(REQUIREMENTS, encoding='ascii') as file:
        names = re.findall(r'^([a-z][\w-]*)==', file.read(), re.M)
    script = 'import json, sys, importlib.metadata as m\nfound = {}\nfor n in sys.argv[1:]:\n try: found[n] = m.version(n)\n except m.PackageNotFoundError: found[n] = None\nprint(json.dumps(found))'
    return {
        'processor': model.group(1).strip() if model else platform.processor() or platform.machine(),
        'cores': os.cpu_count(),
        'system': f'{platform.system()} {platform.release()}',
        'python': platform.python_version(),
        'rustc': said('rustc', '--version'),
        'valgrind': said('valgrind', '--version') if shutil.which('valgrind') else None,
        'geowalk': ours.version,
        'commit': said('git', 'rev-parse', '--short', 'HEAD') + (' with changes' if said('git', 'status', '--porcelain', '--untracked-files=no') else '') if git else None,
        'packages': json.loads(said(python, '-c', script, *names) or '{}'),
    }
