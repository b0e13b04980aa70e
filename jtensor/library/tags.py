"""`torch.Tag`: what can be said of an operator beside its schema. Nothing here acts on it."""
import enum

Tag = enum.Enum("Tag", [(name, at) for at, name in enumerate(
    """core cudagraph_unsafe data_dependent_output dynamic_output_shape flexible_layout generated inplace inplace_view
    maybe_aliasing_or_mutating needs_contiguous_strides needs_exact_strides needs_fixed_stride_order nondeterministic_bitwise
    nondeterministic_seeded out out_variant pointwise pt2_compliant_tag reduction view_copy""".split())], module=__name__)
Tag.__doc__ = """What an operator's author says of it, for compilers: ``torch.library.define(..., tags=(torch.Tag.pt2_compliant_tag,))``.

    >>> torch.Tag.pt2_compliant_tag
    <Tag.pt2_compliant_tag: 17>
    """


def listed(tags):
    """One tag, several or None as a list. ``TypeError`` for anything else."""
    tags = [tags] if isinstance(tags, Tag) else list(tags or ())
    for tag in tags:
        if not isinstance(tag, Tag):
            raise TypeError(f"define(): incompatible function arguments: a tag must be a torch.Tag, not {type(tag).__name__}")
    return tags
