"""``kind: leakage``: releases of states, with a bound on their temporal leakage.

Its keys are those of :mod:`precompute.leakage.designing`; a leakage design has neither axes nor
unit, and no prior but its matrices. Matrices that cannot be used are found when the file is read.
"""

import time
from dataclasses import dataclass
from pathlib import Path

from agent.formats.documents import Section
from agent.formats.leakage_design import LeakageDesign
from precompute.design_kinds.request import BuiltDesign, Report
from precompute.leakage.designing import design_leakage


@dataclass(frozen=True, slots=True)
class LeakageRequest:
    """A leakage design; the work is so little that it is done while the file is read."""

    design: LeakageDesign
    seconds: float

    @property
    def name(self) -> str:
        """Of the design."""
        return self.design.name

    def build(self, report: Report) -> BuiltDesign:
        """What was designed, ready to ship."""
        report("budgets")
        return BuiltDesign(self.design, {"seconds": self.seconds}, ())


def read(section: Section, folder: Path) -> LeakageRequest:
    """The keys of a leakage design.

    Raises:
        FormatError: anything unknown or of the wrong type.
        LeakageError: matrices that do not fit, or no budget keeps the limit.
    """
    begun = time.perf_counter()
    design = design_leakage(section, folder)
    return LeakageRequest(design, time.perf_counter() - begun)
