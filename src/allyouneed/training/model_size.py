"""Checks, by arithmetic and without torch, that this machine can hold a recipe's model."""

from allyouneed.device import machine_memory
from allyouneed.errors import TrainingError
from allyouneed.model_folder.weights.shapes import FLOAT, count_positions, count_weights
from allyouneed.training.recipe.schema import CommonRecipe


def check_can_be_built(recipe: CommonRecipe) -> None:
    """Checks that the weights of a recipe's new model fit into the machine's memory. A model to
    start from is not checked, because it exists.

    Raises:
        TrainingError: they do not fit.
    """
    memory = machine_memory()
    if recipe.training.init is not None or memory is None:
        return
    config = recipe.model.config(recipe.vocabulary.size)
    weights = count_weights(config)
    if FLOAT * (weights + count_positions(config)) > memory:
        raise TrainingError(
            f"the model has {weights:,} weights and {config.max_positions:,} positions, and this "
            f"machine has {memory:,} bytes of memory; lower model.d_model ({config.d_model}), "
            f"model.d_ff ({config.d_ff}), the layers ({config.encoder_layers} and "
            f"{config.decoder_layers}) or model.max_positions"
        )
