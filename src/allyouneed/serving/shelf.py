"""The shelf: the models of a service, by their languages."""

from collections.abc import Sequence
from dataclasses import dataclass

from allyouneed.errors import UsageError
from allyouneed.loading import load
from allyouneed.model_folder.folder import open_model_folder
from allyouneed.serving.languages import code_of
from allyouneed.translation.translator import Translator

WARM_UP = "1 2 3."


@dataclass(frozen=True, slots=True)
class ShelvedModel:
    """A model that is loaded: what it was asked for by, its languages, its translator."""

    name: str
    source: str
    target: str
    translator: Translator


class Shelf:
    """Models that are loaded; no two of the same languages."""

    def __init__(self, models: Sequence[ShelvedModel]) -> None:
        self.models = {(model.source, model.target): model for model in models}
        if len(self.models) < len(models):
            twice = next(
                model for model in models if self.models[model.source, model.target] is not model
            )
            raise UsageError(
                f"two models translate from {twice.source} to {twice.target}, and one of them is "
                f"{twice.name}; leave one out"
            )

    @property
    def sources(self) -> list[str]:
        """Codes of the languages that can be translated from."""
        return sorted({source for source, _ in self.models})

    @property
    def targets(self) -> list[str]:
        """Codes of the languages that can be translated into."""
        return sorted({target for _, target in self.models})

    @property
    def codes(self) -> list[str]:
        """Codes of all languages."""
        return sorted({*self.sources, *self.targets})

    def targets_of(self, source: str) -> list[str]:
        """What can be translated into from this language; itself among them, which copies."""
        return sorted({target for s, target in self.models if s == source} | {source})


def open_shelf(names: Sequence[str], engine: str = "auto", device: str | None = None) -> Shelf:
    """Loads models by name or folder, each ready for its first text; each search uses one thread.

    A folder whose model does not name its languages is given as "en-fr=FOLDER".

    Raises:
        ModelFolderError, UsageError: as `load`; or a model whose languages are not known.
    """
    return Shelf([_shelved(name, engine, device) for name in names])


def _shelved(name: str, engine: str, device: str | None) -> ShelvedModel:
    languages, equals, place = name.partition("=")
    folder = open_model_folder(place if equals else name)
    source, target = languages.split("-", 1) if equals and "-" in languages else folder.languages
    if not (source and target):
        raise UsageError(
            f"{folder.path} does not say which languages it translates; give them: "
            f"--model en-fr={folder.path.name}"
        )
    translator = load(folder, engine, device, 1, kind=Translator)
    translator(WARM_UP)
    return ShelvedModel(name, code_of(source), code_of(target), translator)
