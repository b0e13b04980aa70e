"""Hooks of modules in programs: which a module has, what they may take and answer, what a call of such a module adds.

Owns: these checks, with PyTorch's messages, and the order of calls. May not know: how a hook is compiled (``unit``), syntax.
"""
import functools

from . import definitions, kinds, matching, source, values


def complete(described, unit, kind):
    """Compiles the hooks of a module whose methods are compiled."""
    module, known = described.module, {}
    after, before = list(module._forward_hooks.values()), list(module._forward_pre_hooks.values())
    for hooks, word in ((after, "Hook"), (before, "Pre-hook")):
        for hook in hooks:
            if known.setdefault(hook.__name__, hook) is not hook:
                raise RuntimeError(f"{word} '{hook.__name__}' on {described.python.__name__} has at least two different python "
                                   "definitions. Please use unique names for all hooks.")
    for hook in (*after, *before):
        if hook.__name__ in described.methods:
            raise RuntimeError(f"Can't define hook: {hook.__name__} on class: {described.name} (of Python compilation unit at: "
                               f"{id(kind):#x}) because a method or hook with that name already exists.")
    forward = described.methods.get("forward")
    takes = None if forward is None else [kinds.plain(one.kind) for one in forward.form.arguments[1:]]
    output = None if forward is None else forward.form.returns[0]
    made = {}
    for hook in after:
        if hook.__name__ not in made:
            made[hook.__name__] = _made(hook, described, unit, kind, functools.partial(_check, described, takes, output))
        answer = made[hook.__name__].form.returns[0]
        output = output if answer == kinds.NONE else answer
    for hook in before:
        if hook.__name__ not in made:
            made[hook.__name__] = _made(hook, described, unit, kind, functools.partial(_check_before, described, takes))
    described.hooks = [made[hook.__name__] for hook in after]
    described.pre_hooks = [made[hook.__name__] for hook in before]


def _made(hook, described, unit, kind, check):
    read = source.read(hook)
    arguments, answer = definitions.declared(read, kind)
    check(hook.__name__, [one.kind for one in arguments[1:]], answer)
    made = unit.compiled_method(read, f"{described.name}.{hook.__name__}", kind)
    made.short = hook.__name__
    return made


def _check(described, takes, output, name, given, answer):
    if takes is None:
        return
    tuple_of = kinds.paired(*takes)
    more = (f"This error occurred while scripting the forward hook '{name}' on module {described.python.__name__}. If you did not want to "
            "script this hook remove it from the original NN module before scripting. This hook was expected to have the following "
            f"signature: {name}(self, input: {tuple_of}, output: {output}). The type of the output arg is the returned type from either "
            "the forward method or the previous hook if it exists. Note that hooks can return anything, but if the hook is on a submodule "
            "the outer module is expecting the same return type as the submodule's forward.\n")
    told = f"Hook '{name}' on module '{described.python.__name__}' "
    if len(given) != 2:
        raise RuntimeError(f"{told}was expected to only have exactly 3 inputs but it had {len(given) + 1} inputs. {more}")
    _check_input(told, given[0], takes, more)
    if not kinds.is_part(kinds.plain(output), given[1]):
        raise RuntimeError(f"{told}has the wrong type for the output argument. Received type: '{given[1]}'. Expected type: '{output}'.\n"
                           f"{more}")


def _check_before(described, takes, name, given, answer):
    if takes is None:
        return
    tuple_of = kinds.paired(*takes)
    alone = len(takes) == 1
    more = (f"This error occurred while scripting the forward pre-hook '{name}' on module '{described.python.__name__}'. If you did not "
            "want to script this pre-hook remove it from the original NN module before scripting. Pre-hooks for module "
            f"'{described.python.__name__}' are expected to have the following signature: {name}(self, input: {tuple_of}) with a return "
            f"type of either 'None'{f', {str(takes[0])!r},' if alone else ''} or '{tuple_of}'.\n")
    told = f"Pre-hook '{name}' on module '{described.python.__name__}' "
    if len(given) != 1:
        raise RuntimeError(f"{told}was expected to only have exactly 2 inputs but it had {len(given) + 1} inputs. {more}")
    _check_input(told, given[0], takes, more)
    if answer is None:
        raise RuntimeError(f"{told}is missing a return annotation. Return annotations are required, please add one.\n{more}")
    if answer == kinds.NONE or alone and answer == takes[0]:
        return
    wrong = f"{told}returned the wrong type of: '{answer}'."
    if not kinds.is_tuple(answer):
        raise RuntimeError(f"{wrong}{more}")
    inner = kinds.fields(answer)
    if len(inner) != len(takes):
        raise RuntimeError(f"{wrong} The returned tuple contains the wrong number of contained types.\n{more}")
    if not all(map(kinds.is_part, inner, takes)):
        raise RuntimeError(f"{wrong} The returned tuple contains the wrong inner types.\n{more}")


def _check_input(told, given, takes, more):
    if not kinds.is_tuple(given):
        raise RuntimeError(f"{told}expected the input argument to be typed as a Tuple but found type: '{given}' instead.\n{more}")
    inner = kinds.fields(given)
    if not takes and inner:
        raise RuntimeError(f"{told}was expecting Tuple[()] as the input type. Received type: '{given}'.\n{more}")
    if len(inner) != len(takes):
        raise RuntimeError(f"{told}has the wrong number of contained types for the input argument's Tuple. Received type: '{given}'.\n"
                           f"{more}")
    if not all(map(kinds.is_part, takes, inner)):
        raise RuntimeError(f"{told}has the wrong inner types for the input tuple argument. Received type: '{given}'.\n{more}")


def called(state, value, args, kwargs, place, many=1):
    """A call of a module with what its hooks do before and after ``forward``."""
    described = value.type.what
    taken = _packed(state, [one.value for one in args])
    if described.pre_hooks:
        for hook in described.pre_hooks:
            found = _call(state, hook, [value, taken], kwargs, place)
            if found.type != kinds.NONE:
                taken = found if kinds.is_tuple(found.type) else _packed(state, [found])
        if args:
            args = [matching.Given(one) for one in state.unpacked(taken)]
    found = values.Simple(value).attribute(state, "forward", place).called(state, args, kwargs, place, many).as_value(state, place)
    for hook in described.hooks:
        answer = _call(state, hook, [value, taken, found], kwargs, place)
        found = found if answer.type == kinds.NONE else answer
    return values.Simple(found)


def _packed(state, given):
    return state.add("prim::TupleConstruct", given, kinds.paired(*[one.type for one in given]))


def _call(state, hook, given, kwargs, place):
    return values.Function(hook).called(state, [matching.Given(one) for one in given], kwargs, place).value
