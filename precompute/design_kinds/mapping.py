"""``kind: mapping``: what sensor nodes say, so that H is learnt and neither G nor a reading is.

The keys stand in :mod:`precompute.design_kinds.mapping_keys`. Files are read when the design file
is; what takes time is done in ``build``. Every number that ships is worked out from the rounded
maps; ``MappingError`` where they do not keep what was asked for.
"""

import math
import time
from dataclasses import dataclass
from pathlib import Path

from agent.formats.documents import Section
from agent.formats.errors import about
from agent.formats.mapping_design import MappingDesign, Node, local_epsilon
from precompute.design_kinds.mapping_findings import find_help, findings, judged_words
from precompute.design_kinds.mapping_keys import MappingKeys, read_keys
from precompute.design_kinds.mapping_material import Material, read_material
from precompute.design_kinds.mapping_regimes import (
    AcrossRegimes,
    across_regimes,
    across_words,
)
from precompute.design_kinds.request import BuiltDesign, Report
from precompute.leakage.quantification import INDEPENDENT
from precompute.mapping.held_out import HeldOut, held_out_errors
from precompute.mapping.margin import Margin, information_upper
from precompute.mapping.margin_search import Confirmed, confirmed_design
from precompute.mapping.shipped_maps import ShippedMaps, ship
from precompute.mapping.solution import Architecture, Budgets, Options, Solution
from precompute.mapping.two_stage import design_mapping


@dataclass(frozen=True, slots=True)
class MappingRequest:
    """A mapping as asked for, with what it is learnt from."""

    keys: MappingKeys
    material: Material

    @property
    def name(self) -> str:
        """Of the design."""
        return self.keys.name

    def build(self, report: Report) -> BuiltDesign:
        """The maps, rounded and checked, and what they do.

        Raises:
            MappingError: no maps keep what is asked for.
        """
        begun = time.perf_counter()
        report("maps")
        binding = self._binding()
        found = self._confirmed(binding, report)
        shipped = found.shipped
        held_out = self.material.held_out
        judged = (
            None
            if held_out is None
            else held_out_errors(shipped.maps, shipped.outcomes, shipped.of_private, held_out)
        )
        across = (
            None
            if self.material.regime_rows is None
            else across_regimes(shipped.maps, *self.material.regime_rows)
        )
        design = self._design(binding, found, judged, across)
        report("what would help")
        helps = find_help(self.material.joint, self.keys, binding, shipped)
        figures, words, warnings = findings(
            self.keys, self.material, binding, found, judged=judged, across=across, helps=helps
        )
        figures["seconds"] = time.perf_counter() - begun
        return BuiltDesign(design, figures, words, warnings)

    def _binding(self) -> Budgets:
        """The budgets that the architecture guards, the account's included; others infinite."""
        asked, architecture = self.keys.budgets, self.keys.architecture
        local = math.inf if architecture == "information" else asked.local
        for chain in self.material.chains:
            local = min(local, chain.steady.epsilon)
        return Budgets(math.inf if architecture == "local" else asked.information, local)

    def _confirmed(self, binding: Budgets, report: Report) -> Confirmed:
        keys, held_out = self.keys, self.material.held_out

        def design(information: float) -> ShippedMaps:
            if information < binding.information:
                report(f"maps for a budget of {information:.4g}")
            budgets = Budgets(information, binding.local)
            solution = solve(self.material, keys.architecture, budgets, keys.options, report)
            return ship(self.material.joint, solution, budgets)

        def bound(shipped: ShippedMaps, confidence: float) -> Margin:
            assert held_out is not None
            return information_upper(
                shipped.maps,
                held_out,
                block_seconds=keys.margin.block_seconds,
                confidence=confidence,
            )

        if held_out is not None and keys.margin.enforced and math.isfinite(binding.information):
            return confirmed_design(binding.information, design, bound, keys.margin.confidence)
        shipped = design(binding.information)
        if held_out is None or not len(held_out):
            none = Margin(math.inf, keys.margin.confidence, 0, 0, by_local=True)
            return Confirmed(shipped, none, binding.information, False, ())
        margin = bound(shipped, keys.margin.confidence)
        return Confirmed(
            shipped, margin, binding.information, margin.upper <= binding.information, ()
        )

    def _design(
        self,
        binding: Budgets,
        found: Confirmed,
        judged: HeldOut | None,
        across: AcrossRegimes | None,
    ) -> MappingDesign:
        keys, material, shipped = self.keys, self.material, found.shipped
        achieved = shipped.achieved
        period = keys.repeats.memoise_seconds
        bounded = found.margin.rows > 0
        guards_information = keys.architecture != "local"
        guards_local = keys.architecture != "information"
        return MappingDesign(
            name=keys.name,
            architecture=keys.architecture,
            nodes=tuple(self._node(number, shipped) for number in range(len(keys.nodes))),
            public=material.public_names,
            private=material.private,
            step_ms=round(1000 * keys.step_seconds),
            information_asked=_given(keys.budgets.information) if guards_information else None,
            information=achieved.information,
            regimes=material.regimes,
            information_across=achieved.across,
            information_upper=found.margin.upper if bounded else None,
            confidence=found.margin.confidence if bounded else None,
            local_asked=_given(keys.budgets.local) if guards_local else None,
            public_error=achieved.public_error,
            public_chance=achieved.public_chance,
            private_error=achieved.private_error,
            private_chance=achieved.private_chance,
            repeats="accounted" if period is None else "memoised",
            memoise_steps=None if period is None else max(1, round(period / keys.step_seconds)),
            limit=keys.repeats.alpha,
            horizon=keys.horizon,
            segments=keys.segments,
            knowledge=(
                *material.knowledge,
                *(() if judged is None else (judged_words(judged),)),
                *(() if across is None else (across_words(across),)),
            ),
            outcomes=shipped.outcomes,
        )

    def _node(self, number: int, shipped: ShippedMaps) -> Node:
        fitted, tables = self.material.quantisers[number], shipped.tables[number]
        chain = self.material.chains[number] if self.material.chains else None
        return Node(
            name=self.keys.nodes[number].name,
            columns=self.material.columns[number],
            low=fitted.low,
            high=fitted.high,
            quantiser=fitted.quantiser,
            tables=tables,
            local=local_epsilon(tables),
            backward=chain.backward if chain else INDEPENDENT,
            forward=chain.forward if chain else INDEPENDENT,
            steady_backward=chain.steady.backward if chain else 0.0,
            steady_forward=chain.steady.forward if chain else 0.0,
        )


def read(section: Section, folder: Path) -> MappingRequest:
    """The keys of a mapping, and the files they name.

    Raises:
        FormatError: anything unknown or of the wrong type, or a file that cannot be read.
        MappingError: a log or joint that cannot be used.
    """
    with about(section.where):
        keys = read_keys(section, folder)
    with about(f"{section.where}: design {keys.name!r}"):
        return MappingRequest(keys, read_material(keys))


def solve(
    material: Material,
    architecture: Architecture,
    budgets: Budgets,
    options: Options,
    report: Report,
) -> Solution:
    """The maps of an architecture; ``report`` is told of each of EPIC's starts."""
    if architecture == "epic":
        from precompute.mapping.epic import design_epic

        return design_epic(material.joint, budgets, options, progress=report)
    return design_mapping(material.joint, budgets, architecture, options)


def _given(budget: float) -> float | None:
    return budget if math.isfinite(budget) else None
