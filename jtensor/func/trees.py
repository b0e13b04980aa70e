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
