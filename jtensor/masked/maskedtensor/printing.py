"""How a masked tensor is printed: its numbers, and ``--`` where the mask lets none through.

Owns: that text. May not know: the class.
"""
_NOTHING, _WIDTH = "--", 8


def shown(data, mask):
    """The text of a masked tensor of this data (strided or sparse) and this mask."""
    if data.dim() == 0:
        there = mask.item()
        number = _number(data.item()) if there else _NOTHING
        return f"MaskedTensor({number}, {there})"
    return f"MaskedTensor(\n{_indented(_lines(data, mask))}\n)"


def _number(value):
    return f"{value:8.4f}" if isinstance(value, float) else str(value)


def _indented(text):
    return "\n".join(["  " + line for line in text.split("\n")])


def _lines(data, mask):
    if data.layout.name != "strided":
        data, mask = data.to_dense(), mask.to_dense()
    return _nest(data.tolist(), mask.tolist(), data.dim())


def _nest(numbers, there, depth):
    if depth > 1:
        parts = [_indented(_nest(*pair, depth - 1)) for pair in zip(numbers, there, strict=True)]
        return "[\n" + ",\n".join(parts) + "\n]"
    texts = list(map(_number, numbers))
    width = max([len(text) if let else _WIDTH for text, let in zip(texts, there, strict=True)])
    return "[" + ", ".join([text if let else _NOTHING.rjust(width) for text, let in zip(texts, there, strict=True)]) + "]"
