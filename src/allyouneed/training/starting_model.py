"""The model that training starts from, and what the new model takes from it where the recipe is
silent: languages, normaliser, tokenizer, alignment heads."""

from dataclasses import asdict

from allyouneed.core.config import TransformerConfig
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.errors import ModelFolderError, RecipeError
from allyouneed.model_folder.folder import ModelFolder, open_model_folder
from allyouneed.text.languages import TARGET, Languages
from allyouneed.text.opening import own_tokenizer
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.training.recipe.schema import PairsRecipe


def start_from(recipe: PairsRecipe) -> ModelFolder | None:
    """The model that training.init names; None if it names none.

    Raises:
        ModelFolderError: the model cannot be read, or has no decoder.
        RecipeError: the recipe's [model] is another model.
        UsageError: its tokenizer is not this project's own.
    """
    if recipe.training.init is None:
        return None
    init = translating(recipe.training.init, "training.init")
    if init.multilingual is not None and not recipe.directions:
        raise RecipeError(
            f"the model of {init.path} is told its languages ({', '.join(init.speaks.codes)}), and "
            "the corpora name none; give each source_language and target_language"
        )
    check_same_model(init, recipe.model.config(len(tokenizer_of(init)), init.config))
    return init


def languages_of(recipe: PairsRecipe, init: ModelFolder | None) -> tuple[str, str]:
    """The languages (source, target) of the recipe. If it names none, the languages of the model
    that training starts from, otherwise of the teacher. Empty if unknown, and for a recipe whose
    corpora name their languages.

    Raises:
        ModelFolderError: the teacher cannot be read.
    """
    own = recipe.source_language, recipe.target_language
    if any(own) or recipe.directions:
        return own
    if init is not None:
        return init.languages
    for section in recipe.data.train:
        if section.distill is not None:
            return translating(section.teachers[0], "distill").languages
    return own


def normaliser_of(recipe: PairsRecipe, init: ModelFolder | None) -> str | None:
    """The normaliser of the recipe. If it names none, the one of the model that training starts
    from."""
    return recipe.data.normaliser or (init.normaliser if init else None)


def alignment_heads_of(recipe: PairsRecipe, init: ModelFolder | None) -> AlignmentHeads | None:
    """The attention heads from which alignments are read: the head that learns alignments,
    otherwise the heads of the model that training starts from."""
    if recipe.guided_alignment is not None:
        return recipe.guided_alignment.heads
    return init.alignment_heads if init else None


def length_penalty_of(recipe: PairsRecipe, init: ModelFolder | None) -> float | None:
    """The alpha of the length penalty (Wu et al. 2016) for the folder of the trained model: that of
    the recipe; without one, that of the model that training starts from; else None."""
    own = recipe.validation.length_penalty
    return own if own is not None or init is None else init.length_penalty


def tokenizer_of(init: ModelFolder) -> Tokenizer:
    """The tokenizer of the model that training starts from.

    Raises:
        UsageError: it is not this project's own tokenizer.
    """
    return own_tokenizer(init.tokenizer, f"training.init={init.path}")


def translating(name: str, key: str) -> ModelFolder:
    """The model that a key of the recipe names.

    Raises:
        ModelFolderError: it cannot be read, or has no decoder; the message names the key.
    """
    try:
        folder = open_model_folder(name)
        folder.check_translates()
    except ModelFolderError as error:
        raise ModelFolderError(f"{key}: {error}") from error
    return folder


def multilingual_of(recipe: PairsRecipe, tokenizer: Tokenizer) -> Languages | None:
    """The languages and marks of a model of several directions. A source begins with the mark of
    its target language, which tells the model the direction (Johnson et al. 2017). None if the
    corpora name no languages.

    Raises:
        UsageError: the tokenizer has no mark for a language.
    """
    if not recipe.directions:
        return None
    targets = languages_into(recipe)
    return Languages(
        sources=tuple(sorted({source for source, _ in recipe.directions})),
        targets=targets,
        marks={code: (tokenizer.mark(code),) for code in targets},
        source_begins_with=TARGET,
        only=frozenset(recipe.directions),
    )


def languages_into(recipe: PairsRecipe) -> tuple[str, ...]:
    """The target languages that the corpora name, sorted."""
    return tuple(sorted({target for _, target in recipe.directions}))


def check_same_model(init: ModelFolder, config: TransformerConfig) -> None:
    """Raises RecipeError if the recipe's [model] differs from the model of `init`."""
    free = {"dropout", "attention_dropout", "activation_dropout", "dropout_before_activation"}
    if config.positions not in ("learned", "stored"):
        free.add("max_positions")
    theirs = asdict(init.config)
    changed = [
        f"model.{key}={value}"
        for key, value in asdict(config).items()
        if key not in free and value != theirs[key]
    ]
    if changed:
        raise RecipeError(
            f"{', '.join(changed)}: training starts from the weights of {init.path}, whose model "
            f"differs in these keys; leave them out (you may set {', '.join(sorted(free))})"
        )
