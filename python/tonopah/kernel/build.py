"""Building a kernel in virtual time: User-Mode Linux from the sources of a distribution, or from a tree of one's own."""

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tonopah.errors import InputError, RunFailedError
from tonopah.kernel import virtual

TOOLS = ("make", "gcc", "ld", "flex", "bison", "bc", "strip", "perl")
PACKAGES = "apt-get install make gcc libc6-dev flex bison bc xz-utils libelf-dev perl"
SOURCES = Path("/usr/src")
KERNEL_BYTES = 3_000_000_000
"""Disk that the sources and objects of a build take."""
OBJECTS = 1_400
"""Lines that a build prints, about: what progress is measured by."""
LONGEST_LINES = 8
ALGORITHMS = (
    *("BIC", "CUBIC", "WESTWOOD", "HTCP", "HSTCP", "HYBLA", "VEGAS", "NV", "SCALABLE", "LP", "VENO", "YEAH", "ILLINOIS"),
    *("DCTCP", "CDG", "BBR"),
)
DISCIPLINES = ("FQ", "FQ_CODEL", "CODEL", "PIE", "FQ_PIE", "CAKE", "RED", "SFQ", "TBF", "NETEM", "HTB", "PRIO", "CHOKE")
CONFIGURATION = (
    *("UML_TIME_TRAVEL_SUPPORT", "HOSTFS", "HIGH_RES_TIMERS", "NO_HZ_IDLE", "NET", "INET", "IPV6", "UNIX", "PACKET", "TUN"),
    *("NETDEVICES", "NAMESPACES", "NET_NS", "USER_NS", "PID_NS", "UTS_NS", "IPC_NS", "DEVTMPFS", "DEVTMPFS_MOUNT", "TMPFS"),
    *("PROC_FS", "SYSFS", "EPOLL", "TIMERFD", "FUTEX", "NET_SCHED", "TCP_CONG_ADVANCED", "BPF_SYSCALL"),
    *(f"TCP_CONG_{name}" for name in ALGORITHMS),
    *(f"NET_SCH_{name}" for name in DISCIPLINES),
)
"""What is built in."""
STACK_ORDER = "CONFIG_KERNEL_STACK_ORDER=3"
"""32 KiB: the registers of a processor with AMX fill 11 KiB of a stack."""
EDITS = (
    # A timer tick of 1 ms, as distributions have it.
    ("arch/um/Kconfig", r"(config HZ\n\tint\n\tdefault )100", r"\g<1>1000"),
    # Room for the registers of today's processors.
    ("arch/x86/um/user-offsets.c", r"(HOST_FP_SIZE, )2696", r"\g<1>12288"),
)
"""Of the sources: file, pattern, replacement. What a version does not have is left alone."""


def build(version: str | None, source: str | None, jobs: int, say: Callable[[str], None]) -> Path:
    """Build a kernel and return it; a build that was interrupted goes on.

    Parameters
    ----------
    version : str, optional
        Of a package linux-source-VERSION, such as "6.1"; the newest in /usr/src, or 6.1, without it.
    source : str, optional
        A tree of sources, or a tar archive of one, instead.
    jobs : int
        Processes of the build at a time.
    say : callable
        Told what is being done, a line each.

    Raises InputError if tools, sources or disk are missing, RunFailedError if the build fails.
    """
    check_tools()
    folder = virtual.cache() / "build"
    folder.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(folder).free < KERNEL_BYTES:
        raise InputError("", f"{folder} has less than {KERNEL_BYTES / 1e9:.0f} GB of room", "XDG_CACHE_HOME names another folder")
    tree = unpacked(archive(version, source, folder, say), folder, say)
    configure(tree, say)
    compile_tree(tree, jobs, say)
    release = run(["make", "-s", "ARCH=um", "kernelrelease"], tree).strip().splitlines()[-1]
    part, kernel = folder / "kernel", virtual.cache() / release
    part.mkdir(exist_ok=True)
    run(["strip", "-o", str(part / virtual.PROGRAM), str(tree / "linux")], tree)
    found, algorithms = virtual.execute(virtual.Job("describe"), part)
    (part / virtual.ALGORITHMS).write_text("\n".join(algorithms), encoding="ascii")
    say(f"Linux {found} runs: {', '.join(algorithms)}")
    shutil.rmtree(kernel, ignore_errors=True)
    part.rename(kernel)
    shutil.rmtree(folder)
    return kernel


def check_tools() -> None:
    """Raise InputError unless the machine has what it takes."""
    machine = os.uname().machine
    if machine != "x86_64":
        raise InputError("", f"User-Mode Linux runs on x86_64 alone, this machine is {machine}", "--on linux")
    if missing := [tool for tool in TOOLS if not shutil.which(tool)]:
        raise InputError("", f"{', '.join(missing)} missing", PACKAGES)


def archive(version: str | None, source: str | None, folder: Path, say: Callable[[str], None]) -> Path:
    """Return a tree or an archive of sources; that of a distribution is fetched if it is not there. Raises InputError."""
    if source:
        if not Path(source).exists():
            raise InputError("--source", f"{source} does not exist", "a tree of Linux sources, or a tar archive of one")
        return Path(source).resolve()
    installed = sorted(
        SOURCES.glob("linux-source-*.tar.*"), key=lambda file: [int(part) for part in re.findall(r"\d+", file.name)]
    )
    for file in reversed(installed):
        if version is None or file.name.startswith(f"linux-source-{version}.tar"):
            return file
    name = f"linux-source-{version or '6.1'}"
    say(f"fetching {name}")
    try:
        run(["apt-get", "download", name], folder)
        run(["dpkg-deb", "-x", str(max(folder.glob(f"{name}_*.deb"))), str(folder)], folder)
        return next((folder / "usr" / "src").glob(f"{name}.tar.*"))
    except (RunFailedError, StopIteration, ValueError):
        known = ", ".join(file.name for file in installed) or "none"
        raise InputError(
            "--version", f"no sources {name} ({SOURCES} has {known})", f"apt-get install {name}, or --source TREE"
        ) from None


def unpacked(found: Path, folder: Path, say: Callable[[str], None]) -> Path:
    """Return the tree of sources in the folder of the build, which is a copy."""
    tree, done = folder / "tree", folder / "unpacked"
    if done.exists() and done.read_text(encoding="utf-8") == str(found):
        return tree
    shutil.rmtree(tree, ignore_errors=True)
    say(f"unpacking {found}")
    if found.is_dir():
        shutil.copytree(found, tree, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    else:
        try:
            with tarfile.open(found) as packed:
                packed.extractall(folder / "packed", filter="data")
        except (tarfile.TarError, OSError) as error:
            raise InputError("--source", f"{found} is no archive of sources: {error}", "a tar archive") from None
        inner = [path for path in (folder / "packed").iterdir() if path.is_dir()]
        inner[0].rename(tree)
        shutil.rmtree(folder / "packed")
    if not (tree / "arch" / "um").is_dir():
        raise InputError("--source", f"{found} has no arch/um", "a tree of Linux sources")
    for file, pattern, text in EDITS:
        path = tree / file
        path.write_text(re.sub(pattern, text, path.read_text(encoding="utf-8")), encoding="utf-8")
    done.write_text(str(found), encoding="utf-8")
    return tree


def configure(tree: Path, say: Callable[[str], None]) -> None:
    """Write the configuration of a tree. Raises RunFailedError if its kernel lacks what is asked for."""
    say("configuring")
    run(["make", "ARCH=um", "defconfig"], tree)
    with (tree / ".config").open("a", encoding="utf-8") as file:
        file.writelines(f"CONFIG_{name}=y\n" for name in CONFIGURATION)
        file.write(f"{STACK_ORDER}\n")
    run(["make", "ARCH=um", "olddefconfig"], tree)
    chosen = (tree / ".config").read_text(encoding="utf-8").splitlines()
    missing = [name for name in CONFIGURATION if f"CONFIG_{name}=y" not in chosen]
    if missing:
        raise RunFailedError(f"these sources have no {', '.join(missing)}")


def compile_tree(tree: Path, jobs: int, say: Callable[[str], None]) -> None:
    """Compile a configured tree. Raises RunFailedError with the last lines of the compiler."""
    lines: list[str] = []
    with subprocess.Popen(
        ["make", "ARCH=um", f"-j{jobs}", "linux"],
        cwd=tree,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as made:
        for line in made.stdout or ():
            lines.append(line)
            if len(lines) % (OBJECTS // 20) == 0:
                say(f"compiling, {min(99, 100 * len(lines) // OBJECTS)} %")
    if made.returncode:
        raise RunFailedError(f"the build of {tree} failed:\n{''.join(lines[-LONGEST_LINES:])}")


def run(command: Sequence[str], folder: Path) -> str:
    """Run a command of the build; return what it printed. Raises RunFailedError."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise RunFailedError(f"{command[0]}: {error.strerror}") from None
    if done.returncode:
        raise RunFailedError(f"{' '.join(command)} failed: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout
