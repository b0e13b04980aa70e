"""Which blocks of an attention's scores are looked at: `BlockMask`, and how one is made.

A mask is a function of a batch, a head, a query and a key, each a tensor of one number, that says whether the score counts. Owns: the
masks, as numbers and as lists of blocks, of which `flex_attention` only takes the function. May not know: how attention is computed.
"""
import inspect
import itertools

import jtensor

SIZE = 128                      # of a block, in either direction


def noop_mask(batch, head, token_q, token_kv):
    """The mask that leaves out nothing."""
    return jtensor.ones((), dtype=jtensor.bool, device=batch.device)


def _sliced_mask_mod_error(b, h, q, kv):
    raise RuntimeError("Cannot use mask_mod from a sliced BlockMask. When you slice a BlockMask using [], the mask_mod attribute is reset. "
                       "You must set it from the original BlockMask's mask_mod.")


def over_all(function, sizes, device, *first):
    """What a function of numbers answers for all batches, heads, queries and keys; of ``first`` it gets the elements."""
    mapped, leading = function, [(0,) * len(first), ()][not first]
    for place in (3, 2, 1, 0):
        places = [None] * 4
        places[place] = 0
        mapped = jtensor.vmap(mapped, in_dims=(*leading, *places))
    return mapped(*first, *[jtensor.arange(size, device=device) for size in sizes])


def _is_score_mod(function):
    if not callable(function):
        raise TypeError(f"{function!r} is not a callable object")
    count = sum(p.default is inspect.Parameter.empty for p in inspect.signature(function).parameters.values()
                if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))
    if count not in (4, 5):
        raise AssertionError(f"Expected 4 or 5 positional args, got {count}")
    return count == 5


def create_mask(mod_fn, B, H, Q_LEN, KV_LEN, device=None):
    """What a mask function, or a score function, answers for all of ``B`` x ``H`` x ``Q_LEN`` x ``KV_LEN`` (None is 1).

    ``mod_fn(b, h, q, kv)`` answers a truth value; one that takes a score before these counts where it does not make it minus infinity.

    >>> from jtensor.nn.attention.flex_attention import create_mask
    >>> create_mask(lambda b, h, q, kv: q >= kv, None, None, 2, 3, device="cpu")
    tensor([[[[ True, False, False],
              [ True,  True, False]]]])
    """
    sizes = (1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN)
    if _is_score_mod(mod_fn):
        zeros = jtensor.zeros(sizes, device=device)
        return ~jtensor.isneginf(over_all(mod_fn, sizes, device, zeros))
    return over_all(mod_fn, sizes, device)


def _both(size):
    first, second = (size, size) if isinstance(size, int) else size
    return first, second


def _listed(dense):
    """A table of blocks as (how many there are in a row, which, first those that are there)."""
    dense = dense.to(jtensor.int32)
    return dense.sum(-1).to(jtensor.int32), dense.argsort(dim=-1, descending=True, stable=True).to(jtensor.int32).contiguous()


def _table(counts, indices):
    """The opposite of `_listed`."""
    there = (jtensor.arange(indices.shape[-1], device=counts.device) < counts[..., None]).expand(indices.shape)
    return jtensor.zeros_like(indices, dtype=jtensor.int32).scatter(-1, indices.to(jtensor.int64), there.to(jtensor.int32))


def create_block_mask(mask_mod, B, H, Q_LEN, KV_LEN, device=None, BLOCK_SIZE=SIZE, _compile=False, separate_full_blocks=True,
                      compute_dq_write_order=False, dq_kv_order=True):
    """The `BlockMask` of a mask function.

    ``mask_mod(b, h, q, kv)``: whether a score counts; ``B``, ``H``: how many batches and heads it tells apart, None where it tells none;
    ``BLOCK_SIZE``: one for both directions, or (of queries, of keys). ``separate_full_blocks``: whether blocks that count as a whole are
    listed by themselves. What is left steers kernels that are not here.

    >>> from jtensor.nn.attention.flex_attention import create_block_mask
    >>> create_block_mask(lambda b, h, q, kv: q >= kv, None, None, 300, 260, device="cpu").kv_num_blocks
    tensor([[[1, 1, 3]]], dtype=torch.int32)
    """
    rows, columns = _both(BLOCK_SIZE)
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device).to(jtensor.bool)
    mask = jtensor.nn.functional.pad(mask, (0, -KV_LEN % columns, 0, -Q_LEN % rows))
    b, h, q, kv = mask.shape
    counted = mask.view(b, h, q // rows, rows, kv // columns, columns).sum((3, 5))
    full = counted == rows * columns
    some = (counted > 0) & ~full if separate_full_blocks else counted > 0
    return BlockMask.from_kv_blocks(*_listed(some), *(_listed(full) if separate_full_blocks else (None, None)), BLOCK_SIZE=(rows, columns),
                                    mask_mod=mask_mod, seq_lengths=(Q_LEN, KV_LEN))


_TENSORS = ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices", "q_num_blocks", "q_indices", "full_q_num_blocks",
            "full_q_indices")


class BlockMask:
    """A mask of attention with lists of the blocks that it leaves something of; see `create_block_mask`, `BlockMask.from_kv_blocks`.

    ``kv_num_blocks``, ``kv_indices``: how many blocks of keys there are for each block of queries, and which come first; ``full_...``:
    those that count as a whole; ``q_...``: the same by keys. ``mask_mod``: the function, which says what counts.
    """

    __module__ = "torch.nn.attention.flex_attention"

    def __init__(self, seq_lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, q_num_blocks, q_indices,
                 full_q_num_blocks, full_q_indices, BLOCK_SIZE=(SIZE, SIZE), mask_mod=noop_mask, *, dq_write_order=None,
                 dq_write_order_full=None, dq_kv_order=None, dq_kv_order_spt=None):
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        for one, other in (("full_kv_num_blocks", "full_kv_indices"), ("full_q_num_blocks", "full_q_indices")):
            if (locals()[one] is None) != (locals()[other] is None):
                raise AssertionError(f"{one} and {other} must be both provided or omitted")
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = seq_lengths, BLOCK_SIZE, mask_mod
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices
        self.dq_write_order, self.dq_write_order_full, self.dq_kv_order = dq_write_order, dq_write_order_full, dq_kv_order
        self.dq_kv_order_spt = dq_kv_order_spt

    @classmethod
    def from_kv_blocks(cls, kv_num_blocks, kv_indices, full_kv_num_blocks=None, full_kv_indices=None, BLOCK_SIZE=SIZE, mask_mod=None,
                       seq_lengths=None, compute_q_blocks=True, *, dq_write_order=None, dq_write_order_full=None, dq_kv_order=None):
        """The mask of lists of blocks of keys; those by queries follow. ``seq_lengths``: as many as the blocks have room for by default.

        RuntimeError for lists without a dimension for blocks, AssertionError for half of the lists of full ones.
        """
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise AssertionError("full_kv_num_blocks and full_kv_indices must be both provided or omitted")
        by_queries = [None] * 4
        if compute_q_blocks:
            by_queries[:2] = _listed(_table(kv_num_blocks, kv_indices).transpose(-2, -1))
            if full_kv_num_blocks is not None:
                by_queries[2:] = _listed(_table(full_kv_num_blocks, full_kv_indices).transpose(-2, -1))
        rows, columns = _both(BLOCK_SIZE)
        if seq_lengths is None:
            seq_lengths = kv_indices.shape[-2] * rows, kv_indices.shape[-1] * columns
        return cls(seq_lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, *by_queries, BLOCK_SIZE=(rows, columns),
                   mask_mod=noop_mask if mask_mod is None else mask_mod, dq_write_order=dq_write_order,
                   dq_write_order_full=dq_write_order_full, dq_kv_order=dq_kv_order)

    # -- what it is ---------------------------------------------------------------------------------------------------

    @property
    def shape(self):
        """(batches, heads, queries, keys)."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self):
        """How many scores there are."""
        count = 1
        for size in self.shape:
            count *= size
        return count

    def sparsity(self):
        """The share of scores that are in no block, in percent; negative where the last blocks reach beyond the sequences."""
        blocks = self.kv_num_blocks.sum().item() + (0 if self.full_kv_num_blocks is None else self.full_kv_num_blocks.sum().item())
        return 100 * (1 - blocks * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / self.numel())

    def to_dense(self):
        """A table that has a 1 for each block of which something counts, as int32."""
        some = _table(self.kv_num_blocks, self.kv_indices)
        return some if self.full_kv_num_blocks is None else some | _table(self.full_kv_num_blocks, self.full_kv_indices)

    def as_tuple(self, flatten=True):
        """All that it is made of; ``flatten``: lengths and sizes one by one."""
        lengths, sizes = (self.seq_lengths, self.BLOCK_SIZE) if flatten else ((self.seq_lengths,), (self.BLOCK_SIZE,))
        return (*lengths, *[getattr(self, name) for name in _TENSORS], self.dq_write_order, self.dq_write_order_full, self.dq_kv_order,
                self.dq_kv_order_spt, *sizes, self.mask_mod)

    # -- others like it -----------------------------------------------------------------------------------------------

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        index = tuple(slice(i, i + 1 or None) if isinstance(i, int) else i for i in (*index, slice(None), slice(None))[:3])
        taken = [None if (t := getattr(self, name)) is None else t[index] for name in _TENSORS[:4]]
        return BlockMask.from_kv_blocks(*taken, BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=_sliced_mask_mod_error, seq_lengths=self.seq_lengths,
                                        compute_q_blocks=self.q_indices is not None)

    def _adjust(self, new_q_len, new_kv_len):
        """The upper left corner, for sequences of other lengths."""
        rows, columns = -(-new_q_len // self.BLOCK_SIZE[0]), -(-new_kv_len // self.BLOCK_SIZE[1])
        lists = [self.kv_num_blocks, self.kv_indices], [self.full_kv_num_blocks, self.full_kv_indices]
        cut = [part for one in lists for part in ((None, None) if one[0] is None else _listed(_table(*one)[..., :rows, :columns]))]
        return BlockMask.from_kv_blocks(*cut, BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=self.mask_mod, seq_lengths=(new_q_len, new_kv_len))

    def to(self, device):
        """The same with its lists on a device."""
        moved = [None if (t := getattr(self, name)) is None else t.to(device) for name in _TENSORS]
        return BlockMask(self.seq_lengths, *moved, BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=self.mask_mod)

    # -- its text -----------------------------------------------------------------------------------------------------

    def to_string(self, grid_size=(20, 20), limit=4):
        """A picture of each of the first ``limit`` batches and heads: cells are full where all blocks are there, grey where some are."""
        dense, pictures = self.to_dense(), []
        grid = (grid_size, grid_size) if isinstance(grid_size, int) else grid_size
        for at, place in enumerate(itertools.product(*map(range, dense.shape[:-2]))):
            if at == limit:
                pictures += ["...", "To print out more, set BlockMask.to_string(limit=N)",
                             "You can also index (BlockMask[batch, head]) to choose a specific batch or head"]
                break
            pictures.append(_picture(place, dense[place].tolist(), *grid))
        return "\n".join(pictures)

    def __str__(self):
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{self.to_string().strip()}\n)"

    def __repr__(self):
        parts = [f"    {name}={None if (t := getattr(self, name)) is None else t.shape}," for name in _TENSORS]
        return "\n".join(["BlockMask(", *parts, f"    BLOCK_SIZE={self.BLOCK_SIZE},", f"    shape={self.shape},",
                          f"    sparsity={self.sparsity():.2f}%,",
                          f"    mask_mod={getattr(self.mask_mod, '__name__', self.mask_mod)}", ")"])


def _picture(place, table, most_rows, most_columns):
    rows, columns = len(table), len(table[0]) if table else 0
    down, across = max(1, -(-rows // most_rows)), max(1, -(-columns // most_columns))
    lines = [str(place)]
    for top in range(0, rows, down):
        line = ""
        for left in range(0, columns, across):
            cells = [cell for row in table[top:top + down] for cell in row[left:left + across]]
            line += ("██" if all(cells) else "░░") if any(cells) else "  "
        lines.append(line)
    return "\n".join(lines) + "\n"


def _joined(mask_mods, join):
    if not all(callable(mod) for mod in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")

    def mask(b, h, q, kv):
        result = b.new_full((), join == "and", dtype=jtensor.bool)
        for mod in mask_mods:
            result = result & mod(b, h, q, kv) if join == "and" else result | mod(b, h, q, kv)
        return result
    mask.__name__ = f"{join}_mask"
    return mask


def and_masks(*mask_mods):
    """The mask function of what counts for all of several.

    >>> from jtensor.nn.attention.flex_attention import and_masks, create_mask
    >>> window = and_masks(lambda b, h, q, kv: q >= kv, lambda b, h, q, kv: q - kv < 2)
    >>> create_mask(window, None, None, 3, 3, device="cpu").int()[0, 0]
    tensor([[1, 0, 0],
            [1, 1, 0],
            [0, 1, 1]], dtype=torch.int32)
    """
    return _joined(mask_mods, "and")


def or_masks(*mask_mods):
    """The mask function of what counts for at least one of several.

    >>> from jtensor.nn.attention.flex_attention import create_mask, or_masks
    >>> create_mask(or_masks(lambda b, h, q, kv: q == kv, lambda b, h, q, kv: kv == 0), None, None, 3, 3, device="cpu").int()[0, 0]
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 0, 1]], dtype=torch.int32)
    """
    return _joined(mask_mods, "or")
