"""Starts a program and writes what it cost to a file.

Called as launch.py FILE CPU_LIMIT_S COMMAND… A process inherits the peak memory of the one that it was forked from, so programs
are measured below this one, which is small: it imports nothing of the package.
"""

import os
import resource
import sys


def main() -> None:
    """Run the command and write its status, CPU seconds and peak memory in KiB."""
    path, limit, *command = sys.argv[1:]
    child = os.fork()
    if child == 0:
        if float(limit) > 0:
            seconds = max(1, round(float(limit)))
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        try:
            os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        os._exit(127)
    # wait4 alone tells of this child; getrusage knows only the largest of all children.
    _, status, usage = os.wait4(child, 0)
    with open(path, "w", encoding="ascii") as report:
        report.write(f"{os.waitstatus_to_exitcode(status)} {usage.ru_utime + usage.ru_stime!r} {usage.ru_maxrss}")


if __name__ == "__main__":
    main()
