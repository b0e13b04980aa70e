"""What PyTorch's implementation of an operator shows that neither its formula nor its signature tells.

Which inputs a second backward keeps, how often a formula writes to the gradient that it makes, whether an operator may write to memory
that overlaps itself: facts about one operator, that belong to its declaration (``op(..., quirks=Quirks(writes=2))``), so that who looks
at the operator sees them, and who asks for them does not know operators by name.
Owns: `Quirks`. May not know: anything of the package.
"""


class Quirks:
    """The facts about one operator; what is not given is as of most operators.

    What a graph node saves, and refuses (`ops.saves`):

    never_needed      (PyTorch's function, parameters) that may not require a gradient, though they are floating-point numbers
    real_only         PyTorch's function, where it differentiates only real results; of one that writes in place it does not ask

    The backward of the backward (`ops.double`, `tensor.replaying`):

    kept              parameters that it saves though it does not always read them: the formula's last operator is differentiated by them
    computed          parameters of which the formula computes something first, and saves that: they may be written to afterwards
    factor            the formula multiplies the gradient by what it has computed of the inputs or the result: by that product's other
                      factor, as it was, the second backward multiplies again. (Of several operations: `tensor.replaying.differentiated`.)
    no_derivative     what PyTorch calls a backward that it does not differentiate again: "aten::..." is the function in C++ that the error
                      names, anything else the entry among the derivatives
    constant_if       whether the gradient has no history: a function of the plan
    accumulates       with ``accumulate=True`` it hands the gradient on to what it adds to

    How a gradient lies, and what it is (`ops.gradient`, `tensor.replaying`):

    by_elements       a reduction or copy whose gradient lies as what it is computed of
    saved_first       what is saved comes before the gradient in the formula: it decides where the two lie differently
    met_first         of several saved operands, these meet each other first
    like_input        the gradient is made as zeros like the input, and written to
    keeps_complex     the formula does not take the real part for a real tensor: that gradient is refused
    real_part         it takes the real part where the operand is real now
    ends_in_view      the formula ends with a view: True of what is summed to the shape of an operand that was broadcast, the name of a
                      parameter whose gradient is expanded to its shape
    writes            how often the formula writes to the gradient that it makes: its version shows it
    right             which input of a matrix product stands on the right; None: it is no product

    History (`tensor.history`, `tensor.recording.inplace`):

    into_ordinary     PyTorch makes an ordinary tensor, of zeros or nothing, and writes to that, which autograd hears of even where all
                      operands are inference tensors
    quiet_made        PyTorch knows that results which are integers have no history
    quiet_written     and that integers that are written to have none
    untracked         in place, autograd knows nothing: leaves are written to, and the history stays as it was
    keeps_history     in place, autograd is asked, and the history stays as it was
    inplace_node      the name of the node in place, where PyTorch numbers it apart

    Memory that is written to (`autograd.gradmode_checks`, `tensor.recording`):

    overlap_allowed   in place: the tensor may overlap itself
    overlap_warns     the names under which PyTorch then says that this will be refused
    apart             in place: no operand may share memory with it
    anyhow            in place: any operand may
    asked_before      in place: whoever calls the operator has asked
    out_asked_first   ``out=`` is asked about elements in one place before it is resized, as of operators that go element by element
    out_grows         ``out=`` is asked about its operands before it is resized
    out_apart         ``out=`` may share no memory with an operand
    out_whole         ``out=`` may be an operand, but not share a part of one
    out_fold          ``out=`` is written even where its elements share a place, and what stays there: the "last" of them, or one result of
                      all, by this method of tensors ("sum"), since PyTorch's kernel takes a dimension that the memory does not have for one
                      more to reduce

    The signature (`tensor.install`):

    first             what PyTorch calls the first argument, where that is neither "input" nor "self"
    """

    never_needed = ("", ())
    real_only = ""
    kept = computed = ()
    factor = accumulates = False
    no_derivative = ""
    constant_if = None
    by_elements = saved_first = met_first = like_input = keeps_complex = real_part = False
    ends_in_view = False
    writes = 0
    right = None
    into_ordinary = quiet_made = quiet_written = untracked = keeps_history = False
    inplace_node = None
    overlap_allowed = apart = anyhow = asked_before = False
    overlap_warns = ()
    out_asked_first = out_grows = out_apart = out_whole = False
    out_fold = None
    first = ""

    def __init__(self, **given):
        for name in given:
            if name.startswith("_") or not hasattr(Quirks, name):
                raise TypeError(f"no such quirk: {name}")
        self.__dict__ = given


NONE = Quirks()
