"""A tour of what is shared and what is not: views, `.data`, `detach`, numpy, and the checks that guard gradients.

    python examples/aliasing.py               # with PyTorch
    python -m jtensor examples/aliasing.py    # with jtensor
"""

import numpy as np
import torch


def title(text):
    print(f"\n---- {text}")


title("views share memory with what they were taken from")
x = torch.arange(12).reshape(3, 4)
column, transposed, flat = x[:, 1], x.t(), x.view(-1)
column += 100
flat[0] = -1
transposed[3].zero_()
print(x)
print("strides", x.stride(), transposed.stride(), column.stride(), "offset", column.storage_offset())
print("same memory:", x.data_ptr() == flat.data_ptr(), "version", x._version, column._version)
print("views:", column._is_view(), x.clone()._is_view(), column._base is x._base)

title("reshape copies where a view is impossible, and view refuses")
y = transposed.reshape(-1)
y[0] = 99
print(x[0, 0].item(), y[0].item())
try:
    transposed.view(-1)
except RuntimeError as error:
    print(f"RuntimeError: {error}")

title("an expanded tensor has several elements in one place")
e = torch.zeros(3, 1).expand(3, 4)
print(e.stride())
try:
    e += 1
except RuntimeError as error:
    print(f"RuntimeError: {error}")

title("numpy shares, both ways")
a = np.zeros(4, dtype=np.float32)
t = torch.from_numpy(a)
t[1:3] = 7
a[0] = 5
print(t, a)
window = t[::2].numpy()
window += 0.5
print(t, a, np.shares_memory(window, a))
print("clone does not:", np.shares_memory(t.clone().numpy(), a))

title("detach shares the values and the version, .data only the values")
w = torch.ones(3, requires_grad=True)
d, raw = w.detach(), w.data
d[0] = 10
print(w, "version", w._version, d._version, raw._version)
raw[1] = 20
print(w, "version", w._version, d._version, raw._version)
print("gradients:", w.requires_grad, d.requires_grad, raw.requires_grad)

title("a write between forward and backward is noticed")
p = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
q = p * 2
r = (q * q).sum()
q.add_(1)
try:
    r.backward()
except RuntimeError as error:
    print(f"RuntimeError: {str(error).splitlines()[0]}")

title("through .data it is not, and the gradient is of what stands there now")
q = p * 2
r = (q * q).sum()
q.data.add_(1)
r.backward()
print(p.grad)

title("a leaf that needs gradients is not written in place, except under no_grad")
try:
    p += 1
except RuntimeError as error:
    print(f"RuntimeError: {error}")
try:
    p[0] = 1
except RuntimeError as error:
    print(f"RuntimeError: {error}")
with torch.no_grad():
    p += 1
    p[0].zero_()
print(p)
try:
    p.numpy()
except RuntimeError as error:
    print(f"RuntimeError: {error}")

title("gradients flow through writes to a view")
base = torch.zeros(2, 3)
v = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
base[0] = v * 3
base[:, 1].mul_(v[1])
print(base)
(base**2).sum().backward()
print(v.grad, base.requires_grad)

title("a tensor can be given another storage")
s = torch.zeros(2)
alias = s.view(2)
s.data = torch.tensor([3.0, 4.0, 5.0])
print(s, alias)
