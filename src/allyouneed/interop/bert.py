"""Converts weights and configurations of Hugging Face's BERT models to ours, and ours to BERT's.

The package `transformers` is not needed. The supported classes are `BertModel` and those with heads
for masked words, next sentences, both of these, labels of texts and tags of tokens.

D d_model · V vocabulary
"""

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.core.encoder_only import EncoderOnly, build_encoder_only
from allyouneed.errors import ConfigError, ShapeError
from allyouneed.interop.adoption import check_sizes
from allyouneed.model_folder.config import Heads

LAYER = {
    "self_attention.W_Q": "attention.self.query",
    "self_attention.W_K": "attention.self.key",
    "self_attention.W_V": "attention.self.value",
    "self_attention.W_O": "attention.output.dense",
    "self_attention_residual.norm": "attention.output.LayerNorm",
    "feed_forward.W_1": "intermediate.dense",
    "feed_forward.W_2": "output.dense",
    "feed_forward_residual.norm": "output.LayerNorm",
}
EMBEDDINGS = {
    "tokens": "word_embeddings",
    "positions": "position_embeddings",
    "segments": "token_type_embeddings",
    "norm": "LayerNorm",
}
HEADS = {
    "pooler.W": "bert.pooler.dense",
    "heads.masked_words.W": "cls.predictions.transform.dense",
    "heads.masked_words.norm": "cls.predictions.transform.LayerNorm",
    "heads.masked_words.output": "cls.predictions",
    "heads.next_sentence.W": "cls.seq_relationship",
    "heads.labels.W": "classifier",
    "heads.tags.W": "classifier",
}
COPIES = {
    "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}
COUNTS = "bert.embeddings.position_ids"  # 0, 1, 2, …, which old versions store
ACTIVATIONS = {"gelu": "gelu", "relu": "relu", "silu": "silu", "swish": "silu"}
TAGS_TOKENS = "BertForTokenClassification"
ARCHITECTURES = {  # by the heads: masked words, next sentences, labels, tags
    (False, False, False, False): "BertModel",
    (True, False, False, False): "BertForMaskedLM",
    (False, True, False, False): "BertForNextSentencePrediction",
    (True, True, False, False): "BertForPreTraining",
    (False, False, True, False): "BertForSequenceClassification",
    (False, False, False, True): TAGS_TOKENS,
}
FIXED = {"residual": "post-norm", "norm": "layer", "bias": True, "scale_embeddings": False}
"""The settings that all BERT models share."""


def from_bert(
    weights: Mapping[str, Tensor], config: Mapping[str, Any], *, start: int, end: int
) -> tuple[EncoderOnly, Heads]:
    """Our model and its heads from the state dict of a `BertModel`, or of a class with heads.
    `config` is the content of its config.json; `start` and `end` are the ids of [CLS] and [SEP].

    Raises:
        ConfigError: the config is not BERT's or cannot be represented here, a weight is missing, or
            the model has no place for a weight.
        ShapeError: a weight has another shape than the config says.
    """
    theirs = {_today(name): weight for name, weight in weights.items()}
    theirs.pop(COUNTS, None)
    for copy, original in COPIES.items():
        if copy in theirs and not torch.equal(theirs.pop(copy), theirs.get(original, Tensor())):
            raise ConfigError(f"{copy!r} is not {original!r}: an output that is not tied to them")
    heads = _heads(theirs, config)
    shape = _adopt_config(config, start, end)
    check_sizes(shape, weights)
    model = build_encoder_only(shape, **heads.parts())
    ours, tied = model.state_dict(), model.tied_weights()
    names = {_bert_name(name): name for name in ours if name not in tied}
    if unknown := theirs.keys() - names.keys():
        raise ConfigError(f"{min(unknown)!r} is no weight of a BERT model with this config")
    if missing := names.keys() - theirs.keys():
        raise ConfigError(f"{min(missing)!r} is missing; a BERT model with this config has it")
    for their_name, name in names.items():
        if theirs[their_name].shape != ours[name].shape:
            raise ShapeError(
                f"{their_name!r} has the shape {tuple(theirs[their_name].shape)}; with this config "
                f"it is {tuple(ours[name].shape)}"
            )
        ours[name].copy_(theirs[their_name])
    return model.eval(), heads


def to_bert(model: EncoderOnly, heads: Heads) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The config and the weights of a BERT model that computes the same. A shared weight occurs
    once.

    Sinusoids become a table, like learned positions. If the model has no segments, their embeddings
    are zero.

    Raises:
        ConfigError: BERT cannot represent the model.
    """
    config = model.config
    architecture = _check_room(config, heads)
    tied, table = model.tied_weights(), "encoder.embeddings.positions.table"
    ours = {name: weight.cpu() for name, weight in model.state_dict().items() if name not in tied}
    if config.positions == "sinusoidal":  # a formula here, so no file contains them
        ours[table] = dict(model.named_buffers())[table].cpu()
    if not config.segments:
        ours["encoder.embeddings.segments.weight"] = torch.zeros(1, config.d_model)
    theirs = {_bert_name(name): weight.contiguous() for name, weight in ours.items()}
    if architecture == "BertModel":
        theirs = {name.removeprefix("bert."): weight for name, weight in theirs.items()}
    return _give_config(config, heads, architecture), theirs


def _today(name: str) -> str:
    """A weight's name in the present versions of the classes with heads."""
    name = name.replace("LayerNorm.gamma", "LayerNorm.weight")
    name = name.replace("LayerNorm.beta", "LayerNorm.bias")
    return name if name.startswith(("bert.", "cls.", "classifier.")) else f"bert.{name}"


def _bert_name(name: str) -> str:
    """The name that BERT gives to our weight `name`."""
    module, kind = name.rsplit(".", 1)
    if module in HEADS:
        return f"{HEADS[module]}.{kind}"
    *place, part = module.removeprefix("encoder.").split(".")
    if place == ["embeddings"]:
        return f"bert.embeddings.{EMBEDDINGS[part]}.{'weight' if kind == 'table' else kind}"
    _, number, sublayer = module.removeprefix("encoder.").split(".", 2)
    return f"bert.encoder.layer.{number}.{LAYER[sublayer]}.{kind}"


def _heads(theirs: Mapping[str, Tensor], config: Mapping[str, Any]) -> Heads:
    """The heads that the weights contain."""
    names: tuple[str, ...] = ()
    if "classifier.weight" in theirs:
        given = config.get("id2label") or {}
        if not isinstance(given, Mapping) or not all(map(str.isdecimal, given)):
            raise ConfigError(f"id2label={given!r} is no table of numbers and names")
        given = {int(number): str(name) for number, name in given.items()}
        count = theirs["classifier.weight"].size(0)
        if count == 1:
            raise ConfigError(
                "num_labels=1: the model gives a number, not a label; only one label of several is "
                "predicted here"
            )
        names = tuple(given.get(number, f"LABEL_{number}") for number in range(count))
        if config.get("problem_type") not in (None, "single_label_classification"):
            raise ConfigError(
                f"problem_type={config['problem_type']!r}: only one label for each text or token "
                "is predicted here"
            )
    classes = config.get("architectures")
    tags = isinstance(classes, list) and TAGS_TOKENS in classes
    return Heads(
        masked_words="cls.predictions.bias" in theirs,
        next_sentence="cls.seq_relationship.weight" in theirs,
        labels=() if tags else names,
        tags=names if tags else (),
        pooler="bert.pooler.dense.weight" in theirs,
    )


def _adopt_config(config: Mapping[str, Any], start: int, end: int) -> TransformerConfig:
    if misfit := "; ".join(_misfits(config)):
        raise ConfigError(f"it does not fit: {misfit}")
    dropout = config.get("hidden_dropout_prob", 0.1)
    return TransformerConfig(
        vocabulary=_integer(config, "vocab_size"),
        d_model=_integer(config, "hidden_size"),
        heads=_integer(config, "num_attention_heads"),
        d_ff=_integer(config, "intermediate_size"),
        encoder_layers=_integer(config, "num_hidden_layers"),
        decoder_layers=0,
        dropout=dropout,
        attention_dropout=config.get("attention_probs_dropout_prob", 0.1),
        max_positions=_integer(config, "max_position_embeddings"),
        norm_epsilon=config.get("layer_norm_eps", 1e-12),
        activation=ACTIVATIONS[config.get("hidden_act", "gelu")],  # type: ignore[arg-type]
        positions="learned",
        normalise_embeddings=True,
        segments=_integer(config, "type_vocab_size"),
        pad=_integer(config, "pad_token_id"),
        start=start,
        end=end,
        **FIXED,  # type: ignore[arg-type]
    )


def _misfits(config: Mapping[str, Any]) -> Iterator[str]:
    if config.get("model_type") != "bert":
        yield f"model_type={config.get('model_type')!r} is not 'bert'"
    if (activation := config.get("hidden_act", "gelu")) not in [*ACTIVATIONS]:
        yield f"hidden_act={activation!r} is not one of {', '.join(ACTIVATIONS)}"
    for name, only in (
        ("position_embedding_type", "absolute"),
        ("is_decoder", False),
        ("add_cross_attention", False),
    ):
        if config.get(name, only) != only:
            yield f"{name}={config[name]!r} is not {only!r}"


def _integer(config: Mapping[str, Any], name: str) -> int:
    usual = {"type_vocab_size": 2, "pad_token_id": 0}
    value = config.get(name, usual.get(name))
    if type(value) is not int:
        raise ConfigError(f"{name}={value!r} is no whole number; is this a BERT model's config?")
    return value


def _check_room(config: TransformerConfig, heads: Heads) -> str:
    """The name of the class with these heads.

    Raises:
        ConfigError: BERT cannot represent the model.
    """
    for name, only in (FIXED | {"normalise_embeddings": True}).items():
        if getattr(config, name) != only:
            raise ConfigError(
                f"{name}={getattr(config, name)!r} has no room in BERT, only {only!r} has; "
                'model.preset = "bert" trains a model that fits'
            )
    if config.activation not in ACTIVATIONS.values():
        raise ConfigError(f"activation={config.activation!r} has no room in BERT")
    if config.positions not in ("learned", "sinusoidal", "stored"):
        raise ConfigError(f"positions={config.positions!r} have no room in BERT")
    if config.heads * config.width_of_head != config.d_model:
        raise ConfigError(
            f"{config.heads} heads of width {config.width_of_head} have no room in BERT; "
            f"together they must be as wide as d_model={config.d_model}"
        )
    there = (heads.masked_words, heads.next_sentence, bool(heads.labels), bool(heads.tags))
    if there not in ARCHITECTURES:
        raise ConfigError(
            "labels or tags beside other heads have no room in one of BERT's classes; "
            "export a model that was fine-tuned for them alone"
        )
    if (heads.labels or heads.next_sentence) and not heads.pooler:
        raise ConfigError("labels of texts without a pooler have no room in BERT")
    return ARCHITECTURES[there]


def _give_config(config: TransformerConfig, heads: Heads, architecture: str) -> dict[str, Any]:
    activations = {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}
    names = heads.labels or heads.tags
    labels = {
        "id2label": {str(number): name for number, name in enumerate(names)},
        "label2id": {name: number for number, name in enumerate(names)},
    }
    return {
        "model_type": "bert",
        "architectures": [architecture],
        "vocab_size": config.vocabulary,
        "hidden_size": config.d_model,
        "num_hidden_layers": config.encoder_layers,
        "num_attention_heads": config.heads,
        "intermediate_size": config.d_ff,
        "hidden_act": activations[config.activation],
        "hidden_dropout_prob": config.dropout,
        "attention_probs_dropout_prob": config.attention_dropout,
        "max_position_embeddings": config.max_positions,
        "type_vocab_size": config.segments or 1,
        "layer_norm_eps": config.norm_epsilon,
        "pad_token_id": config.pad,
        "tie_word_embeddings": True,
        **(labels if names else {}),
    }
