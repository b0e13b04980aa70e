"""What the engine has done: compilations and their reasons, flushes by reason and user line, hits, donated bytes, fences.

Owns: the counters and the text of `jtensor.report()`. A lazy library is given up for opacity, not for speed: every flush has a reason.
"""
import collections
import sys

from ..base import collector, malloc, sites
from .cache import store


class Report:
    """Counters since the process began (or since `reset`)."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.hits = self.donated = self.fences = self.again = self.replayed = self.by_numpy = 0
        self.programs = collections.Counter()      # origin -> programs
        self.kernels = collections.Counter()       # origin -> kernels
        self._flushes = {}                         # (reason, identity of a user's code, instruction): [flushes, reason, site]
        self.nodes = 0
        self.compiled = collections.deque(maxlen=20)            # the last ones: (site, nodes, fences, how often the tape had been seen)
        self.failures = collections.deque(maxlen=5)             # the last ones: (site, XLA's words)

    def flushed(self, reason, nodes, skip=2):
        frame = sys._getframe(skip)                         # `sites.user_site` without a call: every `item()` comes here
        while frame is not None and _inside[(code := frame.f_code).co_filename]:
            frame = frame.f_back
        at = 0 if frame is None else frame.f_lasti
        key = reason, id(code), at                          # hashing a code object costs more than a look-up
        found = self._flushes.get(key)
        if found is None:
            if len(self._flushes) >= _SITES:
                self._fold()
            found = self._flushes[key] = [0, reason, (code, at) if frame is not None else None]
        found[0] += 1
        self.nodes += nodes

    def _fold(self):
        """Puts the rarer half of the flushes together by their reasons: a notebook's cells are new places each time they run."""
        entries = sorted(self._flushes.items(), key=lambda entry: entry[1][0])
        for key, (count, reason, _) in entries[:_SITES // 2]:
            del self._flushes[key]
            self._flushes.setdefault((reason, 0, 0), [0, reason, None])[0] += count

    @property
    def flushes(self):
        """A Counter: {(reason, user site): flushes}."""
        counted = collections.Counter()
        for count, reason, site in list(self._flushes.values()):
            counted[reason, site] += count
        return counted

    def program(self, origin, nodes, fences, state):
        self.programs[origin] += 1
        self.fences += fences
        if origin == "compiled":
            self.compiled.append((sites.user_site(), nodes, fences, state.sightings))

    def kernel(self, origin):
        self.kernels[origin] += 1

    def failed(self, error):
        self.failures.append((sites.user_site(), str(error).splitlines()[0]))

    def __str__(self):
        lines = [f"programs: {self.programs['compiled']} compiled ({self.again} again), {self.programs['disk']} from disk, "
                 f"{self.hits} runs of known ones; kernels: {self.kernels['compiled']} compiled, {self.kernels['disk']} from disk, "
                 f"{self.by_numpy} operations without one of their own",
                 f"nodes run: {self.nodes}; backward passes and updates put on the tape in one piece: {self.replayed}; "
                 f"fences in compiled programs: {self.fences}; donated: {self.donated / 1e6:.1f} MB"]
        kept = store.statistics()
        lines.append("cache on disk: " + (f"off, {kept['off']}" if kept.get("off") else ", ".join(
            f"{kept[name]} {name}" for name in ("hits", "misses", "damaged", "failed") if name in kept)))
        lines.append(f"allocator: {malloc.explain()}")
        lines.append(f"garbage collector: {collector.explain()}")
        if self.flushes:
            lines.append("flushes:")
            shown = collections.Counter()               # a line of a script can flush at several places of its code
            for (reason, site), count in self.flushes.items():
                shown[f"{reason:20s} {sites.text(site)}"] += count
            lines += [f"  {count:8d}  {text}" for text, count in shown.most_common(20)]
        if self.compiled:
            lines.append("programs compiled:")
            for site, nodes, fences, seen in self.compiled:
                lines.append(f"  {nodes:6d} operations, {fences} fences, at {sites.text(site)} (seen {_times(seen)})")
        for site, text in self.failures:
            lines.append(f"fell back to op by op at {sites.text(site)}: {text}")
        return "\n".join(lines)


def _times(count):
    return "once" if count == 1 else f"{count} times"


_inside = sites._inside
_SITES = 1 << 13
REPORT = Report()
