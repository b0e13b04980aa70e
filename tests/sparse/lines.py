"""Lines about sparse tensors under PyTorch and jtensor, on these: ``s`` (uncoalesced, without duplicates), ``u`` (with duplicates, of
values ``v`` that require a gradient), ``c`` (the same, coalesced), the leaves ``l`` and ``k`` (coalesced), the dense ``d`` and ``e``."""
import re

from ..parity.lines import answer, listed

GIVEN = (
    "F, nn = torch.nn.functional, torch.nn; i = torch.tensor([[1, 0, 1, 1], [2, 2, 0, 2]]); v = torch.tensor([3., 4., 5., -7.]); "
    "s = torch.sparse_coo_tensor([[0, 1, 1], [2, 2, 0]], [3., 4., 5.], (2, 3)); v.requires_grad_(); "
    "u = torch.sparse_coo_tensor(i, v, (2, 3)); c = u.coalesce(); l = u.detach().requires_grad_(); k = c.detach().requires_grad_(); "
    "d = torch.arange(6.).reshape(2, 3).requires_grad_(); e = torch.arange(6.).reshape(3, 2).requires_grad_(); ")
# PyTorch says where it warns, lists what else there is, and makes compressed tensors on the way of a product.
_SOURCE = re.compile(r" ?\(Triggered internally at .*?\)| This could be because .*", re.DOTALL)
_ONCE = ("Sparse CSR tensor support is in beta state", "The PyTorch API of")


def needed(line, given):
    """The statements of ``given`` that a line needs: each makes the names before its first ``=`` or calls a method of one."""
    kept, words = [], set(re.findall(r"\w+", line))
    for statement in reversed([part.strip() for part in given.split(";") if part.strip()]):
        if words & set(re.findall(r"\w+", statement.partition("=")[0].partition(".")[0])):
            kept.insert(0, statement)
            words |= set(re.findall(r"\w+", statement))
    return "".join([statement + "; " for statement in kept])


def check(line, given=GIVEN):
    """Asserts that a line comes out as under PyTorch: text or the error's first sentences, and warnings."""
    outcomes, given = [], needed(line, given)
    for name in ("torch", "jtensor"):
        text, warned = answer(name, given + line)
        warned = [(kind, _SOURCE.sub("", said).strip()) for kind, said in warned]
        outcomes.append((_SOURCE.sub("", text), [one for one in warned if not one[1].startswith(_ONCE)]))
    assert outcomes[1] == outcomes[0]


__all__ = ["check", "listed"]
