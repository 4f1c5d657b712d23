"""A trace as CSV, for the demonstration's own made-up input: never for what a device has read."""

from pathlib import Path

from agent.formats.traces import Trace

HEADER = "t,lat,lon"


def write_csv(trace: Trace, path: Path) -> None:
    """Write ``t,lat,lon`` rows: Unix seconds and degrees with 7 decimals (1 cm)."""
    rows = zip(
        trace.times_seconds.tolist(), trace.latitude.tolist(), trace.longitude.tolist(), strict=True
    )
    with path.open("w", encoding="ascii", newline="\n") as stream:
        stream.write(f"{HEADER}\n")
        stream.writelines(f"{t:.15g},{lat:.7f},{lon:.7f}\n" for t, lat, lon in rows)
