"""Functions: what they take and answer, and their statements from the first to the last.

Owns: arguments, annotations and comments of types, defaults, what is answered at the end. May not know: what becomes of the nodes.
"""
import ast
import re

from ...base import dtypes, sites
from .. import calls
from . import annotations, expressions, forms, ir, kinds, statements
from .source import NotSupportedError, error, unsupported
from .state import State

_DEFAULTS = (bool, int, float, str, complex, list, tuple, type(None))


def declared(source, own=None):
    """(the arguments, the declared result or None) of a function; ``own``: the kind that its first argument is."""
    node, given = source.node, source.node.args
    for one in (given.vararg, given.kwarg):
        if one is not None:
            raise unsupported("Compiled functions can't take variable number of arguments or use keyword-only arguments with defaults",
                              source.place(_star(one)), NotSupportedError)
    if given.kwonlyargs and any(one is not None for one in given.kw_defaults):
        raise unsupported("Compiled functions can't take variable number of arguments or use keyword-only arguments with defaults",
                          source.place(next(one for one in given.kw_defaults if one is not None)), NotSupportedError)
    comment = getattr(node, "type_comment", None) or _comment_below(source)
    written, answer = None, None
    if comment is not None:
        tree = ast.parse(comment, mode="func_type")
        written, answer = list(tree.argtypes), tree.returns
        answer = annotations.of_node(answer, source)
    every = [*given.posonlyargs, *given.args]
    first = len(every) - len(given.defaults)
    made = []
    for at, one in enumerate(every):
        if own is not None and at == 0:
            made.append(forms.Argument(one.arg, own))
            continue
        kind = kinds.INFERRED
        if one.annotation is not None:
            kind = annotations.of_node(one.annotation, source)
        elif getattr(one, "type_comment", None):
            kind = annotations.of_node(ast.parse(one.type_comment, mode="eval").body, source)
        elif written is not None:
            kind = annotations.of_node(written[at - (own is not None)], source)
        count = re.search(r"BroadcastingList(\d)", ast.unparse(one.annotation)) if one.annotation is not None else None
        count = int(count[1]) if count else None
        made.append(forms.Argument(one.arg, kind, _default(source, at - first, kind, one, count) if at >= first else forms.MISSING,
                                   count=count))
    for one in given.kwonlyargs:
        kind = annotations.of_node(one.annotation, source) if one.annotation is not None else kinds.INFERRED
        made.append(forms.Argument(one.arg, kind, kwarg_only=True))
    if answer is None and node.returns is not None:
        answer = annotations.of_node(node.returns, source)
    return made, answer


def _star(one):
    made = ast.copy_location(ast.arg("*" + one.arg), one)
    made.col_offset -= 1                                          # of two stars, too
    return made


def _comment_below(source):
    """A comment with the types in the line below ``def``."""
    if source.lines is None or not source.node.body:
        return None
    for line in source.lines[source.node.lineno:source.node.body[0].lineno]:
        text = line.strip()
        if text.startswith("# type: (") and "->" in text:
            return text.removeprefix("# type:").partition("#")[0].strip()
    return None


def _default(source, at, kind, argument, count):
    try:
        value = source.function.__defaults__[at] if source.function is not None and source.function.__defaults__ else source.evaluated(
            source.node.args.defaults[at])
    except AttributeError:
        value = source.evaluated(source.node.args.defaults[at])
    if isinstance(value, (list, dict, set)) and not sites.within(source.file):
        raise error("Mutable default parameters are not supported because Python binds them to the function and they persist across "
                    "function calls.\n As a workaround, make the default None and instantiate the default parameter within the body of the "
                    f"function. Found {type(value)} on parameter {argument.arg}", source.place(source.node))
    if isinstance(value, dtypes.dtype):
        return calls.CODES.index(value)
    whole = kinds.without_none(kind)
    if count and type(value) in (int, float):
        return [value] * count
    if whole == kinds.FLOAT and type(value) is int:
        value = float(value)
    if value is None and not kinds.is_part(kinds.NONE, kind) or type(value) not in _DEFAULTS:
        shown = "Tensor (inferred)" if kind.note else kind.shown()
        raise RuntimeError(f"Expected a default value of type {shown} on parameter \"{argument.arg}\".")
    wanted = {kinds.INT: int, kinds.FLOAT: float, kinds.BOOL: bool, kinds.STR: str, kinds.TENSOR: ()}.get(whole)
    if wanted is not None and value is not None and type(value) is not wanted:
        shown = "Tensor (inferred)" if kind.note else kind.shown()
        raise RuntimeError(f"Expected a default value of type {shown} on parameter \"{argument.arg}\".")
    return value


def compile(unit, source, arguments, answer, own=None):
    """(the graph, the kind of the result) of a function; its variables are still stored and loaded."""
    state = State(unit, source, expressions.emit)
    state.declared = state.merged = answer
    if answer is None:
        state.merged = None
    for at, argument in enumerate(arguments):
        value = state.graph.block.add_input(argument.kind, argument.name)
        if own is not None and at == 0:
            state.frame.sugared[argument.name] = own(value)
            continue
        state.store(argument.name, value, argument.kind)
    state.own_name = arguments[0].name if own is not None and arguments else None
    statements.emit_all(state, source.node.body)
    if state.block not in state.exits:
        if answer is not None and answer != kinds.NONE and not kinds.is_part(kinds.NONE, answer):
            raise error("Function was not annotated as having type None, but does not return along all paths", state.place(source.node))
        if answer is None and state.merged is not None and state.merged != kinds.NONE:
            state.merged = kinds.optional(state.merged)
        state.merged = state.merged or kinds.NONE
        state.add_node("prim::ReturnStmt", [state.constant(None)])
    for node in state.graph.block.all_nodes():
        if node.kind == "prim::ListConstruct" and node.output.fact == "empty list":
            node.output.name = ""                                 # PyTorch makes these of something else, which loses its name
    result = kinds.plain(state.merged if state.merged is not None else kinds.NONE)
    unset = state.graph.block
    unset.results = [unset.add(ir.Node("prim::Uninitialized", (), (result,))).output]
    return state.graph, result
