"""What a training run would be, without running it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from allyouneed.core.config import TransformerConfig
    from allyouneed.training.recipe import Recipe


def plan(recipe: "Recipe") -> dict[str, Any]:
    """The recipe as resolved, the size of its model, and the files of its corpora.

    Raises:
        DataError: a corpus that is not there.
        ModelFolderError: a model to start from that cannot be read.
    """
    import torch

    from allyouneed.core.transformer import Transformer
    from allyouneed.training.preparation import corpora_of
    from allyouneed.training.recipe import to_toml

    config = planned_config(recipe)
    with torch.device("meta"):
        model = Transformer(config)
    data = []
    for part in ("train", "valid"):
        for section in getattr(recipe.data, part):
            for corpus in corpora_of(recipe, section):
                files = {str(path): path.stat().st_size for path in corpus.files}
                data.append({"part": part, "corpus": corpus.name, "files": files})
    return {
        "recipe": to_toml(recipe),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "vocabulary": config.vocabulary,
        "data": data,
    }


def planned_config(recipe: "Recipe") -> "TransformerConfig":
    """The model's shape; a vocabulary that is yet to be learned counts with its full size."""
    from allyouneed.model_folder import open_model_folder
    from allyouneed.text.tokenizer import Tokenizer

    if recipe.training.init:
        folder = open_model_folder(recipe.training.init)
        return recipe.model.config(len(folder.tokenizer), folder.config)
    if recipe.vocabulary.tokenizer:
        tokenizer = Tokenizer.load(recipe.locate(recipe.vocabulary.tokenizer))
        return recipe.model.config(len(tokenizer))
    return recipe.model.config(recipe.vocabulary.size)


def as_text(planned: dict[str, Any]) -> str:
    """The recipe, which can be saved and run, with the rest as comments below it."""
    lines = [
        planned["recipe"],
        f"# {planned['parameters']:,} parameters, vocabulary of {planned['vocabulary']:,}",
    ]
    for corpus in planned["data"]:
        sizes = [f"{path} ({size:,} bytes)" for path, size in corpus["files"].items()]
        lines.append(f"# {corpus['part']}: {', '.join(sizes) or corpus['corpus']}")
    return "\n".join(lines)
