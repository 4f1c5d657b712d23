"""Made-up logs of a room: what its nodes read, whether it needs air, whether it is in use."""

from datetime import datetime, timedelta

import numpy as np

MONDAY = datetime(2030, 3, 4)
HEADER = "time,light,co2,humidity,sound,ventilate,occupied"


def write_room(path, minutes, *, start=MONDAY, seed=1):
    """A row each minute: need of air lasts, use of the room lasts, and they are related a little.

    Light and sound follow the use of the room more, carbon dioxide and humidity the need of air.
    """
    chance = np.random.default_rng(seed)
    stale = in_use = False
    lines = [HEADER]
    for minute in range(minutes):
        if chance.random() < 0.04:
            in_use = bool(chance.random() < 0.4)
        if chance.random() < 0.05:
            stale = bool(chance.random() < (0.6 if in_use else 0.4))
        light = max(0.0, 60 + 150 * in_use + 40 * stale + 40 * chance.normal())
        co2 = 520 + 380 * stale + 60 * in_use + 90 * chance.normal()
        humidity = 38 + 9 * stale + 4 * chance.normal()
        sound = 30 + 14 * in_use + 3 * stale + 5 * chance.normal()
        now = start + timedelta(minutes=minute)
        numbers = f"{light:.0f},{co2:.0f},{humidity:.1f},{sound:.1f}"
        answers = f"{'yes' if stale else 'no'},{'in use' if in_use else 'empty'}"
        lines.append(f"{now:%Y-%m-%dT%H:%M:%SZ},{numbers},{answers}")
    path.write_text("\n".join(lines) + "\n")
