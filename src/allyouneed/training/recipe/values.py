"""The values that keys of a recipe may have, and the base of all its sections."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo

from allyouneed.model_folder.folder import bundled_models

Language = Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]+)*$")]
Share = Annotated[float, Field(ge=0, lt=1)]
Chance = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
NaturalNumber = Annotated[int, Field(ge=0)]


def _anchor(path: Path, info: ValidationInfo) -> Path:
    """The path, made absolute if it exists relative to one of the context's folders."""
    path = path.expanduser()
    places = [folder / path for folder in (info.context or {}).get("folders", ())]
    return next((place for place in places if place.exists()), path)


def _anchor_model(name: str, info: ValidationInfo) -> str:
    """A model folder's path, made absolute like other paths. The name of a bundled model, and a
    path that does not exist, are not changed ("./en-de" is not the name of a bundled model)."""
    path = _anchor(Path(name), info)
    return str(path) if path.is_absolute() and name not in bundled_models() else name


File = Annotated[Path, AfterValidator(_anchor)]
Model = Annotated[str, Field(min_length=1), AfterValidator(_anchor_model)]
Models = Model | Annotated[tuple[Model, ...], Field(min_length=1)]


class Section(BaseModel):
    """A table of the recipe: frozen, without unknown keys, and without conversions of types."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        protected_namespaces=(),
    )
