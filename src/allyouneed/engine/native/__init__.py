"""The native engine: C++ behind a plain C interface, for CPUs."""

from allyouneed.core.config import TransformerConfig


def why_not(config: TransformerConfig) -> str | None:
    """Why the native engine cannot run such a model here; None where it can.

    Raises:
        UsageError: $ALLYOUNEED_CPU names no variant that this processor can run.
    """
    from allyouneed.engine.native.library import NoLibrary, find_library

    try:
        find_library()
    except NoLibrary as error:
        return str(error)
    return None
