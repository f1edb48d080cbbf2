"""The Transformer of "Attention Is All You Need", and all you need around it.

    import allyouneed

    translator = allyouneed.load("en-de")
    print(translator("A man rides a bike.").text)

`load` gives a `Translator`, or an `EncoderModel` for a model without a decoder.

The names in `__all__` are the public interface. Each is imported when it is first used, so that
`import allyouneed` takes no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "AllYouNeedError",
    "attention_view",
    "capture",
    "Chat",
    "EncoderModel",
    "EncoderOnly",
    "intervene",
    "load",
    "load_ensemble",
    "look",
    "Prediction",
    "Tokenizer",
    "trace",
    "train",
    "Transformer",
    "TransformerConfig",
    "Translation",
    "Translator",
]

if TYPE_CHECKING:
    from allyouneed.chat import Chat
    from allyouneed.core.config import TransformerConfig
    from allyouneed.core.encoder_only import EncoderOnly
    from allyouneed.core.transformer import Transformer
    from allyouneed.encoder_only.model import EncoderModel
    from allyouneed.encoder_only.prediction import Prediction
    from allyouneed.errors import AllYouNeedError
    from allyouneed.insight.capture import capture
    from allyouneed.insight.intervene import intervene
    from allyouneed.insight.trace import trace
    from allyouneed.loading import load, load_ensemble
    from allyouneed.text.tokenizer import Tokenizer
    from allyouneed.training.run import train
    from allyouneed.translation.result import Translation
    from allyouneed.translation.translator import Translator
    from allyouneed.widget.notebook import look
    from allyouneed.widget.plain import attention_view
else:
    _HOME = {
        "AllYouNeedError": "allyouneed.errors",
        "attention_view": "allyouneed.widget.plain",
        "capture": "allyouneed.insight.capture",
        "Chat": "allyouneed.chat",
        "EncoderModel": "allyouneed.encoder_only.model",
        "EncoderOnly": "allyouneed.core.encoder_only",
        "intervene": "allyouneed.insight.intervene",
        "load": "allyouneed.loading",
        "load_ensemble": "allyouneed.loading",
        "look": "allyouneed.widget.notebook",
        "Prediction": "allyouneed.encoder_only.prediction",
        "Tokenizer": "allyouneed.text.tokenizer",
        "trace": "allyouneed.insight.trace",
        "train": "allyouneed.training.run",
        "Transformer": "allyouneed.core.transformer",
        "TransformerConfig": "allyouneed.core.config",
        "Translation": "allyouneed.translation.result",
        "Translator": "allyouneed.translation.translator",
    }

    def __getattr__(name):
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from allyouneed.errors import needs_torch

        with needs_torch(f"allyouneed.{name}"):
            return getattr(import_module(_HOME[name]), name)

    def __dir__():
        return sorted({*globals(), *__all__})
