"""The shelf: the models of a service, by their languages."""

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import PurePath

from allyouneed.errors import AllYouNeedError, UsageError
from allyouneed.loading import load
from allyouneed.model_folder.folder import ModelFolder, open_model_folder
from allyouneed.pipeline import processors
from allyouneed.text.language_names import code_of
from allyouneed.text.languages import UNNAMED, Direction
from allyouneed.translation.translator import Translator

WARM_UP = "1 2 3."


class NotOpened(AllYouNeedError):
    """A model that cannot be opened, and why. `model` is its name, for logs: a folder's without the
    path to it, which stands in the message."""

    def __init__(self, name: str, reason: AllYouNeedError) -> None:
        super().__init__(str(reason))
        self.exit_code = reason.exit_code
        self.model = PurePath(name.rpartition("=")[2]).name


@dataclass(frozen=True, slots=True)
class ShelvedModel:
    """A loaded model for one of its directions: the name that it was asked for by, the codes of
    its languages, the direction as the model is told it, and the folder that it was read from."""

    name: str
    source: str
    target: str
    translator: Translator
    direction: Direction = UNNAMED
    folder: ModelFolder | None = None


class Shelf:
    """The loaded models, one for each direction, and the directions that lead through a third
    language. A direction that several models translate belongs to the one with fewest directions: a
    model of two languages goes before a model of many."""

    def __init__(self, models: Sequence[ShelvedModel]) -> None:
        directions = Counter(model.name for model in models)
        self.models: dict[tuple[str, str], ShelvedModel] = {}
        for model in sorted(models, key=lambda one: directions[one.name]):
            kept = self.models.setdefault((model.source, model.target), model)
            if kept is not model and directions[kept.name] == directions[model.name]:
                raise UsageError(
                    f"two models translate from {model.source} to {model.target}, and one of them "
                    f"is {model.name}; leave one out"
                )
        self.sources = sorted({source for source, _ in self.models})
        self.targets = sorted({target for _, target in self.models})
        self.codes = sorted({*self.sources, *self.targets})
        self._targets: dict[str, set[str]] = {code: {code} for code in self.codes}
        for source, target in self.models:
            self._targets[source].add(target)
        ways = ((one, other) for one in self.sources for other in self.targets if one != other)
        self.pivoted = {way: via for way in ways if (via := self._between(*way))}
        """The language between for each (source, target) that two models translate in turn."""
        for source, target in self.pivoted:
            self._targets[source].add(target)

    def _between(self, source: str, target: str) -> str | None:
        """The language that leads from `source` into `target` where no model does: English if it
        can, else the first that can; None where there is a model, or no way."""
        if (source, target) in self.models:
            return None
        found = [via for via in self.codes if {(source, via), (via, target)} <= self.models.keys()]
        return min(found, key=lambda code: code.partition("-")[0] != "en", default=None)

    def targets_of(self, source: str) -> list[str]:
        """The target languages for this source language. The language itself is one of them: such a
        text is copied."""
        return sorted(self._targets[source])


def open_shelf(names: Sequence[str], engine: str = "auto", device: str | None = None) -> Shelf:
    """Loads models by name or folder, each ready for its first text; each search uses one thread.
    Several models are loaded at the same time.

    A folder whose model does not name its languages is given as "en-fr=FOLDER".

    Raises:
        NotOpened: as `load` raises; or a model whose languages are not known.
        UsageError: two models for the same languages.
    """
    with ThreadPoolExecutor(min(processors(), len(names))) as pool:
        found = [pool.submit(_shelved, name, engine, device) for name in names]
    models = []
    for name, one in zip(names, found, strict=True):
        try:
            models += one.result()
        except AllYouNeedError as error:
            raise NotOpened(name, error) from error
    return Shelf(models)


def _shelved(name: str, engine: str, device: str | None) -> list[ShelvedModel]:
    """A model in all its directions."""
    languages, equals, place = name.partition("=")
    folder = open_model_folder(place if equals else name)
    translator = load(folder, engine, device, 1, kind=Translator)
    if equals:
        source, _, target = languages.partition("-")
        directions = [(source, target, UNNAMED)]
    else:
        directions = [
            (source, target, translator.speaks.direction(source, target))
            for source, target in translator.directions
        ]
    if not directions or not all(source and target for source, target, _ in directions):
        raise UsageError(
            f"{folder.path} does not say which languages it translates; give them: "
            f"--model en-fr={folder.path.name}"
        )
    source, target, direction = directions[0]
    translator(WARM_UP, source=direction.source or None, target=direction.target or None)
    return [
        ShelvedModel(name, code_of(source), code_of(target), translator, direction, folder)
        for source, target, direction in directions
    ]
