"""Nested tuples, lists and dictionaries of tensors: taken apart into a list, and put together again."""


def flatten(tree):
    """(leaves, a function that puts as many leaves into the same nest)."""
    if isinstance(tree, dict):
        keys, parts = list(tree), list(tree.values())

        def build(parts):
            return type(tree)(zip(keys, parts))
    elif isinstance(tree, (tuple, list)):
        parts = list(tree)

        def build(parts):
            return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    else:
        return [tree], lambda leaves: leaves[0]
    found = [flatten(part) for part in parts]
    counts = [len(leaves) for leaves, _ in found]

    def unflatten(leaves):
        made, at = [], 0
        for (_, inner), count in zip(found, counts):
            made.append(inner(leaves[at:at + count]))
            at += count
        return build(made)
    return [leaf for leaves, _ in found for leaf in leaves], unflatten


def mapped(function, tree):
    """The nest with a function applied to every leaf."""
    leaves, unflatten = flatten(tree)
    return unflatten([function(leaf) for leaf in leaves])


def _parts(tree):
    """(kind, keys, parts) of a nest, or None for a leaf."""
    if isinstance(tree, dict):
        return type(tree), tuple(tree), list(tree.values())
    if isinstance(tree, (tuple, list)):
        return type(tree), None, list(tree)
    return None


def spread_over(prefix, tree):
    """What a nest says of each leaf of another: a leaf of it stands for all below its place. None where they are not nested alike.

    >>> spread_over((0, None), ("a", ["b", "c"]))
    [0, None, None]
    """
    theirs, own = _parts(tree), _parts(prefix)
    if own is None:
        return [prefix] * len(flatten(tree)[0])
    if theirs is None or own[0] is not theirs[0] or own[1] != theirs[1] or len(own[2]) != len(theirs[2]):
        return None
    found = []
    for part, below in zip(own[2], theirs[2], strict=True):
        inner = spread_over(part, below)
        if inner is None:
            return None
        found += inner
    return found


def structure(tree, indent=0):
    """A nest's structure as PyTorch writes it."""
    found = _parts(tree)
    if found is None:
        return "*"
    kind, keys, parts = found
    inner = [structure(part, indent + 2) for part in parts]
    listed = (",\n" + " " * (indent + 2)).join(inner)
    return f"TreeSpec({kind.__name__}, {None if keys is None else list(keys)}, [{listed}])"
