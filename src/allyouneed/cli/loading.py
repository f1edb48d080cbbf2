"""Opens a model for a verb, and writes notes about it to standard error."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from allyouneed.cli.document_place import codes_in_names
from allyouneed.cli.output import note
from allyouneed.errors import UsageError
from allyouneed.text.language_names import is_known, name_of

DEFAULT_MODEL = "en-de"
VIA = "en"  # the language between two bundled models

if TYPE_CHECKING:
    from allyouneed.chat import Chat
    from allyouneed.encoder_only.model import EncoderModel
    from allyouneed.text.languages import Languages
    from allyouneed.translation.stream import Stream
    from allyouneed.translation.translator import Translator


def opened(
    model: str,
    engine: str,
    device: str | None,
    threads: int | None,
    debug: bool,
    vocabulary_selection: bool = False,
) -> "Translator":
    """Opens the translator. A note tells if another engine runs than was asked for; with `debug`, a
    note always names the engine.

    Raises:
        ModelFolderError, UsageError: as `allyouneed.load`.
    """
    from allyouneed.loading import load
    from allyouneed.translation.translator import Translator

    translator = load(
        model,
        engine,
        device,
        threads,
        vocabulary_selection=vocabulary_selection,
        kind=Translator,
    )
    tell(translator)
    if debug:
        note(f"engine {translator.engine.name}: {translator.engine.description}")
    return translator


def language_of_place(
    model: str, place: Path, sources: Sequence[str], source: str | None = None
) -> str | None:
    """The target language that the name of a translated file or folder says, such as fr of
    report.fr.docx. None if `model` is not the default, or if no bundled model translates into that
    language. What the names of the `sources` say, too, is the language of these: docs/en/a.txt
    beside docs/en/b.txt. A note tells a language that is not the default model's, and a language
    that the name says in vain, with the one that is used: without a name, the language into which
    the bundled models translate from the language `source`.
    """
    if model != DEFAULT_MODEL:
        return None
    own = {code for one in sources for code in codes_in_names(Path(one))}
    codes = [code for code in codes_in_names(place) if code not in own]
    if not codes:
        return None
    speaks = _bundled()
    chosen = next((one for one in codes if _first_allowing(speaks, None, one)), None)
    other = f"--to LANGUAGE --output {place} chooses another language"
    said = codes[0]
    if said != chosen and f".{said}." in place.name.lower() and is_known(said):
        found = None if chosen else _first_allowing(speaks, source, None)
        used = speaks[found].direction(source).target if found else chosen
        instead = f"; translated into {name_of(used)}; {other}" if used else ""
        note(
            f"{place}: the name says {name_of(said)}, but no bundled model translates into it"
            + instead
        )
    elif chosen and not speaks[model].allows(None, chosen):
        note(f"{place}: translated into {name_of(chosen)}, as the name says; {other}")
    return chosen


def _bundled() -> "dict[str, Languages]":
    """The languages of the bundled models. The default model is the first, and models of few
    languages precede models of many."""
    from allyouneed.model_folder.folder import bundled_models, open_model_folder

    speaks = {name: open_model_folder(name).speaks for name in bundled_models()}
    names = sorted(speaks, key=lambda name: (name != DEFAULT_MODEL, len(speaks[name].codes)))
    return {name: speaks[name] for name in names}


def _first_allowing(
    speaks: "Mapping[str, Languages]", source: str | None, target: str | None
) -> str | None:
    """The name of the first model that translates from `source` into `target`."""
    return next((name for name, one in speaks.items() if one.allows(source, target)), None)


def models_of_direction(
    model: str, source: str | None, target: str | None, texts: Iterable[str] = ()
) -> tuple[str, ...]:
    """The bundled model that translates from `source` into `target`, in place of the default model
    where that one does not; a note names it. Where no model does, two of them that translate into
    English and out of it. In every other case, `model`. Without a `source`, the language of `texts`
    decides between several models; in other cases `texts` is not read.

    Raises:
        UsageError: the default model is asked for, and no bundled model has these languages.
    """
    if model != DEFAULT_MODEL or not (source or target):
        return (model,)
    from allyouneed.text.language_check import SURE, likeliest

    speaks = _bundled()
    one = partial(_first_allowing, speaks)
    if source is None:
        possible = [way[0] for languages in speaks.values() for way in languages.directions()]
        fitting = dict.fromkeys(code for code in possible if one(code, target))
        if len(fitting) > 1:
            source = likeliest(" ".join(texts), list(fitting), SURE) or None
    if found := one(source, target):
        if found != model:
            note(f"the bundled model {found} translates this direction")
        return (found,)
    if source and target and (first := one(source, VIA)) and (second := one(VIA, target)):
        return first, second
    ways = sorted({"-".join(way) for one in speaks.values() for way in one.directions()})
    into = " ".join(f"{what} {name}" for what, name in (("from", source), ("into", target)) if name)
    raise UsageError(
        f"no bundled model translates {into}; they translate {', '.join(ways)}, and through "
        "English what these make together. `allyouneed import` takes in other models, and --model "
        "names one"
    )


def tell(told: "Translator | Chat | Stream") -> None:
    """Writes the notes of a translator, a reply or a streamed translation to standard error."""
    for text in told.notes:
        note(text)


def opened_encoder(
    model: str | None, device: str | None, threads: int | None, recipe: str
) -> "EncoderModel":
    """Opens the model without a decoder in the folder `model`; `recipe` names a recipe for one.

    Raises:
        ModelFolderError, UsageError: as `EncoderModel.open`.
        UsageError: no folder is given.
    """
    if model is None:
        raise UsageError(
            "--model is missing, and the package has no model for this task; train one with "
            f"`allyouneed train {recipe}`, then add --model runs/{recipe}/model"
        )
    from allyouneed.encoder_only.model import EncoderModel
    from allyouneed.model_folder.folder import open_model_folder

    return EncoderModel.open(open_model_folder(model), device, threads)
