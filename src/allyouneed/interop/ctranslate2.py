"""Exports a model folder to CTranslate2, with the same translations.

This module copies every weight of the Transformer to CTranslate2's `TransformerSpec`. It needs the
package `ctranslate2`, version 4.

D d_model · H heads · K head width · L max_positions · V vocabulary
"""

import json
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.errors import ConfigError, UsageError
from allyouneed.interop.new_folder import new_folder
from allyouneed.interop.own_export import length_in_words, marks_in_words, write_about
from allyouneed.interop.tokenizer_json import tokenizer_json
from allyouneed.model_folder.folder import CARD, TOKENIZER, ModelFolder
from allyouneed.model_folder.weights.model import check_finite
from allyouneed.text.opening import own_tokenizer
from allyouneed.text.tokenizer import Tokenizer

ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "silu": "SWISH", "swiglu": "SWISH"}
DTYPES = ("float32", "float16", "int8")

README = """\
# {name} for CTranslate2

Exported by allyouneed; loads with `pip install ctranslate2 tokenizers`.

```python
import ctranslate2, tokenizers
tokenizer = tokenizers.Tokenizer.from_file("tokenizer.json")
tokenizer.encode_special_tokens = True  # the text "</s>" is a text
translator = ctranslate2.Translator(".")
found = translator.translate_batch([tokenizer.encode("Good morning!").tokens], beam_size=4)
print(tokenizer.decode([tokenizer.token_to_id(piece) for piece in found[0].hypotheses[0]]))
```

Sentences end in `</s>`, which the tokenizer adds. CTranslate2 divides scores by length to the
power `length_penalty`; allyouneed's own default is another rule (Wu et al. 2016), so with a beam
wider than 1 a few translations may differ.
"""


def export_ctranslate2(folder: ModelFolder, path: Path, quantization: str = "float32") -> None:
    """Writes the model of `folder` to `path`, which must be empty or must not exist, for
    CTranslate2.

    `quantization` is the format of the weights: "float32", "float16" or "int8". The folder also
    gets tokenizer.json and a README.md that says how to translate.

    Raises:
        ConfigError: CTranslate2 cannot represent the model.
        ModelFolderError: the weights cannot be read or contain NaN, or `path` cannot be written.
        UsageError: the package is not installed, the quantization is unknown, or `path` is in use.
    """
    if quantization not in DTYPES:
        raise UsageError(f"quantization={quantization!r} is not one of {', '.join(DTYPES)}")
    with new_folder(path) as beside:
        model = folder.load_model()
        check_finite(model)
        spec = to_ctranslate2(model, own_tokenizer(folder.tokenizer, "an export to CTranslate2"))
        spec.optimize(quantization)
        spec.save(str(beside))
        (beside / TOKENIZER).write_text(tokenizer_json(folder), "utf-8")
        write_about(folder, beside)
        card = README.format(name=folder.path.resolve().name)
        card += marks_in_words(folder) + length_in_words(folder, "CTranslate2")
        (beside / CARD).write_text(card, "utf-8")


def to_ctranslate2(model: Transformer, tokenizer: Tokenizer) -> Any:
    """A `ctranslate2.specs.TransformerSpec` with this model's weights, checked by its `validate`.

    Pieces are spelt as in tokenizer.json, where all spellings differ and none contains a space or a
    line break. The ids are therefore the same on both sides. Attention, if a caller asks for it, is
    the mean over the heads of the last decoder layer, as in `cross_attention_map`.

    Raises:
        ConfigError: CTranslate2 cannot represent the model.
        UsageError: the package is not installed.
    """
    config = model.config
    _check_room(config)
    specs = _specs()
    spec = _empty_spec(specs, config)
    for theirs, ours in ((spec.encoder, model.encoder), (spec.decoder, model.decoder)):
        for layer, our_layer in zip(theirs.layer, ours.layers, strict=True):
            _fill_layer(layer, our_layer)
        if config.residual == "pre-norm":
            _fill_norm(theirs.layer_norm, ours.norm)
        theirs.scale_embeddings = config.scale_embeddings
        if config.normalise_embeddings:
            _fill_norm(theirs.layernorm_embedding, ours.embeddings.norm)
        if config.positions != "rotary":
            theirs.position_encodings.encodings = _position_table(ours.embeddings.positions, config)
    spec.encoder.embeddings[0].weight = _array(model.encoder.embeddings.tokens.weight)
    spec.decoder.embeddings.weight = _array(model.decoder.embeddings.tokens.weight)
    _fill_linear(spec.decoder.projection, model.output)
    _fill_vocabulary(spec, config, tokenizer)
    spec.validate()
    return spec


def _specs() -> ModuleType:
    try:
        return import_module("ctranslate2.specs")
    except ImportError as error:
        raise UsageError(
            f"CTranslate2 is not installed here ({error}); "
            "install it with: pip install 'allyouneed[interop]'"
        ) from error


def _check_room(config: TransformerConfig) -> None:
    for name in ("encoder_layers", "decoder_layers"):
        if not getattr(config, name):
            raise ConfigError(f"{name}=0 has no room in CTranslate2, which needs one at least")
    if config.decoder != "self-attention":
        raise ConfigError(
            f"decoder={config.decoder!r} has no room in CTranslate2, only self-attention has; "
            "export it with --to marian"
        )


def _empty_spec(specs: ModuleType, config: TransformerConfig) -> Any:
    common: dict[str, Any] = {
        "pre_norm": config.residual == "pre-norm",
        "activation": specs.common_spec.Activation[ACTIVATIONS[config.activation]],
        "layernorm_embedding": config.normalise_embeddings,
        "ffn_glu": config.activation == "swiglu",
        "rms_norm": config.norm == "rms",
    }
    if config.head_width is not None:
        common["head_dim"] = config.head_width
    if config.positions == "rotary":
        common["rotary_dim"] = config.width_of_head
    encoder = specs.transformer_spec.TransformerEncoderSpec(
        config.encoder_layers, config.heads, **common
    )
    decoder = specs.transformer_spec.TransformerDecoderSpec(
        config.decoder_layers, config.heads, **common, alignment_heads=config.heads
    )
    return specs.transformer_spec.TransformerSpec(encoder, decoder)


def _fill_layer(theirs: Any, ours: Any) -> None:
    own = ours.self_attention
    _fill_linear(theirs.self_attention.linear[0], own.W_Q, own.W_K, own.W_V)
    _fill_linear(theirs.self_attention.linear[1], own.W_O)
    _fill_norm(theirs.self_attention.layer_norm, ours.self_attention_residual.norm)
    if hasattr(theirs, "attention"):
        cross = ours.cross_attention
        _fill_linear(theirs.attention.linear[0], cross.W_Q)
        _fill_linear(theirs.attention.linear[1], cross.W_K, cross.W_V)
        _fill_linear(theirs.attention.linear[2], cross.W_O)
        _fill_norm(theirs.attention.layer_norm, ours.cross_attention_residual.norm)
    _fill_linear(theirs.ffn.linear_0, ours.feed_forward.W_1)
    _fill_linear(theirs.ffn.linear_1, ours.feed_forward.W_2)
    if hasattr(theirs.ffn, "linear_0_noact"):
        _fill_linear(theirs.ffn.linear_0_noact, ours.feed_forward.V_1)
    _fill_norm(theirs.ffn.layer_norm, ours.feed_forward_residual.norm)


def _fill_linear(theirs: Any, *ours: Any) -> None:
    """One projection, or several side by side."""
    theirs.weight = np.concatenate([_array(linear.weight) for linear in ours])
    if ours[0].bias is not None:
        theirs.bias = np.concatenate([_array(linear.bias) for linear in ours])


def _fill_norm(theirs: Any, ours: Any) -> None:
    theirs.gamma = _array(ours.weight)
    if hasattr(theirs, "beta"):
        theirs.beta = _array(ours.bias)


def _position_table(positions: Any, config: TransformerConfig) -> NDArray[np.float32]:
    """The vectors LD that are added at each position. Without a table CTranslate2 would add
    sinusoids."""
    if positions is None:
        return np.zeros((config.max_positions, config.d_model), np.float32)
    learned = config.positions == "learned"
    return _array(positions.weight if learned else positions.table)


def _fill_vocabulary(spec: Any, config: TransformerConfig, tokenizer: Tokenizer) -> None:
    ids: dict[str, int] = json.loads(tokenizer.to_json())["model"]["vocab"]
    pieces = sorted(ids, key=ids.__getitem__)
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.config.unk_token = pieces[tokenizer.UNKNOWN]
    spec.config.bos_token = pieces[tokenizer.START]
    spec.config.eos_token = pieces[config.end]
    spec.config.decoder_start_token = pieces[config.start]
    spec.config.add_source_eos = False  # our tokenizer adds it
    spec.config.layer_norm_epsilon = config.norm_epsilon


def _array(weight: Any) -> NDArray[np.float32]:
    assert isinstance(weight, Tensor)
    array: NDArray[np.float32] = weight.detach().float().cpu().numpy()
    return array
