"""Pruning, fusing batch normalisation into weights, modules that are not initialised."""
import importlib

from .both import close, raised, same


def prune_of(torch):
    return importlib.import_module(torch.__name__ + ".nn.utils.prune")


def layer(torch):
    torch.manual_seed(0)
    return torch.nn.Linear(4, 3)


def shown(module):
    return [module.weight.detach(), module.weight_mask, module.weight_orig.detach(), sorted(module.state_dict()),
            len(module._forward_pre_hooks)]


def test_each_way_to_prune():
    def program(torch):
        prune, answers = prune_of(torch), []
        for way in (lambda m: prune.identity(m, "weight"), lambda m: prune.random_unstructured(m, "weight", 3),
                    lambda m: prune.random_unstructured(m, "weight", 0.5), lambda m: prune.l1_unstructured(m, "weight", 0.25),
                    lambda m: prune.l1_unstructured(m, "weight", 2, importance_scores=torch.arange(12.0).view(3, 4)),
                    lambda m: prune.random_structured(m, "weight", 1, 0), lambda m: prune.random_structured(m, "weight", 0.5, -1),
                    lambda m: prune.ln_structured(m, "weight", 1, 2, 1), lambda m: prune.ln_structured(m, "weight", 0.4, 1, dim=0),
                    lambda m: prune.custom_from_mask(m, "weight", torch.arange(12).view(3, 4) % 2)):
            module = layer(torch)
            assert way(module) is module
            answers += [shown(module), module(torch.ones(2, 4)).detach(), prune.is_pruned(torch.nn.Sequential(module))]
            module(torch.ones(2, 4)).sum().backward()
            answers += [module.weight_orig.grad]
            assert prune.remove(module, "weight") is module
            answers += [sorted(module.state_dict()), module.weight.detach(), prune.is_pruned(module)]
            assert isinstance(module.weight, torch.nn.Parameter)
        return answers

    close(program)


def test_pruning_again():
    def program(torch):
        prune, module, answers = prune_of(torch), layer(torch), []
        for way in (lambda: prune.ln_structured(module, "weight", 1, 2, 0), lambda: prune.l1_unstructured(module, "weight", 3),
                    lambda: prune.random_structured(module, "weight", 1, 1), lambda: prune.random_unstructured(module, "bias", 1)):
            way()
            answers += [shown(module), [type(hook).__name__ for hook in module._forward_pre_hooks.values()]]
        container = next(hook for hook in module._forward_pre_hooks.values() if hook._tensor_name == "weight")
        return answers + [len(container), [type(method).__name__ for method in container], raised(lambda: container.add_pruning_method(3)),
                          prune.L1Unstructured(1).prune(torch.tensor([3.0, 1.0]))]

    close(program)


def test_several_parameters_as_one():
    def program(torch):
        prune, a, b = prune_of(torch), layer(torch), torch.nn.Linear(2, 2)
        pairs = ((a, "weight"), (b, "weight"))
        prune.global_unstructured(pairs, prune.L1Unstructured, amount=0.5)
        prune.global_unstructured(pairs, prune.RandomUnstructured, importance_scores={(a, "weight"): torch.ones(3, 4)}, amount=3)
        return [shown(a), shown(b)]

    close(program)


def test_what_is_refused():
    def program(torch):
        prune, utils, m, norm = prune_of(torch), torch.nn.utils, layer(torch), torch.nn.LayerNorm(3)
        asked = [lambda: prune.l1_unstructured(m, "weight", 7.5), lambda: prune.l1_unstructured(m, "weight", 17),
                 lambda: prune.l1_unstructured(m, "weight", -1), lambda: prune.l1_unstructured(m, "weight", "a"),
                 lambda: prune.ln_structured(m, "weight", 1, 2, 5), lambda: prune.remove(m, "weight"), lambda: prune.PruningContainer(3),
                 lambda: prune.random_structured(norm, "weight", 1, 0), lambda: prune.global_unstructured(3, 3),
                 lambda: prune.global_unstructured([(m, "weight")], prune.LnStructured, amount=1, n=1),
                 lambda: prune.global_unstructured([(m, "weight")], prune.L1Unstructured, importance_scores=3, amount=1),
                 lambda: utils.fuse_linear_bn_eval(m, torch.nn.BatchNorm1d(3)), lambda: utils.skip_init(torch.nn.Sequential),
                 lambda: utils.skip_init(torch.Tensor), lambda: utils.fuse_conv_bn_eval(m, torch.nn.BatchNorm1d(3)),
                 lambda: utils.fuse_conv_bn_eval(m.eval(), torch.nn.BatchNorm1d(3, track_running_stats=False).eval()),
                 lambda: utils.fuse_linear_bn_eval(m.eval(), torch.nn.BatchNorm1d(2).eval())]
        return [raised(one) for one in asked] + [sorted(m.state_dict()), len(m._forward_pre_hooks)]

    same(program)


def test_fusing_batch_normalisation():
    def program(torch):
        torch.manual_seed(0)
        answers = []
        for conv, transpose in ((torch.nn.Conv2d(2, 3, 2), False), (torch.nn.Conv1d(2, 3, 1, bias=False), False),
                                (torch.nn.ConvTranspose2d(2, 3, 2), True)):
            x = torch.arange(18.0).reshape(1, 2, 3, 3) if conv.weight.dim() == 4 else torch.arange(8.0).reshape(1, 2, 4)
            bn = (torch.nn.BatchNorm2d if conv.weight.dim() == 4 else torch.nn.BatchNorm1d)(3)
            bn(conv(x))
            conv, bn = conv.eval(), bn.eval()
            fused = torch.nn.utils.fuse_conv_bn_eval(conv, bn, transpose)
            assert torch.allclose(fused(x), bn(conv(x)), atol=1e-4)
            answers += [fused.weight, fused.bias, fused.bias.requires_grad]
        linear, bn = layer(torch), torch.nn.BatchNorm1d(3)
        bn(linear(torch.arange(8.0).view(2, 4)))
        fused = torch.nn.utils.fuse_linear_bn_eval(linear.eval(), bn.eval())
        return answers + [fused.weight, fused.bias, fused.weight is linear.weight]

    close(program)


def test_a_module_that_is_not_initialised():
    def program(torch):
        torch.manual_seed(0)
        made = torch.nn.utils.skip_init(torch.nn.Linear, 3, 2, bias=False, device="cpu")
        return [list(made.weight.shape), str(made.weight.device), made.weight.requires_grad, torch.rand(2)]     # and nothing is drawn

    same(program)
