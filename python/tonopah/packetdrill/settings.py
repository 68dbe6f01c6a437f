"""Settings of a script: the sysctls that it makes, as keys of a scenario's table `tcp`."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tonopah.packetdrill.syntax import NotApplicableError, Script, ScriptPacket, is_whole

SYSCTL = re.compile(r"(?:/proc/sys/)?net[./]ipv4[./](?P<name>tcp_[a-z0-9_]+)=(?P<value>\"[^\"]*\"|'[^']*'|\S+)")
OTHER_SYSCTL = re.compile(r"(?:/proc/sys/)?(?P<name>net[./][\w./]+)=\S")
BSD_SYSCTL = re.compile(r"net\.inet\.tcp\.(?P<name>[a-z0-9_.]+)=(?P<value>[0-9]{1,9})")
QDISC = re.compile(r"\btc\s+qdisc\s+\w+\s+.*\broot\s+(?P<kind>\w+)(?P<more>[^;&|>]*)")
OTHERS_IGNORED = {
    "net.core.netdev_max_backlog", "net.core.optmem_max", "net.core.rmem_max", "net.core.somaxconn", "net.core.wmem_max",
    "net.ipv4.ip_local_port_range",
}  # fmt: skip
"""Sysctls outside TCP without a meaning for one endpoint."""
PLAIN_QUEUES = {"fq_codel", "mq", "noqueue", "pfifo", "pfifo_fast"}
"""Queues that an endpoint alone never fills, and that do not pace."""
INCLUDED = re.compile(r"(?P<file>[\w./-]+\.sh)\b")
MAX_INCLUDE_BYTES = 100_000
MAX_LINE = 2_000
"""Letters of a line of shell."""
MOST = (1 << 64) - 1
"""The largest value of a setting."""

PROGRAMS = {
    "cat", "dd", "echo", "ethtool", "ip", "modprobe", "nstat", "rm", "set_sysctls.py", "sleep", "source", "ss", "sysctl",
    "tc", "touch", "true", ".",
}  # fmt: skip
"""Programs whose effect on TCP is known, or that have none."""


@dataclass
class Host:
    """What a host is set to: the kernel's defaults, changed by the script."""

    tcp: dict[str, Any] = field(default_factory=lambda: {"profile": "linux", "cc": "cubic", "mss": "1460B"})
    ecn: int = 2
    """net.ipv4.tcp_ecn: 2 accepts ECN and does not ask for it."""
    ecn_option: str = "all"
    """net.ipv4.tcp_ecn_option: AccECN's on every segment."""
    freebsd: bool = False
    """It has FreeBSD's sysctls: what it advertises while data waits to be read is its own."""

    def set(self, name: str, value: str) -> None:
        """Apply one sysctl; raise NotApplicableError for one that changes what is not modelled."""
        if name in IGNORED:
            return
        if name == "tcp_ecn" and is_whole(value):
            self.ecn = int(value)
            return
        if name == "tcp_ecn_option" and value in {"0", "2"}:
            self.ecn_option = {"0": "off", "2": "all"}[value]
            return
        if name == "tcp_shrink_window" and value == "0":
            return
        if name not in SYSCTLS:
            raise NotApplicableError(f"sysctl {name}")
        try:
            SYSCTLS[name](self.tcp, evaluate(value))
        except (ValueError, IndexError):
            raise NotApplicableError(f"sysctl {name} = {value[:40]}") from None

    def set_bsd(self, name: str, value: str) -> None:
        """Apply one sysctl of FreeBSD, without `net.inet.tcp.`; raise NotApplicableError for one that is not modelled."""
        self.freebsd, self.tcp = True, self.tcp | FREEBSD
        if name in BSD_IGNORED or (name in BSD_OFF and int(value) == 0):
            return
        if name == "ecn.enable":
            self.ecn = int(value)
        elif name in BSD_SYSCTLS:
            for change in BSD_SYSCTLS[name]:
                change(self.tcp, value)
        else:
            raise NotApplicableError(f"sysctl net.inet.tcp.{name} = {value}")

    def settings(self, active: bool) -> dict[str, Any]:
        """Return the table `tcp` of an endpoint that opens actively or passively."""
        asks = {0: "off", 1: "classic", 2: "off", 3: "accecn", 4: "classic", 5: "off"}
        accepts = {0: "off", 1: "classic", 2: "classic", 3: "accecn", 4: "accecn", 5: "accecn"}
        ecn = (asks if active else accepts).get(self.ecn, "off")
        return self.tcp | {"ecn": ecn} | ({"ecn_option": self.ecn_option} if ecn == "accecn" else {})


def switch(key: str) -> Callable[[dict[str, Any], str], None]:
    """Return a setter of a key that is on or off."""
    return lambda tcp, value: tcp.__setitem__(key, int(value) != 0)


def number(key: str) -> Callable[[dict[str, Any], str], None]:
    """Return a setter of a key that is a number."""
    return lambda tcp, value: tcp.__setitem__(key, int(value))


def receive_buffer(tcp: dict[str, Any], value: str) -> None:
    """Take the greatest receive buffer of tcp_rmem: it decides the window scale."""
    tcp["recv_buffer"] = f"{int(value.rsplit(maxsplit=1)[-1])}B"


def whole(value: str, most: int) -> int:
    """Return a number from 0 to `most`; of tcp_recovery the other bits change RACK in ways that are not modelled."""
    if not 0 <= int(value) <= most:
        raise ValueError
    return int(value)


SYSCTLS: dict[str, Callable[[dict[str, Any], str], None]] = {
    "tcp_congestion_control": lambda tcp, value: tcp.__setitem__("cc", value),
    "tcp_early_retrans": switch("tlp"),
    "tcp_frto": switch("frto"),
    "tcp_recovery": lambda tcp, value: tcp.__setitem__("recovery", ("sack", "rack")[whole(value, 1)]),
    "tcp_reordering": number("dup_thresh"),
    "tcp_retries2": number("retries2"),
    "tcp_rmem": receive_buffer,
    "tcp_rto_max_ms": lambda tcp, value: tcp.__setitem__("rto_max", f"{int(value)}ms"),
    "tcp_sack": switch("sack"),
    "tcp_slow_start_after_idle": switch("slow_start_after_idle"),
    "tcp_syn_linear_timeouts": number("syn_linear_timeouts"),
    "tcp_syn_retries": number("syn_retries"),
    "tcp_timestamps": switch("timestamps"),
    "tcp_window_scaling": switch("window_scale"),
}
"""What a sysctl of Linux is called in a scenario."""

BSD_SYSCTLS: dict[str, tuple[Callable[[dict[str, Any], str], None], ...]] = {
    "rexmit_initial": (lambda tcp, value: tcp.__setitem__("rto_initial", f"{int(value)}ms"),),
    "rfc1323": (switch("timestamps"), switch("window_scale")),
    "sack.enable": (switch("sack"),),
}
"""What a sysctl of FreeBSD is called in a scenario."""
FREEBSD = {"quick_acks": 0, "ack_push": False, "ack_interactive": False, "syn_linear_timeouts": 0}
"""What its host does of itself: it delays ACKs from the first segment on, and doubles time-outs of a SYN."""
BSD_OFF = {"blackhole", "drop_synfin", "insecure_rst", "insecure_syn", "rexmit_drop_options", "syncookies_only"}
"""Those that change what TCP answers if they are on."""
BSD_IGNORED = {
    "delacktime", "fastopen.client_enable", "hostcache.purgenow", "icmp_may_rst", "keepcnt", "keepidle", "keepinit", "keepintvl",
    "recvspace", "rexmit_slop", "sendspace", "syncookies",
}  # fmt: skip

IGNORED = {
    "tcp_abort_on_overflow", "tcp_adv_win_scale", "tcp_app_win", "tcp_autocorking", "tcp_comp_sack_nr", "tcp_dsack",
    "tcp_fack", "tcp_fastopen", "tcp_fastopen_key", "tcp_fin_timeout", "tcp_keepalive_intvl",
    "tcp_keepalive_probes", "tcp_keepalive_time", "tcp_limit_output_bytes", "tcp_max_syn_backlog", "tcp_mem", "tcp_min_tso_segs",
    "tcp_moderate_rcvbuf", "tcp_no_metrics_save", "tcp_no_ssthresh_metrics_save", "tcp_notsent_lowat",
    "tcp_pacing_ca_ratio", "tcp_pacing_ss_ratio", "tcp_retries1", "tcp_rfc1337",
    "tcp_synack_retries", "tcp_syncookies", "tcp_tso_rtt_log", "tcp_tso_win_divisor", "tcp_wmem",
    "tcp_workaround_signed_windows",
}  # fmt: skip
"""Sysctls without a meaning for one endpoint, or whose default the endpoint has built in."""


def apply_shell(host: Host, command: str, folder: Path) -> None:
    """Apply the sysctls of a shell command and of the scripts that it runs; nothing is executed."""
    for line in filter(None, (line.strip() for line in command.replace("\\\n", " ").splitlines())):
        if line.startswith("#"):
            continue
        if len(line) > MAX_LINE:
            raise NotApplicableError(f"a command of more than {MAX_LINE} letters")
        qdisc = QDISC.search(line)
        if qdisc and "limit 0" in line:
            raise NotApplicableError("a local queue that drops everything: the endpoint has no device below it")
        if qdisc:
            host.tcp["pacing"] = paces(qdisc)
            continue
        refuse_others(line)
        for found in SYSCTL.finditer(line):
            host.set(found["name"], found["value"].strip("\"'"))
        for found in BSD_SYSCTL.finditer(line):
            host.set_bsd(found["name"], found["value"])
        program = Path(line.split()[0]).name
        if program.endswith(".sh"):
            include(host, line, folder)
        elif program not in PROGRAMS:
            raise NotApplicableError(f"the command {program}")
        elif program == "ip" and " route " in line:
            raise NotApplicableError("route settings")
        elif program == "tc" and "show" not in line:
            raise NotApplicableError(f"the command {line[:40]}")


def refuse_others(line: str) -> None:
    """Raise NotApplicableError at a sysctl outside TCP that may matter."""
    for found in OTHER_SYSCTL.finditer(line):
        name = found["name"].replace("/", ".")
        if BSD_SYSCTL.match(line, found.start()):
            continue
        if not name.startswith("net.ipv4.tcp_") and name not in OTHERS_IGNORED:
            raise NotApplicableError(f"sysctl {name[:80]}")


def paces(qdisc: re.Match[str]) -> bool:
    """Tell whether a queue of `tc` paces; raise NotApplicableError for one that does something else too."""
    kind, more = qdisc["kind"], qdisc["more"].split()
    if (kind != "fq" and kind not in PLAIN_QUEUES) or more:
        raise NotApplicableError(f"tc qdisc {' '.join([kind, *more])[:60]}")
    return kind == "fq"


def include(host: Host, line: str, folder: Path) -> None:
    """Apply the sysctls of a shell script beside the packetdrill script, such as defaults.sh."""
    found = INCLUDED.search(line)
    path = folder / found["file"] if found else folder
    if found is None or "sysctl_restore" in line or not path.is_file():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        text = file.read(MAX_INCLUDE_BYTES)
    for each in SYSCTL.finditer(text):
        host.set(each["name"], each["value"].strip("\"'"))


def evaluate(value: str) -> str:
    """Return a value with its `$((products))` computed, as in "4096 87380 $((15*1024*1024))"; raise ValueError beyond 64 bits."""

    def product(found: re.Match[str]) -> str:
        result = 1
        for factor in found[1].split("*"):
            result *= int(factor)
            if result > MOST:
                raise ValueError
        return str(result)

    return re.sub(r"\$\(\((\s*[0-9]+(?:\s*\*\s*[0-9]+)*\s*)\)\)", product, value)


def number_of(script: Script, option: str, default: int) -> int:
    """Return the value of an option of the head."""
    value = script.options.get(option)
    if value is not None and not is_whole(value):
        raise NotApplicableError(f"the option --{option}={value[:40]}")
    return default if value is None else int(value)


def host_of(script: Script) -> Host:
    """Return the host that a script was written on: the window scale of its first SYN shows its receive buffer."""
    host = Host()
    headers = 60 if script.options.get("ip_version", "ipv4") == "ipv6" else 40
    host.tcp["mss"] = f"{number_of(script, 'mtu', 1500) - headers}B"
    syns = (event.body for event in script.events if isinstance(event.body, ScriptPacket) and event.body.outbound)
    scale = next((packet.options.get("wscale") for packet in syns if packet.options and "S" in packet.flags), None)
    # A larger scale than RFC 7323 allows (section 2.3), or one that is no number, is no buffer's: it differs from what is sent.
    if isinstance(scale, int) and scale in range(15) and not any("tcp_rmem" in event.text for event in script.events):
        host.tcp["recv_buffer"] = f"{65_535 << scale}B"
    return host
