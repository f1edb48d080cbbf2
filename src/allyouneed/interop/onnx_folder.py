"""Exports a model folder to ONNX: the encoder and a decoder step as two graphs."""

import json
from pathlib import Path

from allyouneed.core.config import TransformerConfig
from allyouneed.errors import ConfigError
from allyouneed.interop.new_folder import new_folder
from allyouneed.interop.onnx_graph import WeightsFile, onnx
from allyouneed.interop.onnx_transformer import decoder_step_graph, encoder_graph
from allyouneed.interop.tokenizer_json import tokenizer_json
from allyouneed.model_folder.folder import CARD, CONFIG, TOKENIZER, ModelFolder
from allyouneed.model_folder.weights.model import check_finite
from allyouneed.text.tokenizer import Tokenizer

OWN_TEXT = {
    "packages": "onnxruntime tokenizers",
    "imported": "import tokenizers",
    "opened": 'tokenizer = tokenizers.Tokenizer.from_file("tokenizer.json")\n'
    'tokenizer.encode_special_tokens = True  # the text "</s>" is a text',
    "decode": "tokenizer.decode",
}
OTHER_TEXT = {  # of an imported model: only this project reads its tokenizer.json
    "packages": "onnxruntime allyouneed",
    "imported": "from allyouneed.text.opening import open_tokenizer",
    "opened": 'tokenizer = open_tokenizer("tokenizer.json")',
    "decode": "tokenizer.target.decode",
}
ATTENTION = {  # the state of a decoder with self-attention between steps
    "beginning": """\
    nothing = np.zeros((len(texts), config["heads"], 0, config["head_width"]), np.float32)
    cache = {f"{kind}.{n}": nothing for kind in ("keys", "values") for n in layers}""",
    "taken": "for each layer `keys.0` … and `values.0` …, float32\n  (B, {heads}, T, {head_width})",
    "given": "`new_keys.0` … and `new_values.0` …, T + 1 long",
}
RECURRENCE = {  # the state of a decoder with SSRU between steps
    "beginning": """\
    cache = {f"states.{n}": np.zeros((len(texts), config["d_model"]), np.float32) for n in layers}
    cache["length"] = np.zeros(1, np.int64)""",
    "taken": "for each layer `states.0` …, float32 (B, {d_model}), zeros at first, and\n"
    "  `length`, int64 (1), the number of steps so far",
    "given": "`new_states.0` … and `new_length`",
}
ENCODER, DECODER, WEIGHTS = "encoder.onnx", "decoder_step.onnx", "weights.bin"

README = """\
# {name} for ONNX runtimes

Exported by allyouneed. `encoder.onnx` and `decoder_step.onnx` share their weights, `weights.bin`.
This translates with `pip install {packages}`, by greedy search:

```python
import json
from pathlib import Path

import numpy as np
import onnxruntime
{imported}

config = json.loads(Path("config.json").read_text())
pad, start, end = config["pad"], config["start"], config["end"]
never = [id for id in (pad, start) if id != end]  # no words
{opened}
encoder = onnxruntime.InferenceSession("encoder.onnx")
decoder_step = onnxruntime.InferenceSession("decoder_step.onnx")


def translate(texts: list[str]) -> list[str]:
    sources = [tokenizer.encode(text).ids for text in texts]
    longest = max(map(len, sources))
    source = np.array([ids + [pad] * (longest - len(ids)) for ids in sources])
    names = [output.name for output in encoder.get_outputs()]
    memory = dict(zip(names, encoder.run(names, {{"source": source}})))
    layers = range(config["decoder_layers"])
{beginning}
    wanted = ["logits"] + [f"new_{{name}}" for name in cache]
    ids = np.full(len(texts), start)
    words = [[] for _ in texts]
    for step in range(min(longest + 49, config["max_positions"])):
        logits, *new = decoder_step.run(wanted, {{"ids": ids, **memory, **cache}})
        cache = dict(zip(cache, new))
        logits[:, never] = -np.inf
        if step == 0:
            logits[:, end] = -np.inf  # no translation is empty
        ids = logits.argmax(axis=1)
        for written, id in zip(words, ids.tolist()):
            if end not in written:
                written.append(id)
        if all(end in written for written in words):
            break
    return [{decode}(written).strip() for written in words]


print(translate(["Good morning!"])[0])
```

## Inputs and outputs

B sentences, S source tokens, T steps so far, {heads} heads of width {head_width},
{decoder_layers} decoder layers numbered from 0, {vocabulary:,} pieces; B, S and T are free.

- `encoder.onnx` takes `source`, int64 (B, S), filled up with {pad}. It gives `may_look`, bool
  (B, S), and for each decoder layer `memory_keys.0` … and `memory_values.0` …, float32
  (B, {heads}, S, {head_width}).
- `decoder_step.onnx` takes all that, `ids`, int64 (B), each sentence's newest token, and
  {taken}. It gives
  `logits`, float32 (B, {vocabulary}), and {given}.
"""


def export_onnx(folder: ModelFolder, path: Path) -> None:
    """Writes the model of `folder` to `path`, which must be empty or must not exist, as two graphs
    with their weights, tokenizer.json, config.json, and a README.md with a program that translates.

    Raises:
        ConfigError: the model has no decoder layers.
        ModelFolderError: the weights cannot be read or contain NaN, or `path` cannot be written.
        UsageError: the package is not installed, or `path` is in use.
    """
    onnx()
    text = OWN_TEXT if isinstance(folder.tokenizer, Tokenizer) else OTHER_TEXT
    with new_folder(path) as beside:
        facts = _facts(folder.config)
        model = folder.load_model()
        check_finite(model)
        with WeightsFile(beside / WEIGHTS) as weights:
            encoder_graph(model, weights).save(beside / ENCODER)
            decoder_step_graph(model, weights).save(beside / DECODER)
        (beside / TOKENIZER).write_text(tokenizer_json(folder), "utf-8")
        (beside / CONFIG).write_text(json.dumps(facts, indent=2) + "\n", "utf-8")
        kept = RECURRENCE if folder.config.decoder == "ssru" else ATTENTION
        kept = {**kept, "taken": kept["taken"].format(**facts)}
        card = README.format(name=folder.path.resolve().name, **facts, **text, **kept)
        (beside / CARD).write_text(card, "utf-8")


def _facts(config: TransformerConfig) -> dict[str, int]:
    if not config.decoder_layers:
        raise ConfigError("decoder_layers=0: what is exported to ONNX needs a decoder")
    names = (
        "vocabulary",
        "d_model",
        "decoder_layers",
        "heads",
        "max_positions",
        "pad",
        "start",
        "end",
    )
    return {name: getattr(config, name) for name in names} | {"head_width": config.width_of_head}
