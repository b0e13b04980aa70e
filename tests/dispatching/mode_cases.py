"""What a mode below autograd is: ``programs(torch)`` gives {name: function that answers lines of text}."""


def programs(torch):
    from importlib import import_module
    dispatching = import_module(torch.__name__ + ".utils._python_dispatch")
    checkpoint = import_module(torch.__name__ + ".utils.checkpoint")
    found = {}

    def handled_by(function):
        class Mode(dispatching.TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                return function(func, types, args, kwargs or {})
        return Mode()

    def logs(lines, mark=""):
        def handle(func, types, args, kwargs):
            lines.append(f"{mark}{func}")
            return func(*args, **kwargs)
        return handled_by(handle)

    def program(function):
        def run():
            lines = []
            try:
                made = function(lines)
            except Exception as error:
                made = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            return [*lines, str(made).replace("jtensor", "torch")]
        found[function.__name__] = run
    leaf = torch.ones(2, requires_grad=True)

    @program
    def nested(lines):
        with logs(lines, "outer "), logs(lines, "inner ") as inner:
            y = leaf * 2
            known = dispatching._get_current_dispatch_mode() is inner, len(dispatching._get_current_dispatch_mode_stack())
        return y.grad_fn.name(), known, dispatching._get_current_dispatch_mode()

    @program
    def handlers_are_asked_by_outer_modes(lines):
        def handle(func, types, args, kwargs):
            torch.zeros(2).add(1)
            return func(*args, **kwargs)
        with logs(lines), handled_by(handle):
            leaf.relu()

    @program
    def another_answer(lines):
        with handled_by(lambda func, types, args, kwargs: func(*args, **kwargs) * (2 if func is torch.ops.aten.mul.Tensor else 1)):
            y = leaf * 3
        return y.detach(), y.grad_fn.name(), torch.autograd.grad(y.sum(), leaf)[0]

    @program
    def an_answer_is_what_the_node_keeps(lines):
        def handle(func, types, args, kwargs):
            return args[0].detach() * 0 + 0.25 if func is torch.ops.aten.sigmoid.default else func(*args, **kwargs)
        with handled_by(handle):
            y = leaf.sigmoid()
        return y.detach(), torch.autograd.grad(y.sum(), leaf)[0]

    @program
    def nobody_answers(lines):
        with handled_by(lambda *given: NotImplemented):
            torch.add(leaf, 1)

    @program
    def errors_leave_no_mode(lines):
        def handle(func, types, args, kwargs):
            raise ValueError("no")
        try:
            with handled_by(handle):
                leaf.exp()
        except ValueError:
            return dispatching._get_current_dispatch_mode(), leaf.exp().grad_fn.name()

    @program
    def below_autograd(lines):
        def handle(func, types, args, kwargs):
            made = func(*args, **kwargs)
            lines.append(f"{func} {args[0].requires_grad} {made.requires_grad} {(args[0] + 1).requires_grad}")
            return made
        with handled_by(handle):
            y = (leaf * 2).view(2, 1)
        return y.requires_grad, y.grad_fn.name()

    @program
    def answers_are_the_results(lines):
        made = []

        def handle(func, types, args, kwargs):
            made.append(func(*args, **kwargs))
            return made[-1]
        with handled_by(handle):
            results = [leaf * 2, leaf.view(1, 2), leaf.detach()]
        return [one is other for one, other in zip(made, results, strict=False)], results[2].add_(1) is results[2]

    @program
    def histories(lines):
        with logs(lines):
            y = leaf.view(2, 1)
            z = leaf * 1
            z[0] = 3.0
            with torch.no_grad():
                k = leaf + 1
            with dispatching._disable_current_modes():
                leaf.cos()
            return (y._base is leaf, y.is_leaf, z.grad_fn.name(), z._version, leaf.split(1)[0].grad_fn.name(), k.requires_grad,
                    torch.ops.aten.add.Tensor(leaf, leaf).grad_fn.name(), leaf.detach().requires_grad)

    @program
    def overloads_made_of_others(lines):
        with logs(lines):
            return torch.ops.aten.linear.default(leaf[None], leaf[None]).grad_fn.name()

    @program
    def no_mode_no_trace(lines):
        with logs(lines):
            pass
        return torch.nn.functional.linear(leaf[None], leaf[None]).grad_fn.name()

    def graph_of(function, *args):
        make_fx = import_module(torch.__name__ + ".fx.experimental.proxy_tensor").make_fx
        module = make_fx(function)(*args)
        return "\n".join([str(module.graph), module.code, str(list(module._buffers)), str(module(*args))])

    @program
    def a_graph_of_arithmetic(lines):
        return graph_of(lambda x, y: x.sin() + y * 2, torch.ones(2), torch.ones(2))

    @program
    def a_graph_of_pieces_constants_and_writes(lines):
        w = torch.ones(3, 3)

        def function(x):
            a, b = x.split(1)
            z = torch.zeros(3) + w.sum()
            x.add_(1)
            return {"a": a @ w + z, "b": [b, x]}
        return graph_of(function, torch.ones(2, 3))

    def noted(function, *args, **options):
        """A graph's text, and what its nodes have in ``meta``."""
        make_fx = import_module(torch.__name__ + ".fx.experimental.proxy_tensor").make_fx
        graph = make_fx(function, **options)(*args)
        return graph.code, [(node.name, node.meta.get("val"), node.meta.get("tensor_meta")) for node in graph.graph.nodes]

    @program
    def a_graph_with_notes(lines):
        kept = torch.ones(2)
        return noted(lambda x: (x.double() + kept).reshape(2, 1).expand(2, 3).topk(1)[1], torch.ones(2))

    @program
    def a_graph_of_fakes(lines):
        return noted(lambda x, n: (x * n).argmax() + torch.tensor([1]), torch.ones(2), 3, tracing_mode="fake")

    @program
    def a_graph_of_fakes_with_a_constant(lines):
        return noted(lambda x: x + leaf.detach(), torch.ones(2), tracing_mode="fake")

    @program
    def a_graph_of_symbols(lines):
        return noted(lambda x, y: (x @ y).relu().sum(), torch.ones(2, 3), torch.ones(3, 4), tracing_mode="symbolic")[0]

    @program
    def a_graph_of_nests(lines):
        x = torch.ones(2)
        return [noted(*given)[0] for given in ((lambda a, b: [a[0] + a[1], b["z"] * b["n"]], [x, x], {"z": x, "n": 3}),
                                               (lambda a, b: (a[0] + a[1], {"k": b["z"] * 2}), (x, x), {"z": x}),
                                               (lambda a, m: a * 2 if m == "x" else a, x, "x"), (lambda a, b: a, x, None),
                                               (lambda *a: a[0] + a[1], x, x), (torch.nn.Linear(2, 3), x))]

    @program
    def a_graph_with_decompositions(lines):
        table = {torch.ops.aten.silu.default: lambda x: x * x.sigmoid(), torch.ops.aten.exp.default: lambda x: NotImplemented}
        return noted(lambda x: torch.nn.functional.silu(x).exp(), torch.ones(2), decomposition_table=table)[0]

    @program
    def a_graph_of_too_few(lines):
        return noted(lambda x, y=2: x * y, torch.ones(2))

    @program
    def a_graph_of_no_such_mode(lines):
        return noted(lambda x: x, torch.ones(2), tracing_mode="none")

    @program
    def a_graph_without_writes(lines):
        def slices(x):
            y = x.clone()
            z = y[1:]
            z.mul_(2)
            y.add_(1)
            return y, z

        def filled(x):
            x[0] = 5
            x.zero_()
            x.fill_(3)
            return x + 1

        def views(x):
            y = x.view(2, 2).t()
            y.add_(1)
            y[0].copy_(torch.ones(2))
            return x

        def masks(x):
            y = torch.zeros(2, 4)
            y[1].add_(x)
            y[y > 1] = 0.0
            y.unsqueeze(0).permute(2, 0, 1).relu_()
            return y.permute(1, 0)
        found = []
        for function in (slices, filled, views, masks):
            for remove in ("mutations", "mutations_and_views")[:1 + (function is views)]:
                x = torch.arange(4.0)
                graph = import_module(torch.__name__ + ".fx.experimental.proxy_tensor").make_fx(
                    torch.func.functionalize(function, remove=remove))(x.clone())
                found.append((graph.code, str(graph(x)), str(x)))
        return found

    @program
    def a_graph_with_a_gradient(lines):
        return graph_of(lambda x: (x * leaf).sigmoid().sum(), torch.ones(2))

    @program
    def a_graph_of_a_loss(lines):
        return graph_of(lambda x: torch.nn.functional.cross_entropy(x, torch.tensor([0, 1])), torch.ones(2, 3))

    @program
    def a_graph_of_a_number(lines):
        return graph_of(lambda x: x * x.sum().item(), torch.ones(2))

    def selective(policy, **options):
        x, w = (torch.arange(6.).reshape(2, 3) / 3).requires_grad_(), (torch.arange(9.).reshape(3, 3) / 5).requires_grad_()

        def function(x):
            return ((torch.nn.functional.linear(x, w)).sigmoid() @ w).tanh().sum()

        def contexts():
            return checkpoint.create_selective_checkpoint_contexts(policy, **options)
        total = checkpoint.checkpoint(function, x, use_reentrant=False, context_fn=contexts)
        total.backward(retain_graph=True)
        return total, [[round(number, 4) for row in one.grad.tolist() for number in row] for one in (x, w)]

    @program
    def kept_by_a_policy(lines):
        def policy(context, operator, *args, **kwargs):
            lines.append(f"{context.is_recompute} {operator}")
            keep = operator is torch.ops.aten.mm.default
            return checkpoint.CheckpointPolicy.MUST_SAVE if keep else checkpoint.CheckpointPolicy.PREFER_RECOMPUTE
        return selective(policy)[1]

    @program
    def kept_by_a_list(lines):
        total, grads = selective([torch.ops.aten.mm.default])
        try:
            total.backward()
        except RuntimeError as error:
            return grads, str(error)

    @program
    def what_is_no_policy(lines):
        for wrong in (3, [3]):
            try:
                checkpoint.create_selective_checkpoint_contexts(wrong)
            except (TypeError, ValueError) as error:
                lines.append(f"{type(error).__name__}: {error}")
    return found
