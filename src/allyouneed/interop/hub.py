"""Downloads models by name from the Hugging Face Hub, or from a hub with the same protocol."""

import re
from pathlib import Path
from types import ModuleType

from allyouneed.errors import DataError, ModelFolderError, UsageError
from allyouneed.files import write_whole
from allyouneed.model_folder.places import fetched_home

NAME = re.compile(r"[\w.-]+/[\w.-]+(@[\w./-]+)?")
CONNECT_SECONDS = 20  # the longest wait for the first answer of a hub
WEIGHTS = ("model.safetensors", "model.bin")
WANTED = re.compile(
    r"(model\.safetensors|model\.bin|config\.json|allyouneed\.json|generation_config\.json"
    r"|tokenizer_config\.json"
    r"|special_tokens_map\.json|added_tokens\.json|tokenizer\.json|vocab\.(json|txt)"
    r"|target_vocab\.json|(shared|source|target)_vocabulary\.(json|txt)"
    r"|[\w.-]+\.spm|sentencepiece(\.bpe)?\.model|tokenization_small100\.py|training\.json|README\.md)"
)


def fetch(name: str) -> Path:
    """Downloads the files of the model ORG/NAME (or ORG/NAME@REVISION) that an import needs.
    Returns their folder in the hub's own cache. Files that exist are not downloaded again; if all
    exist, no network is needed.

    Raises:
        UsageError: the name is not a model's, or the package huggingface_hub is missing.
        ModelFolderError: the model's weights exist as a pickle only.
        DataError: the hub cannot be reached, or has no such model.
    """
    if not NAME.fullmatch(name):
        raise UsageError(f"hf:{name} is not the name of a model; give hf:ORG/NAME")
    repository, _, revision = name.partition("@")
    remembered = fetched_home() / "hub" / f"{name.replace('/', '--')}.txt"
    if (folder := _fetched_before(remembered)) is not None:
        return folder
    hub = _hub()
    names = _names(hub, repository, revision or None)
    if not any(weights in names for weights in WEIGHTS):
        pickles = [one for one in names if one.endswith((".bin", ".pt", ".ot", ".h5", ".msgpack"))]
        raise ModelFolderError(
            f"hf:{name} has no model.safetensors, only {', '.join(pickles[:4]) or 'other files'}; "
            "pickles are not downloaded; download the model yourself, and import its folder"
        )
    wanted = [one for one in names if WANTED.fullmatch(one)]
    try:
        folder = Path(
            hub.snapshot_download(repository, revision=revision or None, allow_patterns=wanted)
        )
        remembered.parent.mkdir(parents=True, exist_ok=True)
        write_whole(remembered, str(folder))
    except Exception as error:
        raise DataError(
            f"hf:{name}: {str(error).splitlines()[0]}; the same command resumes the download"
        ) from error
    return folder


def _fetched_before(remembered: Path) -> Path | None:
    """The folder of a model that was downloaded completely before, if it still exists."""
    try:
        folder = Path(remembered.read_text("utf-8"))
    except OSError:
        return None
    return folder if any((folder / weights).is_file() for weights in WEIGHTS) else None


def _hub() -> ModuleType:
    try:
        import huggingface_hub
        import huggingface_hub.constants
        import huggingface_hub.errors
        import huggingface_hub.utils
    except ImportError as error:
        raise UsageError(
            f"hf: needs huggingface_hub ({error}); install it with: pip install 'allyouneed[hub]'"
        ) from error
    return huggingface_hub


def _names(hub: ModuleType, repository: str, revision: str | None) -> list[str]:
    """The names of a model's files.

    Raises:
        DataError: the hub cannot be reached, or has no such model.
    """
    try:
        # Without a connection this request fails at once; that for the list is repeated for 23 s.
        hub.utils.get_session().head(hub.constants.ENDPOINT, timeout=CONNECT_SECONDS)
        return list(hub.list_repo_files(repository, revision=revision))
    except hub.errors.RepositoryNotFoundError as error:
        raise DataError(
            f"hf:{repository}: the hub has no such model, or it is not public"
        ) from error
    except hub.errors.RevisionNotFoundError as error:
        raise DataError(f"hf:{repository}: there is no revision {revision!r}") from error
    except Exception as error:
        raise DataError(
            f"hf:{repository}: the hub cannot be reached ({str(error).splitlines()[0]}), and the "
            "model was not downloaded before"
        ) from error
