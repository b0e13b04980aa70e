"""The cases of the rooms beside this one, by name. Owns: how a case is one, and what its error is told as."""
CASES = {}


def case(function):
    """Has a function be a case: ``function(torch, rank, world)`` answers with what can be compared as text."""
    CASES[function.__name__] = function
    return function


def told(call):
    """What a call answers, or the first line of its error."""
    try:
        return call()
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
