"""Makes tests/interop/fairseq: checkpoints by fairseq 0.12.2 itself, and what fairseq says of them.

    python make_fairseq_golden.py [FOLDER [SEED]]

fairseq's pins fit no other environment, so it needs one of its own, without its compiled parts:

    python3.11 -m venv fairseq-env
    fairseq-env/bin/pip install torch==2.13.0 numpy "setuptools<81" wheel cython cffi regex mock \\
        sacrebleu==2.6.0 sacremoses==0.2.0 subword-nmt==0.3.8 bitarray scikit-learn omegaconf \\
        hydra-core antlr4-python3-runtime==4.9.3 safetensors
    fairseq-env/bin/pip download --no-deps --no-build-isolation --no-binary fairseq fairseq==0.12.2
    tar xzf fairseq-0.12.2.tar.gz
    PYTHONPATH=fairseq-0.12.2 fairseq-env/bin/python tests/interop/make_fairseq_golden.py

Each checkpoint NAME.pt is of a tiny model that has learnt a few sentences; NAME.json holds what
fairseq's search finds with it, NAME.safetensors its logits. text.json is what fairseq's own
encoders, Moses' rules and subword-nmt, make of text.
"""

import dataclasses
import inspect
import io
import json
import logging
import os
import sys
import warnings
from argparse import Namespace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn.functional import cross_entropy

# Python 3.11 refuses mutable defaults of dataclasses, and fairseq has many.
lenient = inspect.getsource(dataclasses._get_field).replace(
    "f.default.__class__.__hash__ is None", "False"
)
exec(compile(lenient, dataclasses.__file__, "exec"), dataclasses.__dict__)
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

from fairseq import options, tasks  # noqa: E402
from fairseq.data import Dictionary, encoders  # noqa: E402
from fairseq.dataclass.utils import convert_namespace_to_omegaconf  # noqa: E402
from fairseq.sequence_generator import SequenceGenerator  # noqa: E402
from fairseq.trainer import Trainer  # noqa: E402
from subword_nmt import apply_bpe, learn_bpe  # noqa: E402

HERE = Path(__file__).with_name("fairseq")
PAIRS = (
    ("A man rides a red bike.", "Ein Mann fährt ein rotes Rad."),
    ("A woman rides a blue bike.", "Eine Frau fährt ein blaues Rad."),
    ("The boy's dog is well-known.", "Der Hund des Jungen ist wohl-bekannt."),
    ('"Two dogs", said the man.', '"Zwei Hunde", sagte der Mann.'),
    ("The woman & the man read a book.", "Die Frau & der Mann lesen ein Buch."),
    ("Is the red dog big?", "Ist der rote Hund groß?"),
    ("It isn't 3,000 years old!", "Es ist nicht 3.000 Jahre alt!"),
    ("Two men (and a boy) read.", "Zwei Männer (und ein Junge) lesen."),
)
UNSEEN = (
    "The man's blue-red dogs... isn't it?",
    '  Two\twomen, 1,5 km <away> [here] | there & "then".  ',
    "Größe: 5 % — 日本語 für €20",
    "&quot; &amp; @-@ x@@ y",
    "a\u00a0b\u0007c \u200bd",
    "",
    "a",
)
OLD_RULES = "e d\ned </w>\nr i\ni k\nri d\nik e\nb ike\nbike </w>\ns </w>\nbike s</w>\n"
WORDS = ("bike", "bikes", "a", "women", "rides", "Größe", "日本", "r", "bikebike", "ed", "&apos;s")
JOINED, APART = "joined", "apart"  # folders of dictionaries
PRE_NORM = "--encoder-normalize-before --decoder-normalize-before"
UNUSUAL = f"--layernorm-embedding --no-scale-embedding {PRE_NORM}"
VARIANTS = {
    # name: (dictionaries, where the checkpoint says what the model is, options)
    "post-norm": (JOINED, "args", "--share-all-embeddings"),
    "pre-norm": (JOINED, "cfg", f"--share-all-embeddings {PRE_NORM}"),
    "apart": (APART, "cfg", "--encoder-learned-pos --decoder-learned-pos"),
    "mixed": (
        APART,
        "args",
        f"--share-decoder-input-output-embed --decoder-learned-pos --activation-fn gelu {UNUSUAL}",
    ),
    "no-positions": (
        JOINED,
        "omegaconf",
        "--share-decoder-input-output-embed --no-token-positional-embeddings",
    ),
}
COMMON = (
    "--task translation --source-lang en --target-lang de --cpu --arch transformer --max-tokens 99 "
    "--optimizer adam --dropout 0 --no-save-optimizer-state --max-source-positions 64 "
    "--max-target-positions 64 --tokenizer moses --bpe subword_nmt --bpe-codes codes "
    "--encoder-embed-dim 8 --encoder-ffn-embed-dim 12 --encoder-layers 2 --decoder-layers 1 "
    "--encoder-attention-heads 2 --decoder-attention-heads 2"
)
STEPS, ENOUGH = 900, 0.5  # of training, and the loss at which hypotheses end and yet differ
LONGEST = 50
LOGITS = 3  # sentences


def moses(source: str) -> Any:
    """fairseq's encoder of words, with its own settings."""
    settings = {"moses_no_dash_splits": False, "moses_no_escape": False, "target_lang": "de"}
    return encoders.build_tokenizer(Namespace(tokenizer="moses", source_lang=source, **settings))


class Text:
    """fairseq's own encoders, with the file of codes."""

    def __init__(self) -> None:
        self.moses = {language: moses(language) for language in ("en", "de")}
        codes = Namespace(bpe="subword_nmt", bpe_codes="codes", bpe_separator="@@")
        self.bpe = encoders.build_bpe(codes)

    def encode(self, text: str, language: str = "en") -> str:
        """Pieces with a space between them."""
        return self.bpe.encode(self.moses[language].encode(text))

    def decode(self, line: str) -> str:
        """Text from such pieces."""
        return self.moses["en"].decode(self.bpe.decode(line))


def make_text() -> Text:
    """Codes, a dictionary for both languages, and one for each."""
    words = [moses(("en", "de")[n]).encode(pair[n]) for n in (0, 1) for pair in PAIRS]
    with Path("codes").open("w", encoding="utf-8") as codes:
        learn_bpe.learn_bpe(io.StringIO("\n".join(words)), codes, 70)
    text, joined = Text(), Dictionary()
    for kind in (JOINED, APART):
        Path(kind).mkdir(exist_ok=True)
    for n, language in enumerate(("en", "de")):
        alone = Dictionary()
        for pair in PAIRS:
            for piece in text.encode(pair[n], language).split():
                alone.add_symbol(piece)
                joined.add_symbol(piece)
        alone.finalize(padding_factor=8)
        alone.save(f"{APART}/dict.{language}.txt")
    joined.finalize(padding_factor=8)
    for language in ("en", "de"):
        joined.save(f"{JOINED}/dict.{language}.txt")
    return text


def say_text(text: Text) -> dict[str, Any]:
    """What fairseq makes of text, and subword-nmt of words with codes of either version."""
    joined = Dictionary.load(f"{JOINED}/dict.en.txt")
    sentences = [*(english for english, _ in PAIRS), *UNSEEN]
    lines = [text.encode(sentence) for sentence in sentences]
    codes = {"0.1": OLD_RULES, "0.2": Path("codes").read_text("utf-8")}
    return {
        "sentences": [
            {
                "text": sentence,
                "pieces": line.split(),
                "ids": joined.encode_line(line, add_if_not_exist=False).tolist(),
                "back": text.decode(line),
            }
            for sentence, line in zip(sentences, lines, strict=True)
        ],
        "old_rules": OLD_RULES,
        "words": {
            version: {word: apply_bpe.BPE(io.StringIO(rules)).process_line(word) for word in WORDS}
            for version, rules in codes.items()
        },
    }


def batch(sources: list[list[int]], targets: list[list[int]]) -> tuple[Tensor, ...]:
    """Left-padded sources, their lengths, targets shifted right behind the end, and targets."""
    longest = max(map(len, sources))
    source = torch.tensor([[1] * (longest - len(ids)) + ids for ids in sources])
    longest = max(map(len, targets))
    target = torch.tensor([ids + [1] * (longest - len(ids)) for ids in targets])
    before = torch.tensor([[2, *ids[:-1]] + [1] * (longest - len(ids)) for ids in targets])
    return source, torch.tensor([len(ids) for ids in sources]), before, target


def train(model: Any, source: Tensor, lengths: Tensor, before: Tensor, target: Tensor) -> None:
    """Learns the pairs by heart, nearly."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    model.train()
    for _ in range(STEPS):
        logits = model(source, lengths, before)[0]
        loss = cross_entropy(logits.transpose(1, 2), target, ignore_index=1)
        optimizer.zero_grad()
        if loss < ENOUGH:
            break
        loss.backward()
        optimizer.step()
    model.eval()


def randomise(model: Any, *, attention_bias: bool) -> None:
    """No norm stays at one, no bias at zero; but those of attention do where it is to have none, as
    NVIDIA's."""
    for name, weight in model.named_parameters():
        if weight.dim() == 1:
            torch.nn.init.normal_(weight, mean=float("norm.weight" in name), std=0.1)
        if "attn." in name and "bias" in name and not attention_bias:
            weight.requires_grad_(False).zero_()


def save(path: str, form: str, args: Namespace, cfg: Any, task: Any, model: Any) -> None:
    """As fairseq saves it: of late (cfg), around 0.10 (omegaconf), and before (args)."""
    if form == "cfg":
        trainer = Trainer(cfg, task, model, task.build_criterion(cfg.criterion))
        trainer._gathered_optim_state = None
        trainer.save_checkpoint(path, {"epoch": 1})
        return
    weights = model.state_dict()
    if form == "args":  # what 0.12 keeps for its fast path, such as fc1_weight, was not there then
        weights = {k: w for k, w in weights.items() if not k.endswith(("_weight", "_bias"))}
    said = {"args": args} if form == "args" else {"args": None, "cfg": cfg}
    state = {**said, "model": weights, "extra_state": {"epoch": 1}}
    torch.save(state, path, _use_new_zipfile_serialization=form != "args")


def load(path: str, cfg: Any, task: Any) -> Any:
    """What was saved, as fairseq loads it."""
    model = task.build_model(cfg.model)
    weights = torch.load(path, weights_only=False)["model"]
    model.load_state_dict(weights, strict=True, model_cfg=cfg.model)
    for layer in model.encoder.layers:
        layer.load_to_BT = False  # fairseq's fast path calls torch as it was in 2022
    return model.eval()


def make(name: str, text: Text, seed: int) -> None:
    """One variant."""
    kind, form, wanted = VARIANTS[name]
    torch.manual_seed(seed)
    parser = options.get_training_parser()
    args = options.parse_args_and_arch(parser, f"{kind} {COMMON} {wanted}".split())
    cfg = convert_namespace_to_omegaconf(args)
    task = tasks.setup_task(cfg.task)
    model = task.build_model(cfg.model)
    randomise(model, attention_bias=name != "post-norm")

    def ids(sentence: str, language: str, dictionary: Any) -> list[int]:
        line = text.encode(sentence, language)
        return dictionary.encode_line(line, add_if_not_exist=False).tolist()

    source, lengths, before, target = batch(
        [ids(english, "en", task.source_dictionary) for english, _ in PAIRS],
        [ids(german, "de", task.target_dictionary) for _, german in PAIRS],
    )
    train(model, source, lengths, before, target)
    save(f"{name}.pt", form, args, cfg, task, model)
    model = load(f"{name}.pt", cfg, task)
    with torch.no_grad():
        logits = model(source, lengths, before)[0][:LOGITS].contiguous()
    tensors = {"source": source, "target": target, "before": before, "logits": logits}
    save_file(tensors, f"{name}.safetensors")
    Path(f"{name}.safetensors").chmod(0o644)
    found = {str(beam): search(model, task, source, beam, text) for beam in (4, 5)}
    Path(f"{name}.json").write_text(json.dumps(found, ensure_ascii=False) + "\n", "utf-8")


def search(model: Any, task: Any, source: Tensor, beam: int, text: Text) -> list[Any]:
    """All hypotheses of each sentence; None where fairseq forced one to end, at the longest."""
    dictionary = task.target_dictionary
    generator = SequenceGenerator(
        [model], dictionary, beam_size=beam, len_penalty=1.0, max_len_b=LONGEST
    )
    net_input = {"src_tokens": source, "src_lengths": source.ne(1).sum(dim=1)}
    found = generator.generate([model], {"net_input": net_input})
    whole = [all(len(one["tokens"]) <= LONGEST for one in some) for some in found]
    print(f"beam {beam}: {sum(whole)} of {len(whole)} whole", file=sys.stderr)
    return [
        [
            {
                "ids": one["tokens"].tolist(),
                "score": one["score"].item(),
                "log_probabilities": one["positional_scores"].tolist(),
                "text": text.decode(dictionary.string(one["tokens"])),
            }
            for one in some
        ]
        if ended
        else None
        for some, ended in zip(found, whole, strict=True)
    ]


def main(folder: Path, seed: int) -> None:
    """All of it."""
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)  # checkpoints say where their data was
    text = make_text()
    said = json.dumps(say_text(text), ensure_ascii=False, indent=1)
    Path("text.json").write_text(said + "\n", "utf-8")
    for name in VARIANTS:
        print(name, file=sys.stderr)
        make(name, text, seed)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else HERE, int(sys.argv[2]) if sys.argv[2:] else 1)
