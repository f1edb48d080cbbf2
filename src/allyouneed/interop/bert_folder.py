"""Imports a BERT folder written by Hugging Face's `save_pretrained`, and exports a model folder to
one."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from safetensors.torch import save_file

from allyouneed.errors import ConfigError, ModelFolderError, ShapeError
from allyouneed.interop.bert import from_bert, to_bert
from allyouneed.interop.bert_tokenizer import read_bert_tokenizer, tokenizer_files
from allyouneed.interop.new_folder import new_folder
from allyouneed.interop.pretrained import read_table, read_tensors
from allyouneed.model_folder.config import Heads
from allyouneed.model_folder.folder import (
    CARD,
    CONFIG,
    WEIGHTS,
    ModelFolder,
    open_model_folder,
    save_model_folder,
)
from allyouneed.model_folder.traits import Traits
from allyouneed.model_folder.weights.model import check_finite
from allyouneed.text.opening import encoder_tokenizer

CARD_OF_IMPORT = """\
# {name}

Imported from {source}, a BERT model of Hugging Face. Its licence is that of the model it was made
from.

- {layers} layers, d_model {d_model}, {heads} heads, {pieces:,} pieces
- what it can be asked: {asked}
"""
CARD_OF_EXPORT = """\
# {name} for transformers

Exported by allyouneed; loads with `pip install transformers torch`.

```python
from transformers import AutoTokenizer, {architecture}
tokenizer = AutoTokenizer.from_pretrained(".")
model = {architecture}.from_pretrained(".")
found = model(**tokenizer("Good morning!", return_tensors="pt"))
```
"""


def import_bert(source: Path, into: Path, *, note: Callable[[str], None]) -> ModelFolder:
    """Writes the model of the folder `source` to `into`, which must be empty or must not exist.

    `note` receives the settings that training here does not follow.

    Raises:
        ModelFolderError: files are missing, damaged or hold more than tensors, the vocabulary does
            not fit, or `into` cannot be written.
        ConfigError, ShapeError: the model is not BERT's; the message says what does not fit.
        UsageError: `into` is in use.
    """
    config = read_table(source / CONFIG)
    tokenizer = read_bert_tokenizer(source)
    weights = read_tensors(source)
    try:
        model, heads = from_bert(weights, config, start=tokenizer.START, end=tokenizer.END)
    except (ConfigError, ShapeError) as error:
        raise type(error)(f"{source}: {error}") from error
    if len(tokenizer) != model.config.vocabulary:
        raise ModelFolderError(
            f"{source}: its vocabulary has {len(tokenizer)} pieces, but {CONFIG} says "
            f"vocab_size={model.config.vocabulary}; the two must come from one model"
        )
    dropout = config.get("classifier_dropout")
    if dropout not in (None, model.config.dropout):
        note(f"classifier_dropout={dropout} is not used: training applies dropout to the head too")
    with new_folder(into) as beside:
        save_model_folder(
            beside,
            model,
            tokenizer,
            Traits(heads=heads),
            card=CARD_OF_IMPORT.format(
                name=Path(into).resolve().name,
                source=source.resolve().name,
                layers=model.config.encoder_layers,
                d_model=model.config.d_model,
                heads=model.config.heads,
                pieces=len(tokenizer),
                asked=_asked(heads),
            ),
            training={"imported_from": "bert"},
        )
    return open_model_folder(Path(into))


def export_bert(folder: ModelFolder, into: Path) -> None:
    """Writes the model of `folder` to `into`, which must be empty or must not exist, as a folder
    for `transformers.AutoModel` and the class of its head, its tokenizer and a README.md beside it.

    Raises:
        ConfigError: BERT cannot represent the model.
        ModelFolderError: the folder is a translator's, the weights cannot be read or contain NaN,
            or `into` cannot be written.
        UsageError: `into` is in use.
    """
    model, heads = folder.load_encoder(), folder.heads or Heads()
    check_finite(model)
    config, weights = to_bert(model, heads)
    tokenizer = encoder_tokenizer(folder.tokenizer, str(folder.path))
    with new_folder(into) as beside:
        save_file(weights, beside / WEIGHTS, metadata={"format": "pt"})
        (beside / CONFIG).write_text(_json(config), "utf-8")
        for name, content in tokenizer_files(tokenizer, model.config.max_positions).items():
            (beside / name).write_text(content, "utf-8")
        card = CARD_OF_EXPORT.format(
            name=folder.path.resolve().name, architecture=config["architectures"][0]
        )
        (beside / CARD).write_text(card, "utf-8")


def _asked(heads: Heads) -> str:
    asked = [
        "vectors",
        *["masked words"] * heads.masked_words,
        *["next sentences"] * heads.next_sentence,
        *[f"labels of texts ({', '.join(heads.labels)})"] * bool(heads.labels),
        *[f"tags of words ({', '.join(heads.tags)})"] * bool(heads.tags),
    ]
    return ", ".join(asked)


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(values, indent=2) + "\n"
