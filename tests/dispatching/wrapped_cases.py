"""Programs with tensors of classes that are asked below autograd: ``programs(torch)`` gives {name: function that answers lines of text}."""


def classes(torch, lines):
    """(a tensor that logs, a weight of small integers with a scale), whose handlers write to ``lines``."""
    from importlib import import_module
    dispatching = import_module(torch.__name__ + ".utils._python_dispatch")
    tree_map = import_module(torch.__name__ + ".utils._pytree").tree_map

    class Logging(torch.Tensor):
        """Holds a tensor, and says what is done to it."""

        __torch_function__ = torch._C._disabled_torch_function_impl
        __slots__ = ["elem"]

        @staticmethod
        def __new__(cls, elem, *args, **kwargs):
            made = torch.Tensor._make_wrapper_subclass(cls, elem.size(), strides=elem.stride(), storage_offset=elem.storage_offset(),
                                                       dtype=elem.dtype, layout=elem.layout, device=elem.device,
                                                       requires_grad=kwargs.get("requires_grad", False))
            made.elem = elem.detach() if made.requires_grad else elem
            return made

        def __repr__(self, *, tensor_contents=None):
            return f"Logging({self.elem})"

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            def out_of(x):
                return x.elem if isinstance(x, cls) else x

            def into(x):
                return cls(x) if isinstance(x, torch.Tensor) else x
            lines.append(f"{func} {[kind.__name__ for kind in types]}")
            return tree_map(into, func(*tree_map(out_of, args), **tree_map(out_of, kwargs or {})))

    class Scaled(torch.Tensor):
        """Whole numbers, which one number scales, as a matrix of weights."""

        __torch_function__ = torch._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls, whole, scale):
            return torch.Tensor._make_wrapper_subclass(cls, whole.shape, strides=whole.stride(), dtype=scale.dtype, device=whole.device)

        def __init__(self, whole, scale):
            self.whole, self.scale = whole, scale

        def __tensor_flatten__(self):
            return ["whole", "scale"], None

        @classmethod
        def __tensor_unflatten__(cls, inner, context, size, stride):
            return cls(inner["whole"], inner["scale"])

        def dequantized(self):
            return self.whole.to(self.scale.dtype) * self.scale

        def __repr__(self, *, tensor_contents=None):
            return f"Scaled({self.whole}, {self.scale})"

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            aten = torch.ops.aten
            lines.append(str(func))
            if func in (aten.detach.default, aten.clone.default, aten.t.default):
                x = args[0]
                made = cls(func(x.whole, **kwargs), x.scale)
                return dispatching.return_and_correct_aliasing(func, args, kwargs, made)
            if func in (aten.mm.default, aten.addmm.default):
                return func(*[one.dequantized() if isinstance(one, cls) else one for one in args], **kwargs)
            if func is aten._to_copy.default:
                return cls(args[0].whole, args[0].scale.to(kwargs.get("dtype", args[0].scale.dtype)))
            raise NotImplementedError(str(func))
    return Logging, Scaled


def programs(torch):
    nn, F = torch.nn, torch.nn.functional
    found = {}

    def program(function):
        def run():
            lines = []
            made = function(*classes(torch, lines))
            return lines + [repr(made).replace("jtensor", "torch")]
        found[function.__name__] = run

    x = torch.arange(6.).reshape(2, 3) / 3

    @program
    def arithmetic(Logging, Scaled):
        a = Logging(x)
        return type(a + 1).__name__, (a * 2 + a).sum().elem, (3 - a).elem, (a @ a.t()).elem

    @program
    def layers(Logging, Scaled):
        a, b = Logging(x), Logging(x + 1)
        return F.relu(F.linear(a, b)).elem, F.softmax(a, 1).elem, F.layer_norm(a, (3,)).elem, torch.cat([a, b]).elem

    @program
    def views(Logging, Scaled):
        a = Logging(x)
        return a[0, 1:].elem, a.view(-1).shape, a.t().stride(), [one.elem for one in a.unbind()], a.split(2, 1)[1].elem

    @program
    def in_place(Logging, Scaled):
        a = Logging(x.clone())
        same = a.add_(1)
        a[0] = 5.0
        return same is a, a.elem

    @program
    def with_history(Logging, Scaled):
        a = Logging(x, requires_grad=True)
        y = (a * 2).exp()
        return y.requires_grad, type(y.grad_fn).__name__, type(y).__name__, a.is_leaf

    @program
    def made_like(Logging, Scaled):
        a = Logging(x)
        return torch.zeros_like(a).elem, a.new_ones(2).elem, a.clone().elem, a.detach().elem, a.double().dtype

    @program
    def weights(Logging, Scaled):
        layer = nn.Linear(3, 4)
        with torch.no_grad():
            layer.bias.zero_()
        layer.weight = nn.Parameter(Scaled(torch.arange(12).reshape(4, 3).to(torch.int8), torch.tensor(0.5)), requires_grad=False)
        return type(layer.weight).__name__, layer.weight.shape, layer(x).detach(), isinstance(layer.weight, nn.Parameter)

    @program
    def gradients_through_weights(Logging, Scaled):
        w = Scaled(torch.arange(12).reshape(4, 3).to(torch.int8), torch.tensor(0.5))
        a, bias = (torch.arange(6.).reshape(2, 3) / 3).requires_grad_(), torch.ones(4, requires_grad=True)
        low = torch.ones(3, 2, requires_grad=True)
        (F.linear(a, w, bias).relu() + F.linear(a @ low, torch.ones(4, 2))).sum().backward()
        return a.grad, bias.grad, low.grad

    @program
    def weights_of_half(Logging, Scaled):
        w = Scaled(torch.ones(2, 3, dtype=torch.int8), torch.tensor(0.5))
        return w.to(torch.float64).dtype, w.t().shape, w.t().stride(), F.linear(x, w)

    @program
    def taken_apart(Logging, Scaled):
        from importlib import import_module
        asks = import_module(torch.__name__ + ".utils._python_dispatch").is_traceable_wrapper_subclass
        w = Scaled(torch.ones(2, 3, dtype=torch.int8), torch.tensor(0.5))
        names, context = w.__tensor_flatten__()
        again = Scaled.__tensor_unflatten__({name: getattr(w, name) for name in names}, context, w.size(), w.stride())
        return asks(w), asks(x), names, repr(again)

    @program
    def not_implemented(Logging, Scaled):
        try:
            Scaled(torch.ones(2, 3, dtype=torch.int8), torch.tensor(0.5)).sum()
        except NotImplementedError as error:
            return str(error)

    @program
    def of_data(Logging, Scaled):
        lines = []

        class Data(torch.Tensor):
            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                lines.append(str(func))
                return super().__torch_dispatch__(func, types, args, kwargs)
        a = torch.Tensor._make_subclass(Data, x)
        made = a + 1
        return type(made).__name__, lines

    @program
    def a_plain_method(Logging, Scaled):
        asked = []

        class Plain(torch.Tensor):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                asked.append((self is a, str(func)))
                return torch.zeros(2)
        a = torch.Tensor._make_subclass(Plain, x)
        return torch.neg(a), asked

    @program
    def nobody_is_asked(Logging, Scaled):
        from importlib import import_module
        Mode = import_module(torch.__name__ + ".utils._python_dispatch").TorchDispatchMode
        asked, off = [], torch._C._DisableTorchDispatch

        class Doubled(torch.Tensor):
            __torch_function__ = torch._C._disabled_torch_function_impl

            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                asked.append(str(func))
                with off():
                    return args[0] + args[0]

        class Counting(Mode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                asked.append(f"mode {func}")
                return func(*args, **(kwargs or {}))
        a = torch.Tensor._make_subclass(Doubled, x)
        guard = off()
        made = a.neg(), type(a + 1).__name__
        del guard
        with Counting():
            with off():
                x.sin()
            x.cos()
        leaf = (x * 1).requires_grad_()
        with off():
            (leaf * a).sum().backward()
        return made, a.neg(), asked, leaf.grad

    @program
    def results_have_names(Logging, Scaled):
        from importlib import import_module
        seen = []

        class Rebuilding(import_module(torch.__name__ + ".utils._python_dispatch").TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                made = func(*args, **(kwargs or {}))
                seen.append(type(made).__name__)
                return tuple(made) if isinstance(made, tuple) else made
        leaf = (x * 1).requires_grad_()
        with Rebuilding():
            made = [leaf.max(0), x.sort(1), leaf.topk(1), x.cummax(0), torch.aminmax(x), x.kthvalue(1), leaf.median(1), torch.std_mean(x)]
        made[0].values.sum().backward()
        return [type(one).__name__ for one in made], seen, made[1].indices, made[2].values.grad_fn.name(), leaf.grad

    @program
    def errors_of_operands(Logging, Scaled):
        import operator

        class Refusing(torch.Tensor):
            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                raise TypeError("it is not taken")
            __torch_function__ = torch._C._disabled_torch_function_impl
        a, said = torch.Tensor._make_subclass(Refusing, x), []
        for one in (operator.add, operator.truediv, operator.matmul, operator.iadd, operator.and_, operator.lshift, operator.lt,
                    operator.eq, lambda a, b: 2 - a, lambda a, b: 2 ** a, lambda a, b: 1 / a, lambda a, b: x + a, lambda a, b: -a,
                    torch.add):
            try:
                said.append(one(a, a))
            except TypeError as error:
                said.append(str(error))
        return said

    @program
    def two_classes(Logging, Scaled):
        asked = []

        class Below(Logging):
            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                asked.append([kind.__name__ for kind in types])
                return NotImplemented if len(asked) == 1 else super().__torch_dispatch__(func, types, args, kwargs)
        try:
            made = type(Logging(x) + Below(x)).__name__
        except Exception as error:
            made = type(error).__name__
        return asked, made
    return found
