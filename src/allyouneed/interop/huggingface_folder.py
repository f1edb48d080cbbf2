"""Exports a model folder to `transformers`: a MarianMTModel and a tokenizer."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors.torch import save_file

from allyouneed.decoding.length_penalty import Wu
from allyouneed.interop.huggingface import to_marian
from allyouneed.interop.new_folder import new_folder
from allyouneed.interop.own_export import length_in_words, marks_in_words, write_about
from allyouneed.interop.tokenizer_json import tokenizer_json
from allyouneed.model_folder.folder import CARD, CONFIG, TOKENIZER, WEIGHTS, ModelFolder
from allyouneed.model_folder.weights.model import check_finite
from allyouneed.text.marian_tokenizer import MarianTokenizer
from allyouneed.text.opening import own_tokenizer
from allyouneed.text.tokenizer_file import SPECIALS

TOKENIZER_CONFIG: dict[str, Any] = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "model_input_names": ["input_ids", "attention_mask"],
    "split_special_tokens": True,  # the text "</s>" is a text
    **dict(zip(("pad_token", "bos_token", "eos_token", "unk_token"), SPECIALS, strict=True)),
}
README = """\
# {name} for transformers

Exported by allyouneed; loads with `pip install transformers torch`.

```python
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(".")
model = AutoModelForSeq2SeqLM.from_pretrained(".")
source = tokenizer("Good morning!", return_tensors="pt")
found = model.generate(**source)
print(tokenizer.decode(found[0], skip_special_tokens=True))
```

By greedy search the translations are allyouneed's. With a beam, a few may differ: generate divides
scores by length to the power of `length_penalty`, and allyouneed has another rule (Wu et al. 2016).
"""


def export_huggingface(folder: ModelFolder, path: Path) -> None:
    """Writes the model of `folder` to `path`, which must be empty or must not exist, as a folder
    for `MarianMTModel.from_pretrained`, its tokenizer and a README.md beside it.

    Raises:
        ConfigError: Marian cannot represent the model.
        ModelFolderError: the weights cannot be read or contain NaN, or `path` cannot be written.
        UsageError: `path` is in use.
    """
    with new_folder(path) as beside:
        model = folder.load_model()
        check_finite(model)
        config, weights = to_marian(model)
        owners = {weight.data_ptr(): name for name, weight in weights.items()}  # the last one wins
        owned = {name: weights[name].contiguous() for name in owners.values()}
        save_file(owned, beside / WEIGHTS, metadata={"format": "pt"})
        (beside / CONFIG).write_text(_json(config), "utf-8")
        for name, content in _tokenizer_files(folder).items():
            (beside / name).write_bytes(content)
        (beside / "generation_config.json").write_text(
            _json(_generation(config, folder.length_penalty)), "utf-8"
        )
        write_about(folder, beside)
        card = README.format(name=folder.path.resolve().name)
        card += marks_in_words(folder) + length_in_words(folder, "generate")
        (beside / CARD).write_text(card, "utf-8")


def _tokenizer_files(folder: ModelFolder) -> dict[str, bytes]:
    """The files that `AutoTokenizer` reads, by name."""
    tokenizer = folder.tokenizer
    if isinstance(tokenizer, MarianTokenizer):
        files = tokenizer.files()
        settings = {
            "tokenizer_class": "MarianTokenizer",
            "source_lang": folder.languages[0] or None,
            "target_lang": folder.languages[1] or None,
            "separate_vocabs": "target_vocab.json" in files,
            **{
                f"{theirs}_token": tokenizer.piece(id)
                for theirs, id in zip(
                    ("pad", "eos", "unk"),
                    (tokenizer.PAD, tokenizer.END, tokenizer.UNKNOWN),
                    strict=True,
                )
            },
        }
    else:
        own_tokenizer(tokenizer, "an export to Hugging Face")
        files, settings = {TOKENIZER: tokenizer_json(folder).encode()}, TOKENIZER_CONFIG
    room = {"model_max_length": folder.config.max_positions}
    return files | {"tokenizer_config.json": _json(settings | room).encode()}


def _generation(config: Mapping[str, Any], alpha: float | None) -> dict[str, Any]:
    """Search settings like ours: pad and start are never produced, and no translation is empty.
    Scores are divided by |Y|^alpha, the nearest to our (5 + |Y|)^alpha (Wu et al. 2016); without
    an alpha of the model, by the paper's |Y|^0.6."""
    pad, start = config["pad_token_id"], config["decoder_start_token_id"]
    never = sorted({pad, start} - {config["eos_token_id"]})
    return {
        "num_beams": 4,
        "length_penalty": Wu().alpha if alpha is None else alpha,
        "min_new_tokens": 1,
        "max_length": config["max_position_embeddings"],
        "bad_words_ids": [[id] for id in never],
        "pad_token_id": pad,
        "eos_token_id": config["eos_token_id"],
        "forced_eos_token_id": config["forced_eos_token_id"],
        "decoder_start_token_id": start,
    }


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(values, indent=2) + "\n"
