"""Chains of few operators on data that random programs rarely have: NaN, infinities, zeros of both signs, masks, equal and known numbers.

    python tests/trace/special_fuzz.py --programs 200 --seed 1
    python tests/trace/special_fuzz.py --only 17 --seed 1

A program is a tape of some thirty chains, each of which is drawn anew; some are differentiated. It is run op by op and fused, which must
give the same bits, and by PyTorch, which must give them too where a chain holds nothing but what IEEE 754 defines. Needs torch.
"""
import argparse
import random
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import torch

sys.path[:0] = [str(Path(__file__).parents[2])] if __name__ == "__main__" else []

import jtensor  # noqa: E402
from jtensor.trace import choosing, executor  # noqa: E402

NAN, INF = float("nan"), float("inf")
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 0.5, -0.75, 5.0, 1e-3, -1e4, 1e15, 7.0, -2.5, 1.5, 3.0, -0.3]
WHOLE = [0, 1, -1, 2, -2, 3, 7, -8, 31, 32, 33, 100, -100, 2**31 - 1, -(2**31), 64, 5, -5, 6, 12]
N = len(SPECIAL)
KNOWN = [0.0, 1.0, -1.0, -0.0, 2.0, 0.5, 3.0, INF, -INF, NAN]
INDEX = [3, 0, 0, 7, 19, 12, 5, 5, 1, 2]

# What operators take and give (floating-point numbers, truth values, integers, complex numbers), and how they are written; apart
# whether IEEE 754 says what comes of them.
EXACT = {
    "f f": (
        "-x; x.abs(); x.sign(); T.relu(x); x+0; 0+x; x-0; 0-x; x*1; x*0; x*-1; x/1; x/-1; x*2; x/2; x*0.5; 1/x; 0/x; x**2; x**1; x**0; "
        "x.square(); x.floor(); x.ceil(); x.round(); x.trunc(); x.clamp(min=0); x.clamp(-1,1); x.clamp(max=2); x.nan_to_num(); "
        "x.nan_to_num(0,1,-1); x.double().float(); x.bfloat16().float(); x.half().float(); x.flip(0); x[::2].repeat(2); "
        "x.sort().values; x+x; x-x; x*x; x/x; x.unsqueeze(1).sum(1); x.unsqueeze(0).amax(0); x.unsqueeze(1).mean(1); "
        "x.unsqueeze(1).prod(1); x.unsqueeze(0).cumsum(0)[0]; T.zeros_like(x)*x; T.ones_like(x)*x; T.zeros_like(x)+x; "
        "x-T.zeros_like(x); T.full_like(x,2)*x; x/T.ones_like(x); x.reciprocal(); T.cat([x[:5],x[5:]]); "
        "T.nn.functional.pad(x[2:],(2,0)); x[I]; T.where(x>0,x,0); T.where(x>0,x,-x); T.where(x!=x,0,x); T.where(x==0,0,x); (x>0)*x; "
        "(x>0).float()*x; x*(x!=0); x.masked_fill(x>1,-0.0); x.clone().index_fill_(0,I,0); T.zeros(N).scatter(0,J,x); "
        "T.zeros(N).scatter_add(0,J,x); T.zeros(N).index_add(0,J,x); x.roll(3); x.frac(); (x>0).float()-(x<0).float(); -(-x); 0-(0-x); "
        "x.unsqueeze(1).expand(N,3).amax(1); x.unsqueeze(0).max(0).values; x.outer(T.ones(2))[:,1]; T.max(x,-x); x.neg().abs(); "
        "T.heaviside(x,x); x.sgn(); x.reshape(4,5).t().reshape(5,4).t().reshape(-1); T.stack([x,x]).amin(0); T.stack([x,-x]).sum(0); "
        "T.diag(x).sum(1); x.clone().zero_(); x.clone().fill_(3); x.clone().mul_(0); x.where(x>0,x*0); T.nn.functional.hardtanh(x); "
        "T.nn.functional.leaky_relu(x,0.5); T.nn.functional.relu6(x); T.nn.functional.threshold(x,1,-0.0); "
        "T.nn.functional.hardshrink(x); T.nn.functional.softshrink(x)"),
    "ff f": (
        "x+y; x-y; x*y; x/y; T.maximum(x,y); T.minimum(x,y); T.fmax(x,y); T.fmin(x,y); T.copysign(x,y.nan_to_num()); T.fmod(x,y); "
        "T.remainder(x,y); T.where(x>y,x,y); T.where(x<y,x,y); T.where(x==y,x,y); x.clamp(min=y); x.clamp(max=y); x*y.sign(); "
        "x.sign()*y.sign(); x*(y>0); x*(y>0).float(); x*y.abs(); x/y.sign(); T.heaviside(x,y); (x*y)*0; x+y*0; x-y*1; (x+y)-y; "
        "(x*y)/y; (x/y)*y; (x-y)+y; x-(-y); -x*y; (-x)*(-y); (-x)/y; (-x)/(-y); x/(-y); T.where(x!=x,y,x); x.masked_fill(y!=y,0); "
        "T.cat([x,y])[5:25]; T.stack([x,y]).flip(0)[0]; T.stack([x,y]).max(0).values; x.clone().copy_(y); x.add(y,alpha=0); "
        "x.add(y,alpha=-1); T.maximum(T.minimum(x,y),y); T.minimum(T.maximum(x,y),x); x.index_copy(0,I2,y[:5]); "
        "x.clone().index_put_((I2,),y[:5]); T.nextafter(x,y).clamp(-9,9)*0"),
    "fb f": (
        "x*m; m*x; m.float()*x; x*m.float(); (1-m.float())*x; x+m; x-m.float(); x/m; T.where(m,x,0); T.where(m,x,-x); T.where(m,0,x); "
        "T.where(m,x,NAN); x.masked_fill(m,0); x.masked_fill(m,NAN); x*~m; T.where(m,x*2,x); m.double().float()*x; x*m.int(); "
        "x*m.int().float(); m.half()*x; T.where(m,x,x); x*m*m; m*(m*x); (m.float()*2-1)*x; m.float().neg()*x; m.float().sign()*x; "
        "m.float()[J]*x; x*m.flip(0); m.float().clamp(0,1)*x; T.maximum(m.float(),0*x); x*m.unsqueeze(1).any(1); m.float()/x; "
        "m.float().abs()*x; m.float().square()*x; T.where(m,1.0,0.0)*x; m.float().floor()*x; T.logical_not(m).float()*x; "
        "x.copysign(0.5-m.float()); m.bfloat16().float()*x; T.cat([m.float()[:3],m.float()[3:]])*x; m.long().clamp(0,1)*x; "
        "T.minimum(m.float(),m.float().flip(0))*x; (m.float()*m.flip(0).float())*x; T.stack([m,~m]).float().amax(0)*x; "
        "m.float().unsqueeze(1).sum(1)*x; m.float().unsqueeze(1).amax(1)*x; (m&m.flip(0)).float()*x; m.to(T.uint8)*x"),
    "ffb f": (
        "T.where(m,x,y); T.where(m,x,x+y); T.where(m,x*y,y); x.masked_fill(m,0)+y; x*m+y*~m; m*x+(1-m.float())*y; x.lerp(y,m.float()); "
        "x.addcmul(y,m.float()); T.where(m,x,y)*T.where(m,y,x); T.where(m,T.where(m,x,y),y); T.where(~m,x,y); "
        "T.where(m,x,y).where(m,x); x+m*y; x-m*y"),
    "f b": (
        "x!=x; x==x; x>0; x>=0; x<0; x<=0; x==0; x!=0; x.isnan(); x.isinf(); x.isfinite(); x.nan_to_num().signbit(); x.bool(); "
        "x.logical_not(); x>INF; x<INF; x==-0.0; x.abs()>=0; x*0==0; x-x==0; x.isposinf(); x.isneginf(); ~(x>0); ~(x==x)"),
    "f f +": (
        "S(T.zeros(N),slice(3,9),x[3:9])+x; S(x,slice(0,5),0); S(x,5,1.0); S(T.ones_like(x),slice(0,20,2),x[::2])*x; "
        "T.nn.functional.pad(x,(3,2))[3:23]; T.nn.functional.pad(x,(3,2),value=NAN)[1:21]; "
        "T.nn.functional.pad(x[1:],(1,0),value=-0.0)+x; x.flip(0).flip(0); x.flip(0)[J]; S(T.zeros_like(x),slice(0,20),x); "
        "x.nan_to_num(0,9,-9).int().float(); x.nan_to_num(0,9,-9).long().to(x.dtype); x.nan_to_num(0,9,-9).to(T.int8).float(); "
        "(x.double()*3).float(); x.double().half().float(); x.half().bfloat16().float(); (x.half()*2).float(); "
        "(x.bfloat16()*3).float(); (x.bfloat16()/3).float()+x; (x.half()+1).float()-1; x.to(T.float64).to(x.dtype); "
        "T.cat([x,-x])[::2]; T.cat([x[:10],x[10:]*0]); x.reshape(4,5).t().t().reshape(-1); T.stack([x,x+0],1)[:,1]; "
        "x.view(4,5)[:,:,None].sum(2).view(-1); x.chunk(2)[0].repeat(2); S(x,(slice(2,4),),x[1:3]); S(x,slice(1,20),x[:-1]); "
        "x.gather(0,J); T.zeros(N).index_copy(0,J,x.float()); x.expand(3,N)[2]; x[None].expand(2,N).amin(0); T.diag(x).diagonal(); "
        "T.tril(x.expand(N,N))[-1]; x.unfold(0,4,4).reshape(-1); T.where(T.arange(N)>3,x,0); T.where(T.arange(N)>=0,x,0); "
        "x*(T.arange(N)<5); x+T.zeros(()); x*T.ones(()); x.movedim(0,0)"),
    "ff f +": (
        "S(x,slice(3,9),y[3:9]); S(T.zeros_like(x),slice(0,7),x[:7])+y; S(S(x,slice(0,9),y[:9]),slice(4,9),0); "
        "(x.flip(0)+y.flip(0)).flip(0); T.stack([x,y],1)[:,0]; T.cat([x,y])[:N]; (x.double()*y.double()).float(); "
        "(x.double()+y.double()).half().float(); (x.half()*y.half()).float(); (x.bfloat16()+y.bfloat16()).float(); S(x,I2,y[:5]); "
        "T.where(T.arange(N)%2==0,x,y); T.hstack([x[:4],y[4:]]); S(x,slice(0,20,3),y[::3]); x.clone().masked_scatter_(y>0,y); "
        "x.take_along_dim(J,0)+y; x.scatter(0,J,y); (x*y).reshape(4,5).t().reshape(-1); T.stack([x,y]).t()[:,1]; "
        "S(x,slice(2,6),x[2:6]*y[2:6]); T.minimum(x,INF*T.ones_like(y)); (x+y).unsqueeze(1).mean(1)"),
    "ff b": (
        "x>y; x>=y; x<y; x==y; x!=y; ~(x>y); ~(x<y); x.isclose(y); x.logical_and(y); x.logical_xor(y); (x>y)==(y<x); (x-y)>0; "
        "(x-y)==0; -x>y; -x>-y; x.abs()>y.abs()"),
    "b b": (
        "~m; m^m.flip(0); m&True; m|False; m==True; m!=True; m.float().bool(); m.int()>0; (m.float()*2)>1; m.flip(0); "
        "m.unsqueeze(1).all(1); m.sort().values; m[I3]"),
    "bb b": (
        "m&n; m|n; m^n; m==n; m>n; m<=n; T.where(m,n,m); m.logical_or(n); m*n; T.maximum(m,n)"),
    "b i": (
        "m.int(); m.int()*3; m.cumsum(0).int(); m.int()-1; -m.int()"),
    "i f": (
        "i.float(); i.double().float(); i.float()*1; i.half().float(); i.bfloat16().float(); i*0.5; i/2; i/1; i+0.0; i*1.0; "
        "-(i.float()); i*0.0"),
    "i i": (
        "-i; ~i; i.abs(); i.sign(); i*2; i//2; i%2; i%3; i//3; i//-3; i%-3; i.fmod(3); i.fmod(-3); i<<1; i>>1; i>>31; i<<31; i&1; i|1; "
        "i^i; i^-1; i*0; i-i; (i*2)//2; (i//2)*2; (i<<3)>>3; (i>>3)<<3; i.float().int()%128; i.short().int(); i.byte().int(); "
        "i.to(T.int8).int(); i.long().int(); (i*i)%7; i.clamp(0,9); i.clamp(min=-1); (i+1)-1; (i%4)*(i>0); i.bool().int(); "
        "i.bitwise_not(); i.long()*2**33>>33; T.div(i,3,rounding_mode='trunc'); T.div(i,-2,rounding_mode='floor'); i.remainder(5)-5; "
        "i.flip(0); i.sort().values; i.unsqueeze(1).sum(1).int(); i.cumsum(0).int(); (i>0)*i; i.byte()//3*3+i.byte()%3-i.byte(); i*-1; "
        "i//1; i%1; -(-i); i.sub(5).neg(); i.abs()%8; i.abs()//8"),
    "ii i": (
        "i+j; i-j; i*j; i&j; i|j; i^j; T.maximum(i,j); T.minimum(i,j); (i+j)-j; (i-j)+j; i<<(j&7); i>>(j&7); (i<<(j&7))>>(j&7); "
        "T.where(i>j,i,j); i//(j|1); i%(j|1); i.fmod(j|1); (i//(j|1))*(j|1)+i%(j|1); i*(j>0); i.byte()+j.byte(); "
        "i//(j.abs().clamp(min=1)); (i-j>0)*i"),
    "i b": (
        "i>0; i==0; i!=i; i>=-(2**31); i.bool(); i%2==0; (i&1)==0; -i>0; i*2>0; i-1<i"),
    "f c": (
        "T.complex(x,x); x.to(T.complex64); T.complex(x,T.zeros_like(x)); x*1j; T.complex(T.zeros_like(x),x)"),
    "ff c": (
        "T.complex(x,y); x+1j*y"),
    "c c": (
        "-c; c.conj(); c+0; c.flip(0); c.conj().conj().resolve_conj(); T.complex(c.real,c.imag); T.where(c.real>0,c,-c); c.clone(); "
        "T.cat([c[:3],c[3:]]); c+c; c-c; c[I3]; c.conj().neg()"),
    "c f": (
        "c.real+0; c.imag+0; c.conj().imag; (-c).real; c.real*c.imag; c.conj().real; T.view_as_real(c)[:,1]"),
    "cc c": (
        "c+d; c-d; c.conj()+d; T.where(c.real>d.real,c,d)"),
    "cb c": (
        "T.where(m,c,c.conj()); T.where(m,c,0); c.masked_fill(m,0)"),
}
ROUNDED = {
    "f f": (
        "x.exp(); x.log(); x.exp().log(); x.log().exp(); x.log1p(); x.expm1(); x.tanh(); x.sigmoid(); x.rsqrt(); x.sin(); x.cos(); "
        "x.erf(); x.exp2(); x.log2(); x.abs()**0.5; x.abs()**-0.5; x**3; x**-1; x**-2; T.nn.functional.softplus(x); "
        "T.nn.functional.silu(x); T.nn.functional.gelu(x); x.softmax(0); x.log_softmax(0); x.logsumexp(0)+x; x.cumsum(0); x.sum()+x; "
        "x.mean()*x; x.square().sqrt(); x.sqrt().square(); 1/x.sqrt(); x.rsqrt().reciprocal(); 1/(1/x); x.reciprocal().sqrt(); "
        "x.exp()*(-x).exp(); x.exp()**2; x.exp().sqrt(); x.sqrt()*x.rsqrt()*x; x/x.sqrt(); x/x.abs(); x/3; x*(1/3); x*3/3; (x+1)-1; "
        "x.cos().acos(); x.sinh(); x.atan(); x.abs().log()*2; T.ones_like(x)/x.exp(); (-x).exp(); 1-x.sigmoid(); 1-x.tanh()**2; "
        "x.var()*x; x.prod()*x; x.norm()*x; T.nn.functional.logsigmoid(x); x.cumprod(0); x.cummax(0).values; x.diff(prepend=x[:1]); "
        "x.unsqueeze(1)@x.unsqueeze(0)@x; T.outer(x,x).sum(1); T.outer(x,x).diagonal(); x.reshape(4,5).sum(0).repeat(4); "
        "x.reshape(4,5).t().sum(0).repeat(5); (x*x).sum()+x; T.nn.functional.elu(x); T.nn.functional.mish(x); "
        "T.nn.functional.hardswish(x); T.nn.functional.hardsigmoid(x); T.nn.functional.selu(x); T.special.xlogy(x,x); "
        "T.special.entr(x); x.lgamma(); T.nn.functional.normalize(x,dim=0); x.reshape(4,5).softmax(1).reshape(-1); x.logcumsumexp(0)"),
    "ff f": (
        "x**y; x.abs()**y; T.hypot(x,y); T.atan2(x,y); T.logaddexp(x,y); T.special.xlogy(x,y); x.lerp(y,0.25); x*y+x; x*y-y; x*0.5*y; "
        "x/3/y; x/y/x; (x*2)*(y*3); x.exp()*y.exp(); x.exp()/y.exp(); x.log()+y.log(); x.log()-y.log(); T.addcmul(x,x,y); "
        "T.addcdiv(x,x,y); x.exp()*y; x/y.sqrt(); x*y.rsqrt(); x/y.exp(); x.sqrt()*y.sqrt(); x.sqrt()/y.sqrt(); (x*y).sum()+x; "
        "x.dot(y)+x; x@T.outer(y,x); x+y*2; x-2*y; x.floor_divide(y); T.outer(x,y).sum(0); T.outer(x,y).amax(0); "
        "T.where(x>0,x.exp(),y.log()); (x-y)*(x+y)"),
    "c f": (
        "c.abs(); c.angle(); c.abs()**2; (c*c.conj()).real; c.exp().real; c.log().imag"),
    "c c": (
        "c*1; c*0; c*2; c/2; c*1j; c*c; c/c; c.sgn(); c.exp(); c.sqrt(); 1/c; c*c.conj(); c*T.zeros_like(c); c*T.ones_like(c); "
        "c.log(); c*-1; c**2; c*c.real; c.sum()+c; c.cumsum(0)"),
    "cc c": (
        "c*d; c/d; c*d.conj(); c*d-c; c.conj()*d; c*d.real"),
    "cb c": (
        "c*m; m*c; c*m.float(); c/m.float(); m.to(T.complex64)*c; c*~m; T.where(m,c*2,c)"),
    "cf c": (
        "c*x; x*c; c/x; c+x; x/c; c*x.sign(); x.sign()*c"),
    "f c": (
        "T.polar(x.abs(),x)"),
}
# PyTorch's vectorised loops and the tails of the same loops treat zeros of two signs, or the gradient at NaN, in two ways in most of these;
# it sorts more than 16 numbers without keeping the order of equal ones, and cumulative sums begin with 0.0.
TWO_WAYS = "max", "min", "clamp", "relu6", "hard", "shrink", "-c", "neg()", "lerp", "sort", "cumsum"
LETTERS = {"f": "xyz", "b": "mn", "i": "ij", "c": "cd"}


def _listed(table, exact):
    return [(*kinds.split()[:2], text, exact) for kinds, texts in table.items() for text in texts.split("; ")]


OPERATORS = _listed(EXACT, True) + _listed(ROUNDED, False)
CODES = {text: compile(text, text, "eval") for _, _, text, _ in OPERATORS}


class Chain:
    """(operator's text, where its operands are: numbers of base inputs below 0, of the chain's own values from 0) each."""

    def __init__(self, rng, length, base):
        self.steps, self.kinds, self.exact = [], [], True
        while len(self.steps) < length:
            takes, gives, text, exact = rng.choice(OPERATORS)
            if rng.random() < 0.4 and not exact or self.steps and self.kinds[-1] not in takes:
                continue
            fresh = rng.randrange(len(takes))
            operands = []
            for at, kind in enumerate(takes):
                own = [k for k, made in enumerate(self.kinds) if made == kind]
                bases = [~k for k, made in enumerate(base) if made == kind]
                last = bool(self.kinds) and kind == self.kinds[-1]
                operands.append(own[-1] if last and (at == fresh or self.kinds[-1] not in takes[fresh]) else rng.choice(own + bases * 2))
            if self.kinds and len(self.kinds) - 1 not in operands:
                operands[takes.index(self.kinds[-1])] = len(self.kinds) - 1
            self.steps.append((text, takes, operands))
            self.kinds.append(gives)
            self.exact &= exact and not any(word in text for word in TWO_WAYS)
        self.differentiated = self.kinds[-1] == "f" and rng.random() < 0.3 and "x.clone()." not in str(self.steps)

    def run(self, T, inputs, names, seen=None):
        """The last value, and the gradients of the inputs; ``seen`` gets what lies between."""
        leaves = [x.clone().requires_grad_() if self.differentiated and x.is_floating_point() else x for x in inputs]
        made = []
        for text, takes, operands in self.steps:
            letters, scope = {kind: iter(LETTERS[kind]) for kind in "fbic"}, dict(names)
            for kind, at in zip(takes, operands, strict=True):
                scope[next(letters[kind])] = made[at] if at >= 0 else leaves[~at]
            made.append(eval(CODES[text], scope))
        if seen is not None:
            seen += made[:-1]
        results = [made[-1].detach()]
        if self.differentiated and made[-1].requires_grad:
            made[-1].backward(names["W"])
            results += [leaf.grad for leaf in leaves if leaf.requires_grad and leaf.grad is not None]
        return results

    def __str__(self):
        return "; ".join(f"v{k} = {text} of {[f'v{at}' if at >= 0 else f'in{~at}' for at in operands]}"
                         for k, (text, _, operands) in enumerate(self.steps)) + (" (differentiated)" if self.differentiated else "")


DTYPES = "float32", "float32", "float64", "bfloat16", "float16"
BASE = "fffbbiic" + "f"


def data(rng):
    """Arrays for `BASE`, all of N elements, but for the last, a number of its own."""
    def some(values):
        return np.array(rng.sample(values, N))
    arrays = [some(SPECIAL).astype(np.float32) for _ in range(3)]
    arrays += [np.array([rng.random() < 0.5 for _ in range(N)]) for _ in range(2)]
    arrays += [some(WHOLE).astype(np.int32) for _ in range(2)]
    arrays.append((some(SPECIAL) + 1j * 0).astype(np.complex64))
    arrays[-1].imag = some(SPECIAL)
    arrays.append(np.full(N, rng.choice(KNOWN), np.float32))
    return arrays


def written(x, where, y):
    """A copy of ``x`` with something written to a part of it."""
    x = x.clone()
    x[where] = y
    return x


def names(T, weights):
    """What an operator's text may name beside its operands."""
    return {"T": T, "S": written, "NAN": NAN, "INF": INF, "N": N, "W": weights, "I": T.tensor(INDEX * 2), "I2": T.tensor(INDEX[::2]),
            "I3": T.tensor(INDEX * 2), "J": T.tensor(list(range(N))[::-1])}


def host(x):
    x = x.clone().resolve_conj().resolve_neg()          # a clone of PyTorch's zeros without elements has some
    return (x.float() if "bfloat16" in str(x.dtype) else x).numpy()


def bits(x):
    """A tensor's elements with one NaN."""
    a = np.ascontiguousarray(host(x))
    if a.dtype.kind == "c":
        a = a.view(a.real.dtype)
    if a.dtype.kind == "f":
        a = np.where(a != a, np.array(NAN, a.dtype), a)
    return a.view(f"u{a.dtype.itemsize}")


def denormal(tensors):
    for x in tensors:
        a = host(x.detach())
        parts = (a.real, a.imag) if a.dtype.kind == "c" else (a,) if a.dtype.kind == "f" else ()
        if any(((p != 0) & (np.abs(p) < (np.finfo(p.dtype).tiny if p.dtype != np.float16 else 6.2e-5))).any() for p in parts):
            return True
    return False


def made_of(T, arrays, dtype):
    return [T.tensor(a).to(getattr(T, dtype)) if a.dtype == np.float32 else T.tensor(a) for a in arrays]


def fused(chains, arrays, weights, dtype):
    """Of each chain its results; one tape, one program."""
    executor.flush("a new start")
    *inputs, weights = made_of(jtensor, [*arrays, weights], dtype)
    scope = names(jtensor, weights)
    made = [chain.run(jtensor, inputs, scope) for chain in chains]
    return [[bits(x) for x in results] for results in made]


def by_one(chains, arrays, weights, dtype):
    with jtensor.eager():
        return fused(chains, arrays, weights, dtype)


def by_torch(chains, arrays, weights, dtype):
    *inputs, weights = made_of(torch, [*arrays, weights], dtype)
    scope, made = names(torch, weights), []
    for chain in chains:
        seen = []
        try:
            results = chain.run(torch, inputs, scope, seen)
            if any(x.dtype is torch.complex32 for x in (*seen, *results)):
                raise TypeError("not there")
        except (RuntimeError, TypeError, IndexError) as error:
            made.append(str(error))
            continue
        made.append(None if not chain.exact or denormal(seen + results) else [bits(x) for x in results])
    return made


def differences(chains, arrays, weights, dtype):
    """(chain, which way, what it gave, what was wanted) of those that differ."""
    wanted = by_torch(chains, arrays, weights, dtype)
    chains, wanted = zip(*[(c, w) for c, w in zip(chains, wanted, strict=True) if not isinstance(w, str)], strict=True)
    one, together = by_one(chains, arrays, weights, dtype), fused(chains, arrays, weights, dtype)
    for chain, theirs, a, b in zip(chains, wanted, one, together, strict=True):
        if any(not np.array_equal(x, y) for x, y in zip(a, b, strict=True)):
            yield chain, "fused", b, a
        elif theirs is not None and (len(theirs) != len(a) or any(not np.array_equal(x, y) for x, y in zip(a, theirs, strict=True))):
            yield chain, "torch", a, theirs


def always_fused():
    """Programs are compiled at once, whatever they cost."""
    choosing.tiers.PROGRAM_COST = -1e9
    choosing.WORTH_A_THREAD = 1 << 30


def chains_of(rng, count, most):
    return [Chain(rng, rng.randint(2, most), BASE) for _ in range(count)]


def shown(bits_):
    return bits_.view({1: np.uint8, 2: np.float16, 4: np.float32, 8: np.float64}[bits_.dtype.itemsize])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, default=None)
    parser.add_argument("--dtype", default=None)
    parser.add_argument("--chains", type=int, default=30)
    parser.add_argument("--length", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    always_fused()
    start, found, count = time.time(), 0, 0
    for index in range(arguments.programs) if arguments.only is None else [arguments.only]:
        rng = random.Random(f"{arguments.seed} {index}")
        arrays, dtype = data(rng), arguments.dtype or rng.choice(DTYPES)
        weights, chains = np.array(rng.sample(SPECIAL, N), np.float32), chains_of(rng, arguments.chains, arguments.length)
        count += len(chains)
        for chain, which, got, wanted in differences(chains, arrays, weights, dtype):
            found += 1
            alone = [which for _, which, _, _ in differences([chain], arrays, weights, dtype)]
            print(f"{index} {dtype} {which} (alone: {alone}): {chain}")
            for x, y in zip(got, wanted, strict=False):
                bad = np.flatnonzero(x != y)[:3] if x.shape == y.shape else [0]
                if len(bad):
                    print("     got", shown(x)[bad], "wanted", shown(y)[bad], "at", list(bad), flush=True)
    print(f"{found} of {count} chains differ; {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
