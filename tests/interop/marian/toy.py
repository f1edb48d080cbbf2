"""Small Marian models that the tests write themselves, and Marian's equations in plain NumPy.

Shapes of weights, names and the layout of files are those of marian-dev. Nothing of the package
that is tested is used here.
"""

import io
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import sentencepiece
from numpy.typing import NDArray

Floats = NDArray[np.float32]
INT8, FLOAT32, INTGEMM8, INTGEMM16 = 0x101, 0x404, 0x4101, 0x4102
END, UNKNOWN = 0, 1
WORDS = 2 + 256  # from here on: before them are single bytes
OLD, NEW = "v1.9.56 b2f8af6f 2021-03-09 10:53:39 +0000", "v1.12.31 4ee52131 2024-02-05 09:11:02"
TEXTS = [
    "A man rides a bike through the old town, and 3 dogs run beside it.",
    "Where is the station? It is behind the church; go straight on, then left.",
    "I would like a cup of coffee, please, and two pieces of cake.",
    "Ein Mann fährt mit dem Fahrrad durch die alte Stadt, und drei Hunde laufen nebenher.",
    "Wo ist der Bahnhof? Er ist hinter der Kirche; gehen Sie geradeaus, dann links.",
    "Ich hätte gern eine Tasse Kaffee und zwei Stück Kuchen, bitte.",
]
LINES = ["A man rides a bike.", "Where is the church?", "I would like two dogs, please."]


@cache
def spm(size: int = 320, fallback: bool = True) -> bytes:
    """Unigram, no beginning, end 0, unknown 1, bytes for other characters: Mozilla's settings."""
    file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS * 3),
        model_writer=file,
        vocab_size=size,
        hard_vocab_limit=False,
        byte_fallback=fallback,
        split_digits=True,
        bos_id=-1,
        eos_id=0,
        unk_id=1,
        num_threads=1,
        minloglevel=2,
    )
    return file.getvalue()


def pieces(file: bytes) -> sentencepiece.SentencePieceProcessor:
    return sentencepiece.SentencePieceProcessor(model_proto=file)


@dataclass
class Toy:
    """A model: its settings as special:model.yml has them, and its weights by Marian's names."""

    settings: dict[str, Any]
    weights: dict[str, Floats] = field(default_factory=dict)

    @property
    def yaml(self) -> str:
        return "".join(f"{key}: {_yaml(value)}\n" for key, value in self.settings.items())


def _yaml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "\n" + "".join(f"  - {_yaml(item)}\n" for item in value) if value else "\n  []"
    return '""' if value == "" else str(value)


def toy(
    vocabularies: tuple[int, int],
    *,
    seed: int = 0,
    d_model: int = 64,
    d_ff: int = 64,
    heads: int = 4,
    layers: tuple[int, int] = (2, 2),
    autoreg: str = "rnn",
    tied: str = "all",
    pre_norm: bool = False,
    activation: str = "relu",
    scale: float = 4.0,
    end: float = 0.0,
    version: str = OLD,
) -> Toy:
    """Random weights; `tied` is "all", "target" or "none", `end` is added to the bias of the end,
    `version` is Marian's.

    The bias of the output takes away what all logits have in common, so that a search says more
    than one token.
    """
    rng = np.random.default_rng(seed)
    weights: dict[str, Floats] = {}

    def matrix(name: str, rows: int, columns: int, loud: float = 1.0) -> None:
        spread = scale * loud * math.sqrt(2.0 / (rows + columns))
        weights[name] = rng.normal(0, spread, (rows, columns)).astype("f4")

    def vector(name: str, size: int, mean: float = 0.0) -> None:
        weights[name] = (mean + rng.normal(0, 0.1, (1, size))).astype("f4")

    def norm(name: str) -> None:
        suffix = "_pre" if pre_norm else ""
        vector(f"{name}_ln_scale{suffix}", d_model, 1.0)
        vector(f"{name}_ln_bias{suffix}", d_model)

    def attention(prefix: str) -> None:
        for letter in "qkvo":
            matrix(f"{prefix}_W{letter}", d_model, d_model)
            vector(f"{prefix}_b{letter}", d_model)
        norm(f"{prefix}_Wo")

    def feed_forward(prefix: str) -> None:
        matrix(f"{prefix}_W1", d_model, d_ff)
        vector(f"{prefix}_b1", d_ff)
        matrix(f"{prefix}_W2", d_ff, d_model)
        vector(f"{prefix}_b2", d_model)
        norm(f"{prefix}_ffn")

    source, target = vocabularies

    def embeddings(name: str, size: int) -> None:
        weights[name] = rng.normal(0, d_model**-0.5, (size, d_model)).astype("f4")

    if tied == "all":
        embeddings("Wemb", source)
    else:
        embeddings("encoder_Wemb", source)
        embeddings("decoder_Wemb", target)
    if tied == "none":
        matrix("decoder_ff_logit_out_W", d_model, target)
    vector("decoder_ff_logit_out_b", target)
    for n in range(1, layers[0] + 1):
        attention(f"encoder_l{n}_self")
        feed_forward(f"encoder_l{n}_ffn")
    for n in range(1, layers[1] + 1):
        if autoreg == "rnn":
            matrix(f"decoder_l{n}_rnn_W", d_model, d_model)
            matrix(f"decoder_l{n}_rnn_Wf", d_model, d_model)
            vector(f"decoder_l{n}_rnn_bf", d_model)
            if pre_norm:
                vector(f"decoder_l{n}_rnn_ln_scale_pre", d_model, 1.0)
                vector(f"decoder_l{n}_rnn_ln_bias_pre", d_model)
            else:
                norm(f"decoder_l{n}_rnn_ffn")
        else:
            attention(f"decoder_l{n}_self")
        attention(f"decoder_l{n}_context")
        feed_forward(f"decoder_l{n}_ffn")
    if pre_norm:
        for side in ("encoder", "decoder"):
            vector(f"{side}_top_ln_scale", d_model, 1.0)
            vector(f"{side}_top_ln_bias", d_model)
    settings: dict[str, Any] = {
        "bert-train-type-embeddings": True,
        "bert-type-vocab-size": 2,
        "dec-cell": "ssru",
        "dec-cell-base-depth": 2,
        "dec-cell-high-depth": 1,
        "dec-depth": layers[1],
        "dim-emb": d_model,
        "dim-rnn": 1024,
        "dim-vocabs": [source, target],
        "enc-cell": "gru",
        "enc-depth": layers[0],
        "enc-type": "bidirectional",
        "factors-combine": "sum",
        "factors-dim-emb": 0,
        "input-types": [],
        "layer-normalization": False,
        "lemma-dim-emb": 0,
        "output-omit-bias": False,
        "right-left": False,
        "skip": False,
        "tied-embeddings": tied == "target",
        "tied-embeddings-all": tied == "all",
        "tied-embeddings-src": False,
        "transformer-aan-activation": "swish",
        "transformer-aan-depth": 2,
        "transformer-aan-nogate": False,
        "transformer-decoder-autoreg": autoreg,
        "transformer-decoder-dim-ffn": 0,
        "transformer-decoder-ffn-depth": 0,
        "transformer-depth-scaling": True,
        "transformer-dim-aan": 2048,
        "transformer-dim-ffn": d_ff,
        "transformer-ffn-activation": activation,
        "transformer-ffn-depth": 2,
        "transformer-guided-alignment-layer": "last",
        "transformer-heads": heads,
        "transformer-no-affine": False,
        "transformer-no-bias": False,
        "transformer-no-projection": False,
        "transformer-pool": False,
        "transformer-postprocess": "da" if pre_norm else "dan",
        "transformer-postprocess-emb": "d",
        "transformer-postprocess-top": "n" if pre_norm else "",
        "transformer-preprocess": "n" if pre_norm else "",
        "transformer-rnn-projection": False,
        "transformer-tied-layers": [],
        "transformer-train-position-embeddings": False,
        "type": "transformer",
        "ulr": False,
        "version": version,
    }
    model = Toy(settings, weights)
    reference, bias = Reference(model), weights["decoder_ff_logit_out_b"]
    drawn = [(rng.integers(2, source, 9), rng.integers(2, target, 12)) for _ in range(3)]
    bias -= np.concatenate([reference.logits(*pair) for pair in drawn]).mean(0).astype("f4")
    bias[0, END] += end
    return model


def quantised(
    name: str, weight: Floats, largest: int = 127
) -> tuple[NDArray[np.int16], np.float32]:
    factor = np.float32(largest / np.abs(weight).max())
    return np.clip(np.rint(weight * factor), -largest, largest).astype("i2"), factor


def rounded(model: Toy, largest: int = 127) -> Toy:
    """The same model with the weights that a file in integers holds."""
    weights = dict(model.weights)
    for name, weight in weights.items():
        if stored_as_integers(name):
            integers, factor = quantised(name, weight, largest)
            weights[name] = integers.astype("f4") / factor
    return Toy(model.settings, weights)


def stored_as_integers(name: str) -> bool:
    return name[-3:-1] == "_W" or name.endswith(("_W", "_Wf", "Wemb"))


def bin_file(
    model: Toy,
    *,
    bits: int = 32,
    alphas: Mapping[str, float] | None = None,
) -> bytes:
    """A `.bin` file in float32 (32), intgemm8 (8) or intgemm16 (16)."""
    items: list[tuple[str, int, Sequence[int], bytes]] = []
    for name, weight in sorted(model.weights.items()):
        if bits < 32 and stored_as_integers(name):
            largest = 127 if bits == 8 else 1023
            integers, factor = quantised(name, weight, largest)
            laid = integers if name.endswith("Wemb") else np.ascontiguousarray(integers.T)
            data = laid.astype("i1" if bits == 8 else "<i2").tobytes() + struct.pack("<f", factor)
            items.append((name, INTGEMM8 if bits == 8 else INTGEMM16, weight.shape, data))
        else:
            items.append((name, FLOAT32, weight.shape, weight.tobytes()))
    for name, value in (alphas or {}).items():
        items.append((name, FLOAT32, (1,), struct.pack("<f", value)))
    text = model.yaml.encode() + b"\0"
    items.append(("special:model.yml", INT8, (len(text),), text))
    return container(items)


def container(items: Sequence[tuple[str, int, Sequence[int], bytes]]) -> bytes:
    items = [(n, t, s, data + bytes(-len(data) % 256)) for n, t, s, data in items]
    file = struct.pack("<QQ", 1, len(items))
    for name, kind, shape, data in items:
        file += struct.pack("<QQQQ", len(name) + 1, kind, len(shape), len(data))
    file += b"".join(name.encode() + b"\0" for name, *_ in items)
    file += b"".join(struct.pack(f"<{len(shape)}i", *shape) for _, _, shape, _ in items)
    filling = ((len(file) + 8) // 256 + 1) * 256 - len(file) - 8
    file += struct.pack("<Q", filling) + bytes(filling)
    return file + b"".join(data for *_, data in items)


def npz_file(model: Toy) -> bytes:
    stream = io.BytesIO()
    text = np.frombuffer(model.yaml.encode() + b"\0", "i1")
    np.savez(stream, **model.weights, **{"special:model.yml": text})
    return stream.getvalue()


def lex_file(first: Sequence[int], lists: Sequence[Sequence[int]], best: int = 50) -> bytes:
    """A binary shortlist: of each source id the target ids; `first` is 0 … len(first)-1."""
    offsets = np.cumsum([0, *map(len, lists)])
    ids = [id_ for ids in lists for id_ in ids]
    ids += [0] * (-len(ids) % 2)
    offsets[-1] = len(ids)
    body = struct.pack("<QQQQ", len(first), best, len(offsets), len(ids))
    body += offsets.astype("<u8").tobytes() + np.array(ids, "<u4").tobytes()
    body += bytes(-len(body) % 8)
    seed = 0
    for (number,) in struct.iter_unpack("<Q", body):
        seed ^= (number + 0x9E3779B9 + (seed << 6) + (seed >> 2)) & 0xFFFFFFFFFFFFFFFF
        seed &= 0xFFFFFFFFFFFFFFFF
    return struct.pack("<QQ", 0xF11A48D5013417F5, seed) + body


ACTIVATIONS = {
    "relu": lambda h: np.maximum(h, 0),
    "swish": lambda h: h / (1 + np.exp(-h)),
    "gelu": lambda h: h * (1 + np.vectorize(math.erf)(h / math.sqrt(2))) / 2,
}


class Reference:
    """Greedy search with Marian's equations, one sentence at a time."""

    def __init__(self, model: Toy) -> None:
        self.w = {name: weight.astype("f8") for name, weight in model.weights.items()}
        self.s = model.settings
        self.d = self.s["dim-emb"]
        self.pre = self.s["transformer-preprocess"] == "n"
        self.norms_keys = self.pre and self.s["version"] == NEW  # and values, as in training

    def positions(self, begin: int, length: int) -> NDArray[np.float64]:
        half = self.d // 2
        speed = 10000.0 ** (-np.arange(half) / (half - 1))
        angles = np.arange(begin, begin + length)[:, None] * speed
        return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)

    def norm(self, x: Any, name: str, suffix: str = "") -> Any:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-9)
        return scaled * self.w[f"{name}_ln_scale{suffix}"] + self.w[f"{name}_ln_bias{suffix}"]

    def before(self, x: Any, name: str) -> Any:
        return self.norm(x, name, "_pre") if self.pre else x

    def behind(self, y: Any, x: Any, name: str) -> Any:
        return y + x if self.pre else self.norm(y + x, name)

    def attend(self, prefix: str, x: Any, memory: Any) -> Any:
        heads = self.s["transformer-heads"]
        if self.norms_keys and prefix.endswith("_self"):
            memory = self.before(memory, f"{prefix}_Wo")
        q = self.before(x, f"{prefix}_Wo") @ self.w[f"{prefix}_Wq"] + self.w[f"{prefix}_bq"]
        k, v = (memory @ self.w[f"{prefix}_W{c}"] + self.w[f"{prefix}_b{c}"] for c in "kv")
        parts = []
        for qh, kh, vh in zip(*(np.split(z, heads, axis=-1) for z in (q, k, v)), strict=True):
            scores = qh @ kh.T / math.sqrt(qh.shape[-1])
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            parts.append(scores / scores.sum(-1, keepdims=True) @ vh)
        y = np.concatenate(parts, axis=-1) @ self.w[f"{prefix}_Wo"] + self.w[f"{prefix}_bo"]
        return self.behind(y, x, f"{prefix}_Wo")

    def feed_forward(self, prefix: str, x: Any) -> Any:
        h = self.before(x, f"{prefix}_ffn") @ self.w[f"{prefix}_W1"] + self.w[f"{prefix}_b1"]
        h = ACTIVATIONS[self.s["transformer-ffn-activation"]](h)
        y = h @ self.w[f"{prefix}_W2"] + self.w[f"{prefix}_b2"]
        return self.behind(y, x, f"{prefix}_ffn")

    def encode(self, source: Sequence[int]) -> Any:
        table = self.w.get("Wemb", self.w.get("encoder_Wemb"))
        x = math.sqrt(self.d) * table[list(source)] + self.positions(0, len(source))
        for n in range(1, self.s["enc-depth"] + 1):
            x = self.attend(f"encoder_l{n}_self", x, x)
            x = self.feed_forward(f"encoder_l{n}_ffn", x)
        return self.norm(x, "encoder_top") if self.pre else x

    def logits(self, source: Sequence[int], target: Sequence[int]) -> NDArray[np.float64]:
        """Logits TV of what follows nothing, target[:1], target[:2], …"""
        memory = self.encode(source)
        table = self.w.get("Wemb", self.w.get("decoder_Wemb"))
        inputs = np.concatenate([np.zeros((1, self.d)), table[list(target)]])
        inputs = math.sqrt(self.d) * inputs + self.positions(0, len(inputs))
        states = [[] for _ in range(self.s["dec-depth"])]  # type: ignore[var-annotated]
        rows = []
        for x in inputs:
            for n, past in enumerate(states, start=1):
                prefix = f"decoder_l{n}"
                if self.s["transformer-decoder-autoreg"] == "rnn":
                    h = self.before(x[None], f"{prefix}_rnn")[0]
                    f = 1 / (
                        1
                        + np.exp(-(h @ self.w[f"{prefix}_rnn_Wf"] + self.w[f"{prefix}_rnn_bf"][0]))
                    )
                    c = (f * past[-1] if past else 0) + (1 - f) * (h @ self.w[f"{prefix}_rnn_W"])
                    past.append(c)
                    x = self.behind(np.maximum(c, 0)[None], x[None], f"{prefix}_rnn_ffn")[0]
                else:
                    past.append(x)
                    x = self.attend(f"{prefix}_self", x[None], np.array(past))[0]
                x = self.attend(f"{prefix}_context", x[None], memory)[0]
                x = self.feed_forward(f"{prefix}_ffn", x[None])[0]
            rows.append(self.norm(x[None], "decoder_top")[0] if self.pre else x)
        out = self.w.get("decoder_ff_logit_out_W")
        out = table.T if out is None else out
        return np.array(rows) @ out + self.w["decoder_ff_logit_out_b"]

    def greedy(
        self, source: Sequence[int], most: int, allowed: Sequence[int] | None = None
    ) -> list[int]:
        """Ids, the end among them, as long as `most`; unknown is never said."""
        target: list[int] = []
        while len(target) < most:
            row = self.logits(source, target)[-1]
            row[UNKNOWN] = -np.inf
            if allowed is not None:
                barred = np.ones(len(row), bool)
                barred[list(allowed)] = False
                row[barred] = -np.inf
            target.append(int(row.argmax()))
            if target[-1] == END:
                break
        return target


def teach_to_copy(folder: Any, steps: int = 600) -> None:
    """Trains the model of this folder until it says its source again, and saves it there."""
    import torch
    from safetensors.torch import save_file
    from torch.nn.functional import cross_entropy, pad

    from allyouneed.model_folder.folder import WEIGHTS
    from allyouneed.model_folder.weights.model import untied_weights

    model, config = folder.load_model().eval(), folder.config  # without dropout
    generator = torch.Generator().manual_seed(0)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        length = int(torch.randint(2, 8, (), generator=generator))
        words_BS = torch.randint(WORDS, config.pad, (64, length), generator=generator)
        source_BS = pad(words_BS, (0, 1), value=END)
        logits_BTV = model(source_BS, pad(words_BS, (1, 0), value=config.start))
        loss = cross_entropy(logits_BTV.flatten(0, 1), source_BS.flatten())
        optimizer.zero_grad()
        loss.backward()
        model.encoder.embeddings.tokens.weight.grad[config.pad] = 0  # Marian's start is zeros
        model.output.bias.grad[config.pad] = model.output.bias.grad[UNKNOWN] = 0
        optimizer.step()
        schedule.step()
    assert loss < 0.2, loss
    weights = {name: weight.contiguous() for name, weight in untied_weights(model).items()}
    save_file(weights, folder.path / WEIGHTS)
