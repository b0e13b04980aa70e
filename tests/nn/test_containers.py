"""Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict as Python containers."""
from .both import raised, same


def test_sequential():
    def program(torch):
        nn = torch.nn
        s = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
        t = s + nn.Sequential(nn.ELU())
        s.insert(1, nn.Identity()).append(nn.GELU())
        del t[1]
        answers = [repr(s), repr(t), repr(s[1:3]), repr(s[-1]), repr(s * 2), len(s), repr(s.pop(0)), list(s._modules)]
        s += t
        s[0] = nn.SiLU()
        answers += [repr(s), [n for n, _ in s.named_modules()]]
        return answers + [raised(f) for f in (lambda: s[9], lambda: s + [1], lambda: s * 0, lambda: s * "a",
                                              lambda: s.insert(99, nn.ReLU()), lambda: nn.Sequential(3))]

    same(program)


def test_module_list_and_dict():
    def program(torch):
        nn = torch.nn
        m = nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1), nn.ReLU()])
        m.insert(1, nn.Tanh())
        m.extend([nn.ReLU()])
        m += [nn.ReLU()]
        del m[0]
        d = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})
        d.update([["c", nn.ELU()]])
        d.update({"a": nn.GELU()})
        answers = [repr(m), repr(m[1:]), repr(m + m), len(m), repr(d), list(d), "a" in d, repr(d.pop("b")), [repr(v) for v in d.values()]]
        return answers + [raised(f) for f in (lambda: m[9], lambda: nn.ModuleList(3), lambda: d.update(3), lambda: d.update([[1, 2, 3]]),
                                              lambda: d["x"], lambda: m(1), lambda: d.update([3]))]

    same(program)


def test_parameter_list_and_dict():
    def program(torch):
        nn = torch.nn
        pl = nn.ParameterList([torch.ones(2), nn.Parameter(torch.zeros(1, 3)), "text"])
        pl.append(torch.ones(()))
        pd = nn.ParameterDict({"b": torch.ones(2), "a": torch.zeros(1)})
        pd["c"] = 3
        other = pd | nn.ParameterDict({"d": torch.ones(1)})
        answers = [repr(pl), len(pl), [n for n, _ in pl.named_parameters()], repr(pl[1:]), repr(pd), list(pd), list(other),
                   pd.get("x"), pd.setdefault("c", 1), pd.popitem()[0], "a" in pd, list(pd.state_dict()), list(reversed(pd))]
        return answers + [raised(f) for f in (lambda: pl[9], lambda: pl(1), lambda: pd(1), lambda: pd[3], lambda: pl.extend(3),
                                              lambda: pd.update(3), lambda: pd.update([3]))]

    same(program)
