"""The compiler of `torch.jit.script`: from the source of functions and modules to the text of a file of TorchScript.

From the top down:

    program.py            all that was compiled for a root, as the files of an archive; printing.py: how lines are written
    unit.py               which functions and modules are compiled, each once; described.py: a module as a class; hooks.py,
                          interfaces.py: what a call of one may be besides its forward
    definitions.py        a function from its first statement to its last
    statements.py, loops.py, contexts.py, conditions.py, exits.py      what statements add; what is known where a condition holds
    expressions.py, indexing.py, arithmetic.py, special.py    what expressions add
    values.py, ranges.py, objects.py, objects_of_classes.py, classes.py    what stands for something meanwhile, such as a module
    matching.py           which form of an operator or function a call is
    state.py, ir.py       where the next node goes; nodes and blocks
    ssa.py, cleanup.py    variables become values; what is left out
    forms.py, schemas.txt, kinds.py, annotations.py, names.py    the language: operators, types, and what Python's names mean in it
    source.py, spans.py   functions as their source has them, places for errors and what they mark
    library/              layers and functions of `nn` in words that the language has

Owns: that language as PyTorch compiles it. May not know: files and how they are read (`archive`, `programs`), what Python gets of it
(`scripted`).
"""
