"""How often decisions were wrong, where the truth is on file."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

from agent.formats.errors import FormatError
from agent.formats.mapping_design import MappingDesign
from agent.formats.state_files import StateFile


class Score:
    """Compares decisions with the nearest row of the truth that is earlier by less than a step.

    Args:
        design: whose H is decided.
        truth: its values, by name; others are refused.

    Raises:
        FormatError: a state that is not a value of H.
    """

    def __init__(self, design: MappingDesign, truth: StateFile) -> None:
        numbers = {name: number for number, name in enumerate(design.public)}
        unknown = sum(state not in numbers for state in truth.states)
        if unknown:
            raise FormatError(
                f"{unknown} rows have a state that is not one of "
                f"{', '.join(design.public)}; name the values of H as the design does"
            )
        self._step = design.step_ms
        self._times = [round(float(seconds) * 1000) for seconds in truth.times_seconds]
        self._values = [numbers[state] for state in truth.states]
        self._true: Counter[int] = Counter()
        self._wrong = 0

    def take(self, time_ms: int, value: int) -> None:
        """A decision about the step that begins at ``time_ms``."""
        row = bisect_right(self._times, time_ms) - 1
        if row >= 0 and time_ms - self._times[row] < self._step:
            self._true[self._values[row]] += 1
            self._wrong += self._values[row] != value

    @property
    def compared(self) -> int:
        """Decisions whose truth is known."""
        return self._true.total()

    @property
    def error(self) -> float:
        """Share of wrong decisions among those compared."""
        return self._wrong / self.compared if self.compared else 0.0

    @property
    def guessing_error(self) -> float:
        """Of always saying what was true most often."""
        most: Sequence[int] = [number for _, number in self._true.most_common(1)]
        return 1 - most[0] / self.compared if most else 0.0

    def summary(self) -> str:
        """One line for the user."""
        if not self.compared:
            return "truth: no decision has a row of the truth within a step before it"
        return (
            f"truth: {self.compared} decisions compared, {100 * self.error:.1f} % wrong; always "
            f"guessing the most frequent: {100 * self.guessing_error:.1f} %"
        )
