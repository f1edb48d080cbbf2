"""Imports a checkpoint of fairseq, or of NVIDIA's branch of it.

The package fairseq is not needed. The import also needs the dictionaries, dict.LANGUAGE.txt, and
the BPE codes of the model.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from allyouneed.core.transformer import Transformer
from allyouneed.errors import ConfigError, DataError
from allyouneed.interop.fairseq_checkpoint import FairseqCheckpoint, read_checkpoint
from allyouneed.interop.fairseq_dictionary import read_dictionary
from allyouneed.interop.fairseq_shape import adopt_config, misfits, notes_on
from allyouneed.interop.fairseq_weights import adopt_weights, unified
from allyouneed.interop.new_folder import new_folder
from allyouneed.model_folder.folder import ModelFolder, open_model_folder, save_model_folder
from allyouneed.model_folder.traits import Traits
from allyouneed.model_folder.weights.model import WeightsLeftUnset, fill_weights
from allyouneed.text.fairseq_tokenizer import JOINER, SPECIALS, FairseqTokenizer
from allyouneed.text.moses import ESCAPES, HYPHEN

Languages = tuple[str, str]
Symbols = tuple[list[str], list[str]]

CODES = ("bpecodes", "bpe_codes", "bpe.codes", "codes", "code", "bpe.32000")
"""The names of files of BPE codes in the archives of published models."""
BPE_WITH_CODES = ("subword_nmt", "fastbpe")
WORDS = ("moses", "space")
TO_SEE = 20  # the most languages that an error names
CARD = """\
# {name}

Imported from {source}, a checkpoint of {toolkit}. Its licence is that of the model it was made
from.

- {encoder_layers} encoder and {decoder_layers} decoder layers, d_model {d_model}, {heads} heads
- {source_pieces:,} source pieces, {target_pieces:,} target pieces
- text: {text}

fairseq ranks hypotheses by their mean log-probability per token and stops when it has as many as
the beam. allyouneed's default search ranks otherwise and searches longer. For fairseq's search, use

```python
from allyouneed import load
from allyouneed.decoding.length_penalty import Average
from allyouneed.decoding.options import BeamOptions
options = BeamOptions(beam=5, length_penalty=Average(), stop="first")
print(load("{name}")("Good morning!", options=options).text)
```
"""


def import_fairseq(
    checkpoint: Path,
    into: Path,
    *,
    dictionaries: Path | None = None,
    codes: Path | None = None,
    note: Callable[[str], None],
) -> ModelFolder:
    """Writes the model of a checkpoint to `into`, which must be empty or must not exist.

    `dictionaries` is a folder of dict.LANGUAGE.txt, or one such file for both sides (None: the
    checkpoint's folder, or the dictionaries inside the checkpoint). `codes` is the file of BPE
    codes (None: a file with a usual name in the checkpoint's folder). `note` receives the rules
    that were chosen for the text.

    Raises:
        ModelFolderError: the checkpoint cannot be read, or `into` cannot be written.
        ConfigError: the model has unsupported features; the message lists all of them.
        DataError: dictionaries or codes are missing or damaged.
        UsageError: `into` is in use, or the package for Moses' rules is not installed.
    """
    with new_folder(into) as beside:
        found = read_checkpoint(Path(checkpoint))
        settings = found.settings
        symbols = _symbols(found, dictionaries)
        model = adopt(found, (len(symbols[0]), len(symbols[1])))
        tokenizer, rules = _tokenizer(found, symbols, codes)
        for said in (*notes_on(settings), f"text: {rules}"):
            note(said)
        config, nvidia = model.config, "fuse_layer_norm" in settings
        save_model_folder(
            beside,
            model,
            tokenizer,
            Traits(languages=_languages(settings)),
            card=CARD.format(
                name=Path(into).resolve().name,
                source=found.path.resolve().name,
                toolkit="NVIDIA's Transformer" if nvidia else "fairseq",
                encoder_layers=config.encoder_layers,
                decoder_layers=config.decoder_layers,
                d_model=config.d_model,
                heads=config.heads,
                source_pieces=len(tokenizer),
                target_pieces=len(tokenizer.target),
                text=rules,
            ),
            training={"imported_from": "fairseq", "arch": str(settings.get("arch"))},
        )
    return open_model_folder(Path(into))


def adopt(checkpoint: FairseqCheckpoint, vocabularies: tuple[int, int]) -> Transformer:
    """The Transformer with a checkpoint's weights. `vocabularies` are the numbers of source and
    target symbols.

    Raises:
        ConfigError: the model has unsupported features; the message lists all of them.
    """
    problems = misfits(checkpoint.settings)
    try:
        config = adopt_config(checkpoint.settings, vocabularies)
    except ConfigError as error:
        raise _does_not_fit(checkpoint, problems or [str(error)]) from error
    ours, more = adopt_weights(unified(checkpoint.weights), checkpoint.settings, config)
    if problems or more:
        raise _does_not_fit(checkpoint, [*problems, *more])
    with WeightsLeftUnset():
        model = Transformer(config)
    fill_weights(model, ours, checkpoint.path)
    return model.eval()


def _does_not_fit(checkpoint: FairseqCheckpoint, problems: list[str]) -> ConfigError:
    listed = "".join(f"\n  - {problem}" for problem in problems)
    arch = checkpoint.settings.get("arch")
    return ConfigError(
        f"{checkpoint.path} (arch={arch}) does not fit a Transformer as the paper has it:{listed}"
    )


def _languages(settings: Mapping[str, Any]) -> Languages:
    source, target = (str(settings.get(f"{side}_lang") or "") for side in ("source", "target"))
    return source, target


def _symbols(checkpoint: FairseqCheckpoint, dictionaries: Path | None) -> Symbols:
    """The dictionaries of source and target."""
    if dictionaries is None and checkpoint.symbols is not None:
        for symbols in checkpoint.symbols:
            if tuple(symbols[1 : len(SPECIALS)]) != SPECIALS[1:]:
                raise DataError(f"{checkpoint.path}: a dictionary begins with {symbols[:4]}")
        return checkpoint.symbols
    place = dictionaries or checkpoint.path.parent
    if place.is_file():
        both = read_dictionary(place)
        return both, both
    languages = _languages(checkpoint.settings)
    files = [place / f"dict.{language}.txt" for language in languages if language]
    if len(files) < 2 or not all(file.is_file() for file in files):
        there = sorted(file.name for file in place.glob("dict.*.txt"))[:TO_SEE]
        wanted = " and ".join(file.name for file in files) or "dict.LANGUAGE.txt of both languages"
        raise DataError(
            f"{place} lacks {wanted} (it has {', '.join(there) or 'no dict.*.txt'}); name the "
            "folder that has them, or one file for both sides, as the dictionaries"
        )
    return read_dictionary(files[0]), read_dictionary(files[1])


def _tokenizer(
    checkpoint: FairseqCheckpoint, symbols: Symbols, codes: Path | None
) -> tuple[FairseqTokenizer, str]:
    """The tokenizer, and its rules in words."""
    settings, known = checkpoint.settings, set(symbols[0]) | set(symbols[1])
    words, bpe = settings.get("tokenizer"), settings.get("bpe")
    problems = []
    if words is not None and words not in WORDS:
        problems.append(f"tokenizer={words}: only {' and '.join(WORDS)} are here")
    if bpe is not None and bpe not in BPE_WITH_CODES:
        problems.append(f"bpe={bpe}: only {' and '.join(BPE_WITH_CODES)} are here")
    if problems:
        raise _does_not_fit(checkpoint, problems)
    file = codes or _codes_beside(checkpoint.path)
    if file is None and any(symbol.endswith(JOINER) for symbol in known):
        raise DataError(
            f"{checkpoint.path}: the pieces of its dictionary end in {JOINER}, so the file of BPE "
            f"codes is needed; name it, or put it into the checkpoint's folder as {CODES[0]}"
        )
    moses = None if words == "space" else _moses(settings, known)
    tokenizer = FairseqTokenizer.of_sides(
        symbols,
        _moses_languages(settings),
        moses=moses,
        codes=None if file is None else _read(file),
        origin=str(file),
    )
    said = "words set apart by spaces"
    if moses is not None:
        said = f"Moses' rules for {' and '.join(_moses_languages(settings))}"
        said += ", signs as escapes" * moses["escapes"] + ", cut at hyphens" * moses["hyphens"]
    return tokenizer, said + (f"; codes of {file.name}" if file else "; whole words")


def _moses(settings: Mapping[str, Any], known: set[str]) -> dict[str, bool]:
    """Moses' options: those of the checkpoint, or, if the text was prepared outside of fairseq,
    options inferred from the pieces of the dictionary."""
    if settings.get("tokenizer") == "moses":
        return {
            "escapes": not settings.get("moses_no_escape"),
            "hyphens": not settings.get("moses_no_dash_splits"),
        }
    return {"escapes": not known.isdisjoint(ESCAPES), "hyphens": HYPHEN in known}


def _moses_languages(settings: Mapping[str, Any]) -> Languages:
    """The languages of Moses' rules; English if none is named."""
    source, target = (language.split("_")[0] or "en" for language in _languages(settings))
    return source, target


def _codes_beside(checkpoint: Path) -> Path | None:
    files = [checkpoint.parent / name for name in CODES]
    return next((file for file in files if file.is_file()), None)


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"{file} cannot be read ({error}); give the codes that subword-nmt or fastBPE wrote"
        ) from error
