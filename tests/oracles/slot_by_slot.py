"""A steady cadence, one slot at a time, straight from its rule."""


def slots(times_ms, every):
    """[(slot, index of the fix it stands for)] for ascending whole milliseconds."""
    found = []
    slot = -(-times_ms[0] // every) * every
    while slot <= times_ms[-1]:
        before = [i for i, t in enumerate(times_ms) if t <= slot]
        if before and before[-1] not in [fix for _, fix in found]:
            found.append((slot, before[-1]))
        slot += every
    return found
