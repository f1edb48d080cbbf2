"""The measured effect of switching a head off.

S source tokens · T target tokens
"""

import math

import torch

from allyouneed.decoding.options import BeamOptions
from allyouneed.decoding.scoring import score_targets
from allyouneed.engine.torch_engine import core_engine
from allyouneed.insight.trace import Trace
from allyouneed.translation.job import ids_of_prefix
from allyouneed.translation.translator import Translator
from allyouneed.widget.questions import ViewState


def effect(translator: Translator, before: Trace, state: ViewState) -> tuple[float, str]:
    """The effect of the model's present changes: by how many nats the log-probability of the target
    found before has changed, and the text that the model finds now."""
    model, tokenizer = translator.model, translator.tokenizer
    source_1S = torch.tensor([[one.id for one in before.source]], device=translator.device)
    target_1T = torch.tensor([[one.id for one in before.target]], device=translator.device)
    [now] = score_targets(model, source_1S, target_1T)
    prefix = ids_of_prefix(tokenizer, state.prefix)
    options = translator.rules.searching(BeamOptions(beam=state.beam))
    source = [one.id for one in before.source]
    [[best]] = core_engine(model).search([source], options, [prefix] if prefix else None)
    change = math.fsum(now) - math.fsum(step.log_probability for step in before.steps)
    return change, tokenizer.target.decode(best.ids).strip()
