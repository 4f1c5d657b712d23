"""Time that moves when told to."""


class FakeClock:
    """Callable like time.monotonic; ``sleep`` moves it."""

    def __init__(self, now=1000.0):
        self.now = now
        self.slept = []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds
