"""A measured point of the room's curves: a line of a table, and a picture of all."""

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from precompute.audit.sensor_attacks import Attack


@dataclass(frozen=True, slots=True)
class Point:
    """A line of the table; amounts in nats, ``nan`` where a method has no such thing.

    Attributes:
        method: and ``asked`` its budgets or parameters.
        information: epsilon_I kept on the training days; ``local`` the largest epsilon_LD.
        shown: epsilon_I of the test days' own distribution through the same maps.
        model: accuracy of H that the design expects, ``rule`` of the shipped rule on the test days.
        public: the best learner of H from what is released; ``private`` of G.
        best: balanced accuracy of G of whoever knows the test days' own distribution of symbols:
            no attacker of one step is better on them.
    """

    method: str
    asked: str
    information: float
    local: float
    shown: float
    model: float
    rule: float
    public: Attack
    private: Attack
    best: float

    def line(self) -> str:
        """The row of the table."""
        return (
            f"{self.method:12s} {self.asked:16s} {self.information:8.3f} {self.local:7.2f} "
            f"{self.shown:7.3f} | {self.model:6.3f} {self.rule:6.3f} {self.public.accuracy:6.3f} "
            f"{self.public.balanced:6.3f} | {self.private.accuracy:6.3f} "
            f"{self.private.balanced:6.3f} {self.best:6.3f}  {self.private.learner}"
        )


HEADER = (
    "method       asked            kept e_I    e_LD   shown |  model   rule  acc H  bal H |"
    "  acc G  bal G best G  attacker"
)


def draw(points: list[Point], path: Path, name: str) -> Path:
    """Left, H against G as the learners guess them; right, budgets kept against shown."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.5), sharey=False)
    methods = dict.fromkeys(point.method for point in points)
    # A method has one colour in both panels.
    colours = itertools.cycle(mpl.colormaps["tab20"].colors)  # type: ignore[attr-defined]
    for method, colour in zip(methods, colours, strict=False):
        ours = [point for point in points if point.method == method]
        private = [point.private.balanced for point in ours]
        public = [point.public.balanced for point in ours]
        style = "o-" if len(ours) > 1 else "s"
        axes[0].plot(private, public, style, color=colour, label=method)
        held = [point for point in ours if np.isfinite(point.information)]
        if held:
            kept = [point.information for point in held]
            axes[1].plot(kept, [point.shown for point in held], "o-", color=colour)
    axes[0].set_xlabel("balanced accuracy of G by the best learner")
    axes[0].set_ylabel(f"balanced accuracy of H ({name})")
    axes[0].legend(fontsize=7)
    axes[1].set_xlabel("information privacy kept on the training days (nats)")
    axes[1].set_ylabel("shown by the test days (nats)")
    axes[1].set_xscale("log")
    axes[1].set_yscale("log")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
    return path
