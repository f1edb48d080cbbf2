"""The model card: a README for a model folder, made from the facts of the run."""

from collections.abc import Mapping
from typing import Any

from allyouneed.training.recipe.schema import CommonRecipe
from allyouneed.training.report.measures import measured


def model_card(recipe: CommonRecipe, facts: Mapping[str, Any]) -> str:
    """The model card in Markdown. `facts` is the content of training.json."""
    languages = " → ".join(filter(None, (recipe.source_language, recipe.target_language)))
    scores = f"- validation loss: {facts['validation_loss']:.3f} nats per {facts['unit']}"
    found = {key.removeprefix("validation_"): value for key, value in facts.items()}
    for measure, value in measured(found):
        signature = f" (`{facts['signature']}`)" if measure.key == "bleu" else ""
        scores += f"\n- validation {measure.name}: {measure.written(value)}{signature}"
    for direction, value in facts.get("validation_bleu_by_direction", {}).items():
        scores += f"\n- validation BLEU {direction}: {value:.1f}"
    return f"""# {recipe.name}{f": {languages}" if languages else ""}

{recipe.description or "A Transformer trained with allyouneed."}

## Data and licence

{recipe.licence or "The licence of the training data was not stated in the recipe."}

## How it was made

    {facts["command"]}

{facts["parameters"]:,} parameters; {facts["steps"]:,} steps, {facts["epochs"]} epochs,
{facts["target_tokens"]:,} {facts["unit"]}s, {facts["minutes"]} minutes. The model is
{facts["weights"]}. The recipe in full is in `training.json`.

## Scores

{scores}
"""
