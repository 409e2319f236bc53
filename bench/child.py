"""Runs one command and reports its time and memory: `python -I -S child.py REPORT OUTPUT COMMAND...`

A separate, small process is needed: the kernel counts the memory of the parent (about 9 MiB here) as that of the
started command until the command has used more.
"""
import os, sys
from time import perf_counter

report, output, command = sys.argv[1], sys.argv[2], sys.argv[3:]
out = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
null = os.open(os.devnull, os.O_RDONLY)
start = perf_counter()
pid = os.posix_spawnp(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, out, 2)])
_, status, usage = os.wait4(pid, 0)
wall = perf_counter() - start
with open(report, 'w') as file:
    file.write(f'{os.waitstatus_to_exitcode(status)} {usage.ru_utime} {usage.ru_stime} {wall} {usage.ru_maxrss}')
