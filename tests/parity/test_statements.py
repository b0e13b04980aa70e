"""Single statements whose outcome under PyTorch is not obvious: what is refused, in which order, and how the result lies in memory.

Each line runs under both libraries in a scope of small tensors; compared are the error (type and first line), the result ``r``, and the
versions and values of the tensors in the scope.
"""
import enum
import warnings

import numpy as np
import pytest

import jtensor

torch = pytest.importorskip("torch")



class Label(enum.IntEnum):
    THREE = 3


class Part(float):
    pass


STATEMENTS = {
    "indices": """
        n0[n0>0]=n0
        n3[n3>0]=n3
        n3[n0>0]=n3
        x[x>5]=x
        z[z>0]=z.view(1)
        z[z>0]=torch.tensor(2)
        z[torch.tensor(False)]=torch.tensor(1, dtype=torch.float64)
        x.index_put_((x>0,), torch.tensor(1))
        x.index_put_((x>0,), v[:1].long())
        x.index_put_((x>0,), x[:1])
        x.index_put_((), v)
        x.index_put_((torch.tensor([0]),), 1)
        xg.index_put_((v>0,), x)
        xg.index_put_((torch.tensor([9]),), x)
        r=x.index_put((x>0,), x[0].long())
        w=xg*1; s=torch.tensor([2.], requires_grad=True); w.index_put_((w>0,), s); w.sum().backward(); r=s.grad
        w=(m*xg)*1; s=torch.tensor([[1.,2.,3.]], requires_grad=True); w[w[:,0]>=0]=s; w.sum().backward(); r=s.grad
        xg[torch.tensor([0.5])]=1
        xg[torch.tensor([1,0], dtype=torch.int16)]=v
        e[torch.tensor([0.5])]=1
        r=x[[1.5]]
        r=x[[1.5, 2]]
        r=x[np.array([1.5])]
        r=x[[True,False,True]]
        r=x[np.bool_(True)]
        r=x[np.float32(1)]
        x[np.array([0.5])]=v
    """,
    "masks of no dimension": """
        y=xg[-1]; y[y>0]=y.view(())
        z[z>0]=z
        z[z>0]=z.view(1)
        x[torch.tensor(True)]=x
        x[torch.tensor(False)]=x
        x[torch.tensor(True)]=x[:1]
        n0[torch.tensor(True)]=n0
        x[torch.tensor(True)]=5
        x[torch.tensor(True)]=v[:3]
    """,
    "values written": """
        x[7]='a'
        x[7]=None
        x[0]=np.float32(2)
        x[0]=np.int64(2)
        x[0]=np.array(2)
        x[x>0]=np.float16(2)
        x.long()[0]=float('nan')
        x.long()[0:2]=1e30
        x[0]=1e300
        x.half()[0:2]=70000
        x[:2]=torch.complex(x,x)
        x[0]=torch.complex(x,x)
        x[0]=x.bool()
        x[0]=v
        x.copy_(np.float32(2))
        x.copy_(np.array([1,2,3]))
    """,
    "memory that overlaps": """
        e.copy_(e)
        e[:]=e
        e[0:2]=e[1:]
        e[0:]=v[:3]
        e.add_(e)
        m[:]=m[0]
        m[0:1]=m[0]
        m[0]=m
        m[0].copy_(m)
        m.copy_(m.t())
        m.add_(m.t())
        v.view(2,3)[:]=v.view(3,2).t()
        x.data=e; x.data[0:]=v[:3]
    """,
    "numbers of classes of their own": """
        r=v+three
        r=three+v
        r=v*three
        r=three-v
        r=v**three
        r=three**v
        r=v/three
        r=three/(v+1)
        r=v//three
        r=three//(v+1)
        r=v%three
        r=v==three
        r=three==v
        r=v!=three
        r=v<three
        v.add_(three)
        v+=three
        r=m.long()&three
        r=m.long()<<three
        r=v+half
        r=half/v
        r=v==half
        r=m.long()+half
        r=torch.tensor(three)
        r=torch.tensor([three, 1])
        r=torch.tensor(half)
        r=torch.as_tensor(three)
        r=torch.full((2,), three)
        r=torch.full((2,), half)
        r=v.new_full((2,), three)
        r=v[three]
        r=torch.zeros(three)
        r=three in v
        r=v.clamp(max=three)
        r=torch.where(v>1, v, three)
        r=torch.full((2,), np.bool_(True))
        r=torch.tensor(__import__("decimal").Decimal("1.5"))
        r=torch.tensor([1, __import__("fractions").Fraction(1, 2)])
        r=torch.tensor(__import__("decimal").Decimal("1.5"), dtype=torch.float64)
        r=torch.tensor([__import__("decimal").Decimal("1.5")], dtype=torch.int64)
    """,
    "arrays": """
        r=np.array(x.expand(2,3))
        r=np.array(m.t())
        r=np.array(m.t(), dtype=np.float64)
        r=np.array(torch.ones(2,3,4).permute(1,2,0))
        r=torch.as_tensor(np.array(m.t()), dtype=torch.float64)
        r=np.array(n3)
        r=n3.numpy()
        r=n3.t().numpy()
        r=m[:,:0].t().numpy()
    """,
    "inference tensors": """
        with torch.inference_mode(): i=torch.ones(3)\\ni.add_(m)
        with torch.inference_mode(): r=torch.ones(3)\\nr.add_(1)
        with torch.inference_mode(): r=torch.ones(3)\\nr[0]=5
        with torch.inference_mode(): r=torch.ones(3)\\ntorch.add(x, 1, out=r)
    """,
    "strides": """
        r=torch.zeros(2,3).nonzero()
        r=z.nonzero()
        r=torch.zeros(2,3).nonzero(as_tuple=True)[1]
        r=m.nonzero()
        r=reversed(m)
        r=m.t().masked_fill(m.t()>0, 1)
        r=m.t().masked_fill(m.t()>0, z)
        r=x.masked_fill(torch.ones(3,2).t()>0, 1)
        r=torch.ones(3,2).t().masked_scatter(m>0, v)
        r=m.t().index_fill(0, torch.tensor([0]), 2.)
        r=torch.ones(3,2).t().where(m>0, m)
        r=m.where(torch.ones(3,2).t()>0, 1.)
        r=2.5**m.t()
        r=torch.pow(z, m.t())
        r=m.t().angle()
        r=torch.complex(m,m).t().angle()
        r=m.t().renorm(2,0,1.)
    """,
    "matrices column by column": """
        r=torch.linalg.inv(torch.eye(2) * 2)
        r=torch.linalg.cholesky(torch.eye(3)[None].repeat(2, 1, 1)).stride()
        r=torch.linalg.qr(torch.eye(3)[:, :2])[1]
        r=torch.linalg.svd(m)[0].stride(), torch.linalg.svd(m)[1].stride(), torch.linalg.svd(m)[2].stride()
        r=[t.stride() for t in torch.linalg.eigh(torch.eye(3)[None].repeat(2, 1, 1))]
        r=torch.linalg.solve(torch.eye(3), torch.ones(3, 2))
        r=torch.linalg.solve(torch.eye(3)[None].repeat(2, 1, 1), torch.ones(2, 3))
        a=torch.linalg.inv(torch.eye(2)); b=a.t(); b[0]=7; r=a
        a=torch.eye(2).requires_grad_(); torch.linalg.inv(a).sum().backward(); r=a.grad
    """,
    "a complex number that is not finite, as a second term": """
        r=torch.tensor(-2+1j)-torch.tensor(float('nan'))
        r=torch.tensor(-2+1j)+float('inf')
        r=torch.tensor(float('nan'))-torch.tensor(-2+1j)
        r=torch.rsub(torch.tensor(complex('nan')), 1)
        r=torch.complex(m, m)-torch.complex(m, m)*1j
        r=torch.tensor(0j)+torch.tensor(complex(-0.0, -0.0))
    """,
    "masks": """
        x.masked_fill_(v>0, 1)
        x.masked_fill(v>0, 1)
        x.masked_fill_(m>0, 1)
        x.masked_fill_(x>0, torch.tensor(1j))
        x.masked_fill_(x>0, np.float32(2))
        x.masked_fill_(x>0, x[0])
        x.masked_fill_(x>0, x[:1])
        r=x>0; r[:2].masked_fill_(r[1:], False)
        r=x>0; r.masked_fill_(r, False)
        xg.masked_fill_(v>0, 1)
        x.masked_scatter_(v>0, v)
        x.masked_scatter_(m>0, v)
    """,
    "history is asked first": """
        xg.fill_(x)
        xg.masked_fill_(x>0, 1j)
        xg.masked_scatter_(x>0, x[:1])
        xg.index_fill_(5, torch.tensor([0]), 1)
        xg.index_add_(0, torch.tensor([9]), x[:1])
        xg.index_copy_(0, torch.tensor([9]), x[:1])
        xg.scatter_(0, torch.tensor([9]), 1.)
        xg.scatter_add_(0, torch.tensor([9]), x.long())
        xg.put_(torch.tensor([9]), x[:1])
        xg.fill_diagonal_(1)
        xg[:1].expand(3)[:]=1
    """,
    "then memory": """
        x.index_add_(0, torch.tensor([5]), x[:1])
        x.index_copy_(0, torch.tensor([5]), x[:1])
        e.index_copy_(0, torch.tensor([0]), x.long())
        x.put_(torch.tensor([9]), x[:1])
        e.masked_scatter_(x>0, x.long())
        e.scatter_add_(0, torch.tensor([0,1,2]), e)
        e.scatter_(0, torch.tensor([9]), 1.)
        r=torch.tensor([0,1,2]); r.index_fill_(5, r[:1], 1)
    """,
    "then shapes and numbers": """
        x.index_add_(0, torch.tensor([5]), v[:1])
        x.index_add_(0, torch.tensor([0]), z)
        x.index_add_(0, torch.tensor([[0]]), z)
        x.scatter_(0, torch.tensor([0]), 1j)
        x.scatter_(0, torch.tensor([0.]), x.long())
        x[:2].copy_(m)
        x.copy_(m)
        n0.copy_(m)
        z.bitwise_and_(x.bool())
        x.index_put_((torch.tensor([0]), torch.tensor([0])), x)
    """,
    "memory of losses": """
        r=torch.nn.functional.mse_loss(m, x)
        r=torch.nn.functional.mse_loss(m, x, reduction="sum").view(1)
        r=torch.nn.functional.mse_loss(x, x).add_(1)
        r=torch.nn.functional.mse_loss(x, x).clone()
        r=torch.nn.functional.smooth_l1_loss(m, m, reduction="none")
        r=torch.nn.functional.l1_loss(m, m)
        torch.nn.functional.mse_loss(torch.complex(x, x), x)
    """,
    "out=": """
        r=torch.add(x, 1, out=n0)
        r=torch.add(m, 1, out=x)
        torch.exp(x, out=x[:2])
        torch.add(x, 1, out=e)
        torch.exp(x[:2], out=e)
        torch.add(torch.complex(x, x), 1, out=e)
        r=torch.sum(m, 0, out=z)
        torch.where(x>0, x, x, out=xg)
        torch.matmul(x, x, out=xg[:1].expand(3))
        torch.add(m[0:1], 1, out=m[1:])
        torch.mul(x, m.t(), out=x)
        torch.maximum(n0, x, out=n0)
        r=torch.mul(x, m.t(), out=x[:])
    """,
    "all elements in one place": """
        e[e>0]=x; r=e
        e.index_put_((torch.tensor([0,1,2]),), x); r=e
        e.fill_(3); r=e
    """,
    "memory taken over, and grown": """
        v.set_(x, 0, (6,)).zero_(); r=x
        v.set_(x.untyped_storage(), 1, (3,), (2,)); r=v.fill_(2)[:1]
        v.set_(m[1:], 1, (2,)); r=v
        v.set_(x, 0, (2,), ()); r=v
        v.set_(m.t(), 0, (2,))
        r=torch.ones(4)[::2].set_(v, 1, (2,))
        r=x.view(torch.int32).set_(v, 1, (2,))
        x.view(torch.int32).set_(v)
        v.set_(x, 9, (0,), (1,)); r=v
        v.set_(x, -1, (2,), (1,))
        v.set_(x, 0, (2,), (-1,))
        v.set_(x, 0, (2, -1))
        v.set_(x, 0, (2,), (1, 1))
        v.set_(torch.from_numpy(np.zeros(2, np.float32)), 0, (6,))
        a=x.numpy(); v.set_(x, 0, (6,))
        a=x.numpy(); del a; x.resize_(6)
        a=x.numpy(); r=x.resize_(2)
        x.resize_(2, -1)
        r=torch.complex(z, z).real; r.resize_(3); r.fill_(2)
        r=torch.zeros(2).view(torch.complex64); r.resize_(3).fill_(1j)
        r=torch.zeros(4, dtype=torch.complex64).view(torch.float32).set_(x, 0, (9,)).zero_()
        r=torch.complex(z, z); r.imag.copy_(r.real)
        r=torch.complex(x, x); r.imag.copy_(r)
        z.index_select(0, torch.tensor([1, 0]))
        r=z.index_select(0, torch.tensor([0]))
        r=torch.nn.functional.mse_loss(x, x.exp()); r.resize_(2)[0]=0; r=r[:1]
    """,
    "parts written": """
        r=torch.complex(x, x); r.real=v[:3]; r.imag=2
        r=torch.complex(x, x); r.imag=x.double()
        x.real=3; r=x
        x.real=v
        x.real=[1, 2]
        x.imag=1
        x.real=1j
        r=torch.complex(x, x).conj(); r.imag=v[:3]; r=r.resolve_conj()
        r=torch.complex(x, x); r.real=xg*2; r.abs().sum().backward(); r=xg.grad
        xg.real=1
        m.index_select(1, torch.tensor([5]))
        m.index_select(-2, torch.tensor([5]))
        torch.full((2,), 'a')
        torch.full((2,), None)
        torch.linalg.inv(torch.zeros(2, 2))
    """,
    "lists of numbers of several types": """
        r=torch.tensor([np.ones(2), np.ones(2)])
        r=torch.tensor([np.ones(2, np.int8), np.ones(2, np.int16)])
        r=torch.tensor([[1, 2], np.ones(2, np.float32)])
        r=torch.tensor([np.ones(2), np.ones(2)], dtype=torch.int32)
        r=torch.tensor([np.ones((2, 2)), np.ones((2, 2))])
        r=torch.tensor([np.zeros(0, np.int16)])
        r=torch.tensor([np.zeros((0, 2))])
        r=torch.tensor([np.ones(2), np.ones(3)])
        r=torch.tensor([np.int8(1), 2.5])
        r=torch.tensor([True, np.int16(3)])
        r=torch.tensor([np.float64(1), 2])
        r=torch.tensor([np.float16(1), 1.5])
        r=torch.tensor([np.int8(1), np.uint8(1)])
        r=torch.tensor([3, np.bool_(True)])
        r=torch.tensor([torch.tensor(1., dtype=torch.float64), 2])
        r=torch.tensor([torch.tensor([1.]), 2])
        r=torch.tensor([torch.ones(2)])
        r=torch.tensor([np.array(1.)])
        r=torch.tensor([1, np.array(1.)])
        r=torch.tensor([np.float32(1.5)], dtype=torch.int64)
        r=torch.tensor([np.float64(1.5)], dtype=torch.int64)
        r=torch.tensor([torch.tensor(1.5)], dtype=torch.int64)
        r=torch.tensor([np.complex64(1j)], dtype=torch.float32)
        r=torch.tensor([1j], dtype=torch.int64)
    """,
    "numbers of NumPy's": """
        r=x.pow(np.int64(2))
        r=torch.pow(np.float32(2), v)
        x.pow_(np.int8(2))
        r=x.fmod(np.int64(2))
        r=v.remainder(np.float32(2))
        r=x.lerp(v[:3], np.float32(0.5))
        r=x.copysign(np.int64(-1))
        r=x.xlogy(np.int64(2))
        r=x.float_power(np.int64(2))
        r=x.index_fill(0, torch.tensor([0]), np.int64(2))
        r=x.scatter(0, torch.tensor([0]), np.int64(2))
        r=v.chunk(np.int64(2))[1]
        torch.cat([x, np.ones(2)])
        torch.from_numpy(np.float32(1))
    """,
    "sizes of odd types": """
        torch.zeros(np.array([2, 3]))
        r=torch.zeros(np.array(3))
        torch.ones([[1]])
        torch.ones((True, 2))
        torch.ones(True)
        r=torch.ones(2, True)
        torch.empty(1, "a")
        torch.empty(2.5)
        torch.from_numpy(np.ones(2).astype(">f8"))
    """,
    "strides of copied arrays": """
        r=torch.tensor(np.zeros((0, 2)))
        r=torch.tensor(np.zeros((2, 0)))
        r=torch.tensor(np.zeros((1, 3)).T)
        r=torch.tensor(np.zeros((2, 3)).T)
        r=torch.tensor(np.zeros((4, 6)).T[::2], dtype=torch.int32)
        r=torch.tensor(np.arange(4)[1:2, None])
    """,
    "strides of negated and of empty operands": """
        r=torch.complex(x, x).view(1, 3).t_().conj().imag; r=r*2
        r=torch.complex(x, x).view(1, 3).t_().conj().imag; r=r*r
        r=torch.complex(x, x).view(1, 3).t_().conj().imag; r=x[:, None]+r
        r=torch.complex(x, x).view(1, 3).t_().conj().imag; r=torch.where(r>0, r, 0)
        r=torch.complex(x, x).view(1, 3).t_().conj().imag.angle()
        r=torch.zeros(1).expand(2, 0).roll(1, -1)
        r=torch.zeros(1).expand(2, 0).roll(1)
        r=torch.zeros(1).expand(0, 2).roll((1, 1), (0, 1))
    """,
    "strides of gradients through written views": """
        w=v.view(2, 3).t(); b=torch.ones(3, 2, requires_grad=True); w.mul_(b); r=torch.autograd.grad(v.sum(), b)[0]
        w=z.view(1)[::2]; b=torch.ones(1, requires_grad=True); w.add_(b); z.backward(); r=b.grad
    """,
    "complex numbers as booleans": """
        r=(torch.complex(z-1, z)).bool()
        r=x>9; r.copy_(torch.complex(x-1, x))
        r=x>9; r[0]=1j
        r=torch.tensor([1j, 0], dtype=torch.bool)
        r=torch.tensor(1j, dtype=torch.bool)
        r=torch.complex(x-1, x).int()
    """,
    "booleans under another type": """
        b=x>0; r=b.view(torch.uint8); r[0]=2; r=b.int()
        b=x>0; r=b.view(torch.uint8); r[0]=2; b[1]=False
        b=torch.tensor([[True, False], [True, True]]); w=b.t()[1:]; b.view(torch.int8).mul_(3); w.logical_not_(); r=b.view(torch.uint8)
        a=np.array([True, False]); b=torch.from_numpy(a); b.view(torch.uint8).add_(1); r=a.view(np.uint8)
        b=x>0; a=b.numpy(); b.view(torch.uint8)[1:]=4; r=a.view(np.uint8)
        b=x>0; a=b.view(torch.uint8).numpy(); a[0]=9; b&=True; r=b.view(torch.uint8)
        b=torch.tensor(True); b.view(torch.uint8).add_(4); r=torch.tensor([b.item(), bool(b)])
    """,
    "made in inference mode": """
        with torch.inference_mode(): xg.backward(gradient=xg)\\nr=torch.tensor(xg.grad.is_inference())
        w=(xg*3).sum()\\nwith torch.inference_mode(): w.backward()\\n(xg*2).sum().backward()
        with torch.inference_mode(): r=torch.from_numpy(np.ones(2))\\nr=torch.tensor(r.is_inference())
        import copy\\nwith torch.inference_mode(): r=copy.deepcopy(xg)\\nr=torch.tensor(r.is_inference())
        with torch.inference_mode(): r=torch.frombuffer(bytearray(4), dtype=torch.uint8)\\nr.add_(1)
    """,
    "geometry of inference tensors": """
        with torch.inference_mode(): r=torch.ones(3)\\nr.unsqueeze_(0)
        with torch.inference_mode(): r=torch.ones(3)\\nr.resize_(2)
        with torch.inference_mode(): r=torch.ones(3)\\nr.set_(m)
    """,
    "what an operator asks before memory": """
        e.sub_(True)
        e.clamp_()
        e.lerp_(x.long(), 0.5)
        e.cumsum_(5)
        e.bitwise_and_(1)
    """,
    "arguments of the wrong type": """
        x.mul(None)
        x.mul_('a')
        torch.mul(x, 'a')
        torch.mul(None, x)
        x.add(x, alpha='a')
        x.add(x, alpha=None)
        x.add_(np.array([1, 2, 3]))
        x.eq('a')
        x.lt_([1])
        torch.pow(x, 'a')
        torch.where(x>0, 'a', x)
        x.where(None, x)
        x.masked_fill_(None, 2)
        x.addcmul(x, 1)
        torch.sum('a')
        torch.cat([x, 1])
        x + 'a'
        r=x*np.array([1, 2, 3])
        r=x.add(np.float32(2))
    """,
    "no derivative": """
        torch.nn.functional.silu(torch.complex(x, x).requires_grad_())
        r=torch.nn.functional.silu(torch.complex(z, z))
        (xg//2).sum().backward()
        w=xg.clone(); w//=2; w.sum().backward()
        torch.heaviside(xg, x).sum().backward()
    """,
    "second gradients at a kink": """
        a=xg*0; g,=torch.autograd.grad(torch.nn.functional.elu(a).sum(), a, create_graph=True); r,=torch.autograd.grad(g.sum(), a)
        a=xg*0; g,=torch.autograd.grad(torch.celu(a).sum(), a, create_graph=True); r,=torch.autograd.grad(g.sum(), a)
        a=xg*0; g,=torch.autograd.grad(torch.selu_(a*1).sum(), a, create_graph=True); r,=torch.autograd.grad(g.sum(), a)
    """,
    "gradients of casts": """
        a=torch.ones(4,1,requires_grad=True); b=a.to(torch.float32,copy=True); p,r=torch.autograd.grad(b.sum(),[b,a]); assert p is r
        a=torch.ones(4,1,requires_grad=True); b=a.to(torch.float64); p,r=torch.autograd.grad(b.sum(),[b,a])
        a=torch.ones(4,1,requires_grad=True); b=a.to(torch.complex64); p,r=torch.autograd.grad(b.real.sum(),[b,a])
    """,
    "types without a kernel": """
        torch.nn.functional.leaky_relu(x.long())
        torch.nn.functional.elu_(x.long())
        torch.nn.functional.hardshrink(x.long())
        torch.nn.functional.glu(torch.ones(2, 2).long())
        torch.nn.functional.softmax(m.long(), 1)
        torch.nn.functional.log_softmax(m.long(), 0)
        torch.complex(x, x).max(0)
        torch.complex(x, x).argmax()
        torch.complex(x, x).round()
        torch.complex(x, x).unique()
        x.bool().argmax()
        x.bool().cumsum_(0)
        x.bool().round()
        x.bool().addcmul(x.bool(), x.bool())
        m.bool().trace()
        x.trace()
        ~x
        r=~x.long()
        x.repeat(-1)
    """,
    "slices by index, of other ranks and of nothing": """
        m.index_add_(0, torch.tensor([0,1]), z)
        m.index_add_(1, torch.tensor([0,1,2]), x)
        m.index_add_(0, torch.tensor([0,1]), torch.ones(2))
        m.index_add_(-2, torch.tensor([0,1]), torch.ones(2,3,1))
        z.index_add_(0, torch.tensor([0]), torch.ones(1))
        m.index_reduce_(0, torch.tensor([0,1]), z, 'prod')
        m.index_reduce_(0, torch.tensor([0,1]), torch.ones(2), 'amax')
        m.index_reduce_(0, torch.tensor([0,1]), x, 'mean')
        n3.index_fill_(0, torch.tensor([1]), 1)
        n3.index_fill_(1, torch.tensor([5]), 1)
        n0.index_fill_(0, torch.tensor([0]), 1)
        m[:0].index_fill_(0, torch.tensor([0]), 1)
        m.index_fill_(0, torch.tensor([5]), 1)
    """,
    "products of other ranks": """
        torch.baddbmm(m, m, m.view(1,2,3))
        torch.baddbmm(m, m.view(1,2,3), m)
        m.baddbmm_(torch.ones(1,2,3), torch.ones(1,3,2))
        torch.addbmm(m, x, m)
        torch.addbmm(m.view(1,2,3), m.view(1,2,3), m.view(1,3,2))
        m.addmm_(torch.ones(2,3), torch.ones(3,2))
        z.addmm_(m, m.t())
        z.addmv_(m, x)
        z.addmv(m, v)
        r=z.addmv(m, x)
        x.addmv_(m, torch.ones(3))
        m.addmv_(torch.ones(2,3), torch.ones(2,3))
        m.addr_(x, x)
        x.addr_(x, x)
        torch.mv(z, x)
    """,
    "words of refusals": """
        torch.arange(3, dtype=torch.complex64)
        m.long().renorm(2, 0, 1.)
        torch.nn.functional.threshold_(x.bool(), 0., 1.)
        torch.nn.functional.threshold(torch.complex(x, x), 0., 1.)
        torch.ones(2,0).index_reduce_(0, torch.tensor([0]), torch.ones(1,0), 'mean')
        torch.arange(3, dtype=torch.bool)
        torch.range(0, 3, dtype=torch.bool)
        torch.linspace(0, 1, 3, dtype=torch.bool)
        x.bool().clamp_(0)
        x.long().clamp_min_(0.5)
        x.long().clamp_(torch.tensor(0.5))
        torch.ones(2,2,2).t_()
        xg.scatter(0, torch.tensor([0]), 2, reduce='add').sum().backward()
        (xg*1).scatter_(0, torch.tensor([0]), 2, reduce='multiply').sum().backward()
        y=xg.bfloat16(); w=y*y; y.zero_(); w.sum().backward()
        torch.rsub(x, m[:,:2])
        torch.sort(torch.complex(x,x))
        torch.complex(x,x).topk(1)
        x.lerp(x.long(), 0.5)
        x.byte().lerp(x.byte(), x.long())
    """,
}


def outcome(library, statement):
    """What the statement does, as text."""
    scope = {"torch": library, "np": np, "x": library.ones(3), "e": library.ones(1).expand(3), "v": library.arange(6.),
             "xg": library.ones(3, requires_grad=True), "m": library.arange(6.).view(2, 3), "z": library.tensor(1.),
             "n0": library.ones(0), "n3": library.ones(0, 3), "three": Label.THREE, "half": Part(0.5)}
    before = {name: t._version for name, t in scope.items() if hasattr(t, "_version")}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(statement.replace("\\n", "\n"), scope)
        r = scope.get("r")
        seen = (r.tolist(), r.stride(), str(r.dtype).split(".")[-1], r.untyped_storage().nbytes()) if hasattr(r, "stride") else \
            (r.tolist(), r.strides, str(r.dtype)) if isinstance(r, np.ndarray) else r
    except Exception as error:
        seen = f"{type(error).__name__}: {error}".splitlines()[0], scope["r"].tolist() if "r" in scope else None
    return seen, {name: (scope[name].tolist(), scope[name]._version) for name in before if scope[name]._version != before[name]}


@pytest.mark.parametrize("group", STATEMENTS)
def test_statements_do_what_they_do_under_pytorch(group):
    wrong = {}
    for line in filter(None, map(str.strip, STATEMENTS[group].splitlines())):
        wanted, seen = outcome(torch, line), outcome(jtensor, line)
        assert "NameError" not in repr(wanted) and "SyntaxError" not in repr(wanted), line
        if repr(wanted) != repr(seen):
            wrong[line] = wanted, seen
    assert not wrong
