"""From where to where a part of a source goes, as errors mark it: PyTorch's parts end where the last of what they are made of ends.

Owns: that. May not know: how places are shown.
"""
import ast


def of(node):
    """((line, column) of the start, of the end) of a node of Python's."""
    if isinstance(node, ast.expr):
        return _start(node), _end(node)
    start, end = (node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset)
    if isinstance(node, ast.arg):
        return start, (node.lineno, node.col_offset + len(node.arg))
    inside = [of(one)[1] for one in ast.iter_child_nodes(node) if isinstance(one, (ast.expr, ast.stmt))]
    return start, max(inside, default=end)


def _start(node):
    if isinstance(node, (ast.BinOp, ast.Compare)):
        return _start(node.left)
    if isinstance(node, ast.BoolOp):
        return _start(node.values[0])
    if isinstance(node, ast.IfExp):
        return _start(node.body)
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return _start(node.value)
    return _start(node.func) if isinstance(node, ast.Call) else (node.lineno, node.col_offset)


def _end(node):
    whole = node.end_lineno or node.lineno, node.end_col_offset
    if isinstance(node, ast.Constant):
        return (node.lineno, node.col_offset + len(node.value) + 1) if isinstance(node.value, str) else whole
    if isinstance(node, ast.Attribute):
        line, column = _end(node.value)
        return (line, column + 1 + len(node.attr)) if line == whole[0] else whole
    if isinstance(node, ast.Call):
        return max([_end(one) for one in (*node.args, *[one.value for one in node.keywords])], default=_end(node.func))
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        bounds = [one for part in parts for one in ((part.lower, part.upper, part.step) if isinstance(part, ast.Slice) else (part,))]
        line, column = max([_end(one) for one in bounds if one is not None], default=_end(node.value))
        return line, column + 1
    if isinstance(node, (ast.ListComp, ast.DictComp)):
        return max(_end(one.iter) for one in node.generators)
    if isinstance(node, ast.JoinedStr):
        return max([_end(one.value) for one in node.values if isinstance(one, ast.FormattedValue)], default=whole)
    if isinstance(node, (ast.Name, ast.Lambda)):
        return whole
    found = [_end(one) for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
    if isinstance(node, (ast.List, ast.Tuple, ast.Dict)) and not found:
        return node.lineno, node.col_offset + 1
    return max(found, default=whole)
