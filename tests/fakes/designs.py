"""Small designs with known noise, written straight as values."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from agent.formats.bundle import write_bundle
from agent.formats.designs import Component, Design, Guarantee, StreamDesign, WindowDesign


def guarantee(*, radius: float = 500.0, segments: int = 3) -> Guarantee:
    """A promise with made-up numbers."""
    return Guarantee(
        prior=("rbf, lengthscale 30 s to 14 d",),
        secrets="every reading",
        radius=radius,
        information_limit=1e-6,
        worst_information=1e-6,
        segments=segments,
        rho=0.1,
        epsilon=1.0,
        delta=1e-3,
        variance_free=True,
    )


def location_stream(
    name: str = "location", *, std: float = 200.0, grid: float = 0.01, segments: int = 3
) -> StreamDesign:
    """Two axes in metres."""
    half = std * std / 2
    return StreamDesign(
        name=name,
        axes=("east", "north"),
        unit="m",
        grid=grid,
        components=(Component("matern32", half, 600.0), Component("matern12", half, 86400.0)),
        guarantee=guarantee(segments=segments),
    )


def temperature_window(
    name: str = "temperature", *, rows: int = 96, step_ms: int = 900_000, segments: int = 64
) -> WindowDesign:
    """One axis in Cel; noise shaped like a daily routine, kappa = 4."""
    hours = np.arange(rows) * step_ms / 3.6e6
    lag = np.abs(hours[:, None] - hours[None, :])
    covariance = 4.0 * np.exp(-2 * np.sin(np.pi * lag / 24) ** 2) + 1e-6 * np.eye(rows)
    return WindowDesign(
        name=name,
        axes=("value",),
        unit="Cel",
        grid=0.01,
        step_ms=step_ms,
        factor=np.linalg.cholesky(covariance),
        guarantee=guarantee(radius=0.5, segments=segments),
    )


def write_designs(path: Path, designs: Sequence[Design]) -> str:
    """A bundle file; returns the digest to pin."""
    content = write_bundle(designs)
    path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()
