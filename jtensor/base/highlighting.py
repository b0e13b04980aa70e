"""A part of a text as TorchScript's errors show it: with three lines around it and ``~~~ <--- HERE`` below.

Owns: how it looks. May not know: what was looked for. Texts are strings of bytes (latin-1).
"""
AROUND = 3                      # lines that are shown before and after; the line itself is one of those before


class Found(str):
    """An error's text that quotes the bytes of another."""

    __slots__ = ()


_NAMED = {"\\": "\\\\", "'": "\\'", '"': '\\"', "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}


def quoted(text):
    """A text in quotes; what cannot be printed as three digits, which beyond ASCII are those of a negative number."""
    return f'"{"".join(map(_letter, text))}"'


def _letter(one):
    if one in _NAMED or " " <= one <= "~":
        return _NAMED.get(one, one)
    code = ord(one)
    if code < 128:
        return f"\\{code:03o}"
    low = 256 - code                                             # each digit of -low, as C divides: towards zero
    return "\\" + "".join(chr(ord("0") - digit) for digit in (low // 64, low // 8 % 8, low % 8))


def _line(text, place):
    """Where the line of a place begins."""
    return text.rfind("\n", 0, place) + 1


def _line_end(text, place):
    """Where the line of a place ends."""
    found = text.find("\n", place)
    return len(text) if found < 0 else found


def _context(text, start, end):
    """From where to where lines are shown around a part."""
    low, high = _line(text, start), _line_end(text, end)
    for _ in range(AROUND - 1):
        low = _line(text, low - 1) if low else 0
    for _ in range(AROUND - 1):
        high = _line_end(text, high + 1) if high < len(text) else high
    return low, high


def shown(text, start, end):
    """A part of a text, from one place to another, with what is around it."""
    if end - start == len(text):
        return text                                              # all of it
    end = min(len(text), end)
    if start > len(text):
        return ""
    low, high = _context(text, start, end)
    out, at = [text[low:start]], start
    while at < end:
        line = _line_end(text, at)
        begin, stop = _line(text, at), min(end, _line_end(text, at))
        out.append(text[at:line] + "\n")
        blank = next((place for place in range(begin, stop) if place >= start and text[place] != " "), stop) - begin
        if stop - begin > blank:
            more = line != end and (end == len(text) or text[line:end + 1].strip("\n ") != "")
            out.append(" " * blank + "~" * (stop - begin - blank) + ("\n" if more else " <--- HERE\n"))
        at = line + 1
    rest = text[at:high] if at <= high else text[at:]             # a part that ends before it begins: all that comes
    return "".join(out) + rest + ("\n" if rest and not rest.endswith("\n") else "")
