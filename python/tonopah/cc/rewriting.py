"""Rewrites the methods of a congestion control so that they can be compiled: everything that they hold is a double.

`self`, `ack`, `view` and the others become records of doubles. An absent value is NaN instead of None, a word its number
(`Words`), and a method or function that is called is a function of its own. The rest is a CompileError with its line.
"""

import ast
import inspect
import math
import textwrap
from collections.abc import Collection
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from tonopah.errors import InputError

MAX_EXACT = 2**53
"""Whole numbers up to this are exact as doubles."""


class CompileError(InputError):
    """What cannot be compiled, with its line."""


class Words:
    """The numbers that stand for words: those of the engine's states and causes first."""

    def __init__(self, known: Collection[str]):
        self.numbers = {word: float(number) for number, word in enumerate(known)}

    def number(self, word: str) -> float:
        """Return the number of a word, a new one if it is new."""
        return self.numbers.setdefault(word, float(len(self.numbers)))


@dataclass
class Rewritten:
    """The functions that a class needs, as modules of one function each, by the name that they have there."""

    cls: type
    fields: Collection[str]
    """What `self` holds."""
    words: Words
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Globals of each function that stay as they are."""

    def method(self, name: str, after: type | None = None) -> str:
        """Add a method, that of the next class after one in the order of resolution for `super()`; return its name here."""
        order = self.cls.__mro__
        order = order[order.index(after) + 1 :] if after else order
        owner = next((cls for cls in order if name in vars(cls)), None)
        function = vars(owner)[name] if owner else None
        if owner is None or not isinstance(function, FunctionType):
            raise CompileError("", f"{self.cls.__name__}.{name} is no method")
        return self.add(f"{owner.__name__}_{name}", function, owner)

    def add(self, name: str, function: FunctionType, owner: type | None = None) -> str:
        """Add a function; return its name here."""
        if name not in self.functions:
            tree = parse(function)
            self.files[name] = function.__code__.co_filename
            self.functions[name] = tree
            self.values[name] = {}
            Rewriter(self, name, function, owner).visit(tree)
        return name

    @property
    def key(self) -> str:
        """What decides what is compiled."""
        parts = [f"{self.files[name]}:{ast.dump(tree, include_attributes=True)}" for name, tree in self.functions.items()]
        values = {name: {key: repr(value) for key, value in found.items()} for name, found in self.values.items()}
        return repr((sorted(self.fields), self.words.numbers, parts, values))


def parse(function: FunctionType) -> ast.FunctionDef:
    """Return the definition of a function with the lines of its file."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise CompileError("", f"{function.__qualname__} has no source in a file, and cannot be compiled") from None
    tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise CompileError("", f"{function.__qualname__} (line {first}) is not a plain function, and cannot be compiled")
    return ast.increment_lineno(tree, first - 1)


class Rewriter(ast.NodeTransformer):
    """Rewrites one function."""

    def __init__(self, found: Rewritten, name: str, function: FunctionType, owner: type | None):
        self.found, self.name, self.function, self.owner = found, name, function, owner
        code = function.__code__
        self.own = code.co_varnames[0] if owner and code.co_argcount else ""
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        self.outside = {**function.__globals__, **{key: cell.cell_contents for key, cell in cells if key != "__class__"}}

    def refuse(self, node: ast.AST, text: str) -> CompileError:
        """Return the error of a place that cannot be compiled."""
        return CompileError("", f"line {getattr(node, 'lineno', '?')} ({self.function.__qualname__}): {text}")

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Drop what a compiler does not need: decorators, annotations, the docstring; a missing return value is an absent one."""
        if node.decorator_list:
            raise self.refuse(node, "a method with a decorator cannot be compiled")
        node.name, node.returns = self.name, None
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            argument.annotation = None
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        answers = any(isinstance(inner, ast.Return) and inner.value for inner in ast.walk(node))
        self.generic_visit(node)
        if answers:
            node.body.append(ast.Return(self.absent(node)))
        return ast.fix_missing_locations(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        """Drop an annotation."""
        if node.value is None:
            return None
        return self.visit(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Put NaN for None, its number for a word."""
        if node.value is None:
            return self.absent(node)
        if isinstance(node.value, str):
            return ast.copy_location(ast.Constant(self.found.words.number(node.value)), node)
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        """Drop what an exception says, for nobody sees it: the run ends."""
        return ast.copy_location(ast.parse("raise ValueError").body[0], node)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """Drop the same."""
        node.test, node.msg = self.truth(node.test), None
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Ask for NaN where `x is None` is asked."""
        if not any(isinstance(part, ast.Is | ast.IsNot) or is_none(right) for part, right in parts(node)):
            return self.generic_visit(node)
        [(operator, right)] = parts(node) if len(node.ops) == 1 else [(node.ops[0], node)]
        if len(node.ops) > 1 or not is_none(right) or not isinstance(operator, ast.Is | ast.IsNot | ast.Eq | ast.NotEq):
            raise self.refuse(node, "`is` compares with None only")
        asked: ast.expr = ast.Call(ast.Name("is_absent", ast.Load()), [self.visit(node.left)], [])
        if isinstance(operator, ast.IsNot | ast.NotEq):
            asked = ast.UnaryOp(ast.Not(), asked)
        return ast.copy_location(asked, node)

    def visit_If(self, node: ast.If) -> ast.AST:
        """Test the truth of a value that may be absent."""
        node.test = self.truth(node.test)
        node.body, node.orelse = ([self.visit(one) for one in some] for some in (node.body, node.orelse))
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        """Test the same."""
        node.test = self.truth(node.test)
        node.body = [self.visit(one) for one in node.body]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Test the same."""
        node.test, node.body, node.orelse = self.truth(node.test), self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Test the same after `not`."""
        node.operand = self.truth(node.operand) if isinstance(node.op, ast.Not) else self.visit(node.operand)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Choose the operand that `and` and `or` give; only in a test is it enough to know whether one is true."""
        *before, found = [self.visit(one) for one in node.values]
        for operand in reversed(before):
            if any(isinstance(inner, ast.Call) and not is_question(inner) for inner in ast.walk(operand)):
                raise self.refuse(node, "a call before `and` or `or` whose value is used: give it a name first")
            test = ast.Call(ast.Name("is_true", ast.Load()), [operand], [])
            pair = (found, operand) if isinstance(node.op, ast.And) else (operand, found)
            found = ast.copy_location(ast.IfExp(test, *pair), node)
        return found

    def truth(self, node: ast.expr) -> ast.expr:
        """Return a test of an expression: None, and so NaN, is false."""
        if isinstance(node, ast.BoolOp):
            node.values = [self.truth(one) for one in node.values]
            return node
        if isinstance(node, ast.Compare | ast.Constant) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
            return self.visit(node)
        return ast.copy_location(ast.Call(ast.Name("is_true", ast.Load()), [self.visit(node)], []), node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        """Test the conditions of a comprehension in the same way."""
        node.iter, node.ifs = self.visit(node.iter), [self.truth(one) for one in node.ifs]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Call functions instead of methods of `self` and of `super()`."""
        target, arguments = node.func, [self.visit(one) for one in node.args]
        name = ""
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == self.own:
            name = self.found.method(target.attr)
        elif isinstance(target, ast.Attribute) and is_super(target.value):
            name = self.found.method(target.attr, self.owner)
        if name:
            arguments.insert(0, ast.Name(self.own, ast.Load()))
        elif isinstance(target, ast.Name) and target.id == "bool" and len(arguments) == 1:
            name = "is_true"
        elif isinstance(target, ast.Name) and isinstance(self.outside.get(target.id), FunctionType):
            name = self.found.add(f"function_{target.id}", self.outside[target.id])
        keywords = [ast.keyword(one.arg, self.visit(one.value)) for one in node.keywords]
        called = ast.Name(name, ast.Load()) if name else self.visit(target)
        return ast.copy_location(ast.Call(called, arguments, keywords), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Read what `__init__` has set from the record, a number of the class as it is now."""
        if not (isinstance(node.value, ast.Name) and node.value.id == self.own) or node.attr in self.found.fields:
            return self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and hasattr(self.found.cls, node.attr):
            value = as_double(getattr(self.found.cls, node.attr), self.found.words)
            if value is not None:
                return ast.copy_location(self.constant(value, node), node)
        raise self.refuse(node, f"self.{node.attr} is no number, truth value or word that __init__ sets")

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Read a word of the module as it is now; the compiler does so with numbers."""
        if not isinstance(node.ctx, ast.Load) or node.id in self.function.__code__.co_varnames or node.id not in self.outside:
            return node
        value = self.outside[node.id]
        if isinstance(value, str | bool) or value is None:
            return self.constant(as_double(value, self.found.words), node)
        self.found.values[self.name][node.id] = value
        return node

    def constant(self, value: float | None, node: ast.AST) -> ast.expr:
        """Return a number as an expression."""
        if value is None or math.isnan(value):
            return self.absent(node)
        return ast.copy_location(ast.Constant(value), node)

    def absent(self, node: ast.AST) -> ast.expr:
        """Return NaN as an expression."""
        return ast.copy_location(ast.Name("ABSENT", ast.Load()), node)


def parts(node: ast.Compare) -> list[tuple[ast.cmpop, ast.expr]]:
    """Return the operators of a comparison with what stands to their right."""
    return list(zip(node.ops, node.comparators, strict=True))


def is_none(node: ast.expr) -> bool:
    """Tell whether an expression is None itself."""
    return isinstance(node, ast.Constant) and node.value is None


def is_question(node: ast.Call) -> bool:
    """Tell whether a call is one of those that the rewriting makes, which change nothing."""
    return isinstance(node.func, ast.Name) and node.func.id in ("is_true", "is_absent")


def is_super(node: ast.expr) -> bool:
    """Tell whether an expression is `super()`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args


def as_double(value: Any, words: Words) -> float | None:
    """Return a value as compiled code holds it; None if it cannot."""
    if value is None:
        return math.nan
    if isinstance(value, str):
        return words.number(value)
    if isinstance(value, int | float) and (isinstance(value, float) or abs(value) <= MAX_EXACT):
        return float(value)
    return None
