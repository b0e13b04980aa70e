"""Which tapes are worth a program of their own, and when; the others run op by op, by the kernels of their operations.

The choice is made by cost and by what the script has done before, never by the clock. A tape seen for the first time is compiled whole
where most of its kernels are missing (and have not been missed often): it may be a step of a training loop, of which thousands follow. From
its second run on it is one program. But a script whose tapes do not come again (lengths that differ from batch to batch, a search) makes
one program after another in vain; from then on its tapes run op by op until they have come a few times, since a kernel serves every tape
that its operation is in. Owns: the costs, what the programs so far were worth. May not know: tapes, how anything is compiled.
"""

KERNEL_COST, NODE_COST, PROGRAM_COST = 20.0, 4.0, 15.0       # ms: a kernel by itself, a node of a program, a program
OFTEN = 8                          # programs made for want of an operation's kernel after which that is worth its cost
MANY = 6, 400                      # programs, and nodes in them, that a script may make before it is asked what they were worth
PATIENCE = 3                       # times that a tape has to come in a script whose programs were in vain


class Past:
    """``programs`` compiled so far, with so many nodes (``spent``); nodes that a program has run which was there (``served``)."""

    def __init__(self):
        self.forget()

    def forget(self):
        """As at the start of a process."""
        self.programs = self.spent = self.served = 0

    def made(self, origins, nodes):
        """Counts a program of so many nodes; what came from disk cost nothing."""
        if "compiled" in origins:
            self.programs += 1
            self.spent += nodes

    def in_vain(self):
        """Whether less was run by programs than was compiled."""
        return self.programs >= MANY[0] and self.spent > max(MANY[1], self.served)


PAST = Past()


def worth_a_program(plans, missing, sightings):
    """Whether a tape is compiled now. ``plans``: its operations; ``missing``: those without kernels; ``sightings``: times it has come."""
    if PAST.in_vain():
        return sightings >= PATIENCE
    if sightings > 1:
        return True
    dear = sum(1 for plan in missing if plan.wanted < OFTEN)
    if dear * KERNEL_COST <= len(plans) * NODE_COST + PROGRAM_COST:
        return False
    for plan in missing:
        plan.wanted += 1
    return True
