"""Descriptors: how many files and connections the system lets this process have open."""

from contextlib import suppress

# Descriptors that connections do not get: for files of models, keys and documents, and for
# connections that were accepted and are about to be refused.
RESERVED = 256


def connections_possible(wanted: int) -> int:
    """How many of the wanted connections can be open at a time. The soft limit of this process's
    descriptors is raised to what the connections need, if the system allows that."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows has no such limit
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + RESERVED
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return wanted
    raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    with suppress(OSError, ValueError):  # macOS has one more limit, which is not told
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        soft = raised
    return min(wanted, max(soft - RESERVED, soft // 2))
