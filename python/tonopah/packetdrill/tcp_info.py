"""What TCP_INFO shows (struct tcp_info of Linux), from the state of an endpoint; and the assertions that use it."""

import ast
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from tonopah.runs.endpoint import EndpointState

MICRO = 1e6
NO_SSTHRESH = 0x7FFFFFFF
"""tcpi_snd_ssthresh before the first loss."""

CA_STATES = ("open", "disorder", "cwr", "recovery", "loss")
TCP_STATES = (
    "established", "syn_sent", "syn_received", "fin_wait_1", "fin_wait_2", "time_wait", "closed", "close_wait", "last_ack",
    "listen", "closing",
)  # fmt: skip

CONSTANTS: dict[str, int] = {
    **{f"TCP_CA_{name}": number for number, name in enumerate(("Open", "Disorder", "CWR", "Recovery", "Loss"))},
    **{
        f"TCP_{name}": number
        for number, name in enumerate(
            (
                "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2", "TIME_WAIT", "CLOSE", "CLOSE_WAIT",
                "LAST_ACK", "LISTEN", "CLOSING",
            ),
            start=1,
        )
    },
    "TCPI_OPT_TIMESTAMPS": 1,
    "TCPI_OPT_SACK": 2,
    "TCPI_OPT_WSCALE": 4,
    "TCPI_OPT_ECN": 8,
    "TCPI_OPT_SYN_DATA": 32,
}  # fmt: skip

ALLOWED = (
    ast.Module, ast.Assert, ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.Pass, ast.Name, ast.Constant, ast.Load, ast.Store,
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Call, ast.Tuple, ast.IfExp, ast.JoinedStr, ast.FormattedValue,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip
"""What code between %{ and }% may hold: assertions over numbers, no loops and no imports."""
FUNCTIONS: dict[str, Callable[..., Any]] = {"abs": abs, "min": min, "max": max, "int": int, "print": lambda *_: None}


LARGEST = 1 << 64
"""The largest number that a variable of a script keeps."""
MOST_PRODUCTS = 16
"""Products in a statement: each may double the digits of a number."""


class CodeError(Exception):
    """Code that cannot be carried out, with the reason."""


class AssertionMissedError(Exception):
    """An assertion that does not hold: what it says and the values that it saw."""


def clean(text: str) -> str:
    """Return code without common indentation, its lines joined where a backslash ends them; Python 2 printed by a statement."""
    text = re.sub(r"(?m)^([ \t]*)print[ \t]+(?![(=]).*$", r"\1pass", text)
    return inspect.cleandoc(re.sub(r"\\\s*\n\s*", " ", text).rstrip().rstrip("\\"))


def segments(size: int | None, state: EndpointState) -> int:
    """Return a size in segments."""
    return -(-(size or 0) // (state.mss_bytes or 1))


FIELDS: dict[str, Callable[[EndpointState], Any]] = {
    "tcpi_state": lambda s: TCP_STATES.index(s.phase) + 1,
    "tcpi_ca_state": lambda s: CA_STATES.index(s.state or "open"),
    "tcpi_snd_cwnd": lambda s: segments(s.send_window_bytes if s.state in {"cwr", "recovery"} else s.cwnd_bytes, s),
    "tcpi_snd_ssthresh": lambda s: NO_SSTHRESH if s.ssthresh_bytes is None else segments(s.ssthresh_bytes, s),
    "tcpi_unacked": lambda s: segments(s.flight_bytes, s),
    "tcpi_sacked": lambda s: segments(s.sacked_bytes, s),
    "tcpi_lost": lambda s: segments(s.lost_bytes, s),
    "tcpi_retrans": lambda s: segments(s.retransmitted_bytes, s),
    "tcpi_probes": lambda s: s.probes,
    "tcpi_rcv_mss": lambda s: s.receiver_mss_bytes,
    "tcpi_reordering": lambda s: s.reordering,
    "tcpi_snd_mss": lambda s: s.mss_bytes,
    "tcpi_rtt": lambda s: round((s.srtt_s or 0) * MICRO),
    "tcpi_rttvar": lambda s: round((s.rttvar_s or 0) * MICRO),
    "tcpi_rto": lambda s: round((s.rto_s or 0) * MICRO),
    "tcpi_min_rtt": lambda s: round((s.min_rtt_s or 0) * MICRO),
    "tcpi_snd_wnd": lambda s: s.rwnd_bytes,
    "tcpi_total_retrans": lambda s: s.retransmitted_segments,
    "tcpi_notsent_bytes": lambda s: s.unsent_bytes,
}
"""Fields of struct tcp_info that an endpoint knows."""


class Assertions:
    """The Python code of a script: its variables live from one piece to the next."""

    def __init__(self) -> None:
        self.variables: dict[str, Any] = {}
        self.unknown: set[str] = set()
        """Fields that code asked for and the endpoint does not know."""
        self.hidden: set[str] = set()
        """Fields that the endpoint knows and this script cannot compare."""

    def run(self, text: str, state: EndpointState, counted: Mapping[str, int] | None = None) -> int:
        """Carry out one piece of code; return how many assertions held, raise for one that does not.

        `counted` has fields that the state does not show.
        """
        try:
            tree = ast.parse(clean(text))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise CodeError(f"the code cannot be read: {error}") from None
        for node in ast.walk(tree):
            # What is printed, or said of an assertion that does not hold, is not computed.
            if isinstance(node, ast.Assert):
                node.msg = None
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                node.args, node.keywords = [], []
        for node in ast.walk(tree):
            if not isinstance(node, ALLOWED) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow | ast.LShift)):
                raise CodeError(f"the code uses {type(node).__name__}")
            if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS):
                raise CodeError(f"the code calls {node.func.id if isinstance(node.func, ast.Name) else 'what has no name'}")
            if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)):
                raise CodeError("the code computes with text")
        try:
            return sum(self.statement(statement, state, counted or {}) for statement in tree.body)
        except (ArithmeticError, TypeError, ValueError, RecursionError, MemoryError) as error:
            raise CodeError(f"the code fails: {error}") from None

    def statement(self, statement: ast.stmt, state: EndpointState, counted: Mapping[str, int]) -> int:
        """Carry out one statement; 1 if it is an assertion that holds."""
        nodes = list(ast.walk(statement))
        products = sum(isinstance(node, ast.Mult) for node in nodes)
        if products > MOST_PRODUCTS or (products and any(isinstance(node, ast.Tuple) for node in nodes)):
            raise CodeError(f"more than {MOST_PRODUCTS} products of numbers in one statement")
        names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        known = {name: FIELDS[name](state) for name in names & FIELDS.keys() - self.hidden} | dict(counted) | CONSTANTS
        missing = {name for name in names if name not in {*known, *self.variables, *FUNCTIONS}}
        if missing:
            self.unknown |= missing
            return 0
        scope = {"__builtins__": {}, **FUNCTIONS, **known, **self.variables}
        code = compile(ast.Module([statement], []), "<script>", "exec")
        try:
            exec(code, scope)  # of the nodes above only: no attributes, no loops, no other calls
        except AssertionError:
            text = re.sub(r"\s+", " ", ast.unparse(statement))
            seen = ", ".join(f"{name} = {scope[name]}" for name in sorted(names - FUNCTIONS.keys()) if name in scope)
            raise AssertionMissedError(text, seen) from None
        stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        for name in stored & scope.keys():
            if not isinstance(scope[name], int | float) or abs(scope[name]) > LARGEST:
                raise CodeError(f"{name} is no number of at most 64 bits")
            self.variables[name] = scope[name]
        return int(isinstance(statement, ast.Assert))
