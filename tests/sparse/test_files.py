"""Sparse tensors in files and copies: what one library has saved the other loads."""
import copy
import io
import pickle

import jtensor


def test_files_are_pytorchs(tmp_path):
    import torch
    for ours, theirs in ((jtensor, torch), (torch, jtensor)):
        made = ours.sparse_coo_tensor([[1, 0, 1], [2, 2, 0]], [3., 4., 5.], (2, 3), check_invariants=False)
        saved = {"u": made, "c": made.coalesce(), "m": ours.nn.Parameter(made)}
        file = io.BytesIO()
        ours.save(saved, file)
        file.seek(0)
        back = theirs.load(file)
        assert str(back) == str(saved).replace("jtensor", "torch")
        assert back["c"].is_coalesced() and not back["u"].is_coalesced()


def test_pickles_and_copies():
    leaf = jtensor.sparse_coo_tensor([[1, 0], [2, 2]], [3., 4.], (2, 3), check_invariants=False, requires_grad=True)
    back = pickle.loads(pickle.dumps(leaf))
    assert str(back) == str(leaf.detach()) and not back.requires_grad                 # as PyTorch's
    other = copy.deepcopy(leaf)
    other._values().mul_(2)
    assert other.requires_grad and leaf._values().tolist() == [3., 4.]
    assert copy.copy(leaf)._values().data_ptr() == leaf._values().data_ptr()


def test_a_module_keeps_a_sparse_buffer():
    module = jtensor.nn.Linear(2, 2)
    module.register_buffer("adjacency", jtensor.eye(3).to_sparse())
    module.double()
    assert module.adjacency.dtype is jtensor.float64
    assert module.state_dict()["adjacency"].layout is jtensor.sparse_coo


def test_modes_and_classes_are_asked_first():
    from jtensor.overrides import TorchFunctionMode, has_torch_function

    class Names(TorchFunctionMode):
        seen = ()

        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.seen += ((func.__name__, types),)
            return func(*args, **(kwargs or {}))
    x = jtensor.eye(2).to_sparse()
    with Names() as names:
        y = x * 2
    assert y.to_dense().tolist() == [[2., 0.], [0., 2.]]
    assert ("mul", ()) in names.seen and not has_torch_function((x,))
