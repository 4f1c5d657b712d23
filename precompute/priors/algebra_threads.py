"""Many small matrices at once: one thread each is far faster than many threads each."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_algebra_thread() -> Iterator[None]:
    """Within it, numpy's and scipy's linear algebra uses one thread.

    On a busy two-core machine the eigenvalues of a 120 x 120 matrix take 1 ms with one thread
    and up to 100 ms with two, which wait for each other.
    """
    import scipy.linalg  # noqa: F401 - brings a library of its own, which must be there to be limited
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield
