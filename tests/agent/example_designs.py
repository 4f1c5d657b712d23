"""Small designs that several tests use. Their guarantees are well-formed, not computed."""

from dataclasses import replace
from typing import Any

import numpy as np

from agent.formats.designs import (
    Component,
    FloatArray,
    Guarantee,
    StreamDesign,
    WindowDesign,
)
from agent.formats.leakage_design import LeakageDesign
from agent.formats.leakage_table import LeakageTable

FAMILIES = {
    "matern12": Component("matern12", 3.0e4, 60.0),
    "matern32": Component("matern32", 1.0e4, 45.0),
    "matern52": Component("matern52", 2.0e4, 90.0),
    "oscillator": Component("oscillator", 1.5e4, 120.0, 40.0),
}


def guarantee(segments: int = 1) -> Guarantee:
    return Guarantee(
        prior=("squared exponential, lengthscale 30 s to 14 d",),
        secrets="where you are at any one time",
        radius=500.0,
        information_limit=1.0e-5,
        worst_information=9.5e-6,
        segments=segments,
        rho=0.03125,
        epsilon=0.96,
        delta=1.0e-3,
        variance_free=True,
    )


def stream(
    *components: Component, axes: tuple[str, ...] = ("east", "north"), segments: int = 1
) -> StreamDesign:
    return StreamDesign(
        name="location",
        axes=axes,
        unit="m",
        grid=0.01,
        components=components or tuple(FAMILIES.values()),
        guarantee=guarantee(segments),
    )


def window(
    factor: FloatArray | None = None, axes: tuple[str, ...] = ("value",), segments: int = 1
) -> WindowDesign:
    return WindowDesign(
        name="trip",
        axes=axes,
        unit="Cel",
        grid=0.01,
        step_ms=1000,
        factor=lower_factor(5) if factor is None else factor,
        guarantee=guarantee(segments),
    )


def lower_factor(n: int) -> FloatArray:
    """Exact binary fractions, so that golden bytes do not depend on anyone's arithmetic."""
    rows = np.arange(n)[:, None]
    columns = np.arange(n)[None, :]
    factor: FloatArray = np.tril(2.0 ** -(rows - columns).astype(np.float64))
    return factor


def rooms(**changes: Any) -> LeakageDesign:
    """Three states; the tables are made of exact binary fractions."""
    design = LeakageDesign(
        name="rooms",
        states=("bed", "hall", "küche"),
        width=None,
        mechanism="randomised_response",
        policy="adaptive",
        step_ms=600_000,
        limit=1.0,
        epsilon=0.125,
        steady_backward=0.5,
        steady_forward=0.5,
        horizon=9,
        segments=4,
        memoise_steps=None,
        elsewhere=None,
        regions=None,
        knowledge=("how likely each of 3 states was one step earlier, given the present one",),
        backward=LeakageTable((0.0, 1.5), (0.75, 0.5), (0.25, 0.0)),
        forward=LeakageTable((0.0,), (0.75,), (0.25,)),
    )
    return replace(design, **changes)
