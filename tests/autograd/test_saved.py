"""Hooks of saved tensors."""
import sys
import threading

import jtensor as torch
from jtensor.autograd import saved


def test_threads_do_not_take_each_others_hooks_away():
    before, failed, packed = sys.getswitchinterval(), [], {}
    all_there = threading.Barrier(6)                          # an identity is given anew once its thread has ended

    def work(name):
        x = torch.ones(2, requires_grad=True)
        try:
            all_there.wait(60)
            for _ in range(300):
                with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.setdefault(name, threading.get_ident()) and t, lambda t: t):
                    x * x
        except BaseException as error:
            failed.append(error)
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not failed and not saved._hooks and len(set(packed.values())) == len(packed) == 6
