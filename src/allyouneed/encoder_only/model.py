"""`EncoderModel`: labels, tags, masked words and vectors of texts, by a model without a decoder.

B batch · S length · D d_model · L labels · V vocabulary
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, TypeVar, get_args, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from allyouneed.checks import expect
from allyouneed.core.config import TransformerConfig
from allyouneed.core.encoder_only import EncoderOnly
from allyouneed.core.heads import NextSentenceHead
from allyouneed.data.padding import padded
from allyouneed.device import check_threads, usable_device
from allyouneed.encoder_only.parts import Cutter, Part, Text
from allyouneed.encoder_only.prediction import Filling, Prediction, TaggedWord, Tagging
from allyouneed.engine.batches import batches_of_like_length
from allyouneed.errors import UsageError
from allyouneed.model_folder.config import Heads
from allyouneed.model_folder.folder import ModelFolder
from allyouneed.text.clean import clean
from allyouneed.text.encoder_tokenizer import MASK_IN_TEXT, AnyEncoderTokenizer
from allyouneed.text.opening import encoder_tokenizer
from allyouneed.text.words import first_pieces, words

Pooling = Literal["mean", "first"]
Result = TypeVar("Result")


class EncoderModel:
    """Predicts with one encoder-only model, in float32.

    `model` is the core model; `heads`, `tokenizer` and `config` are those of its folder. The result
    for a text does not depend on the other texts of a list. A text of more than `known_length`
    tokens, with [CLS] and [SEP], is cut into parts at the ends of sentences, and its result has a
    note. Pairs and texts with masks cannot be cut; if they are too long, a DataError is raised.
    """

    def __init__(
        self,
        model: EncoderOnly,
        tokenizer: AnyEncoderTokenizer,
        heads: Heads,
        *,
        trained_length: int | None = None,
    ) -> None:
        """`model` stays on its device. `trained_length` is the length, in tokens, that training
        covered well; None means all positions of the model."""
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.heads = heads
        longest = model.config.max_positions
        self.known_length = min(trained_length or longest, longest)
        self._cutter = Cutter(tokenizer, self.known_length, model.config.segments)

    @classmethod
    def open(
        cls, folder: ModelFolder, device: str | None = None, threads: int | None = None
    ) -> "EncoderModel":
        """The model of a folder, on a device such as "cuda" (None: the CPU).

        `threads` is the number of cores that torch may use.

        Raises:
            ModelFolderError: a translation model's folder, or weights that cannot be read.
            UsageError: the device or the number of threads is not available.
        """
        expect(folder, ModelFolder, "folder", "a ModelFolder, or call allyouneed.load(PATH)")
        check_threads(threads)
        if threads is not None:
            torch.set_num_threads(threads)
        place = usable_device(device)
        model = folder.load_encoder().to(place)
        assert folder.heads is not None  # `load_encoder` has checked it
        tokenizer = encoder_tokenizer(folder.tokenizer, str(folder.path))
        return cls(model, tokenizer, folder.heads, trained_length=folder.trained_length)

    @property
    def config(self) -> TransformerConfig:
        """The configuration of the model."""
        return self.model.config

    @property
    def device(self) -> torch.device:
        """The device that the model is on."""
        return self.model.encoder.embeddings.tokens.weight.device

    @overload
    def predict(self, texts: Text) -> Prediction: ...

    @overload
    def predict(
        self, texts: list[Text] | list[str] | list[tuple[str, str]]
    ) -> list[Prediction]: ...

    def predict(
        self, texts: Text | list[Text] | list[str] | list[tuple[str, str]]
    ) -> Prediction | list[Prediction]:
        """The label of a text or of a pair (a tuple); for a list, one `Prediction` each, in order.

        The probabilities of a text in parts are the mean over its parts, weighted by their numbers
        of tokens.

        Raises:
            UsageError: the model has no labels.
            DataError: a pair is too long. The message has its number.
        """
        head = self._head("labels", "has no labels to predict")
        queries: list[Text] = [*texts] if isinstance(texts, list) else [texts]
        parts, notes = self._cutter.cut(queries)
        found = self._run(parts, lambda states_BSD, _: head(states_BSD).softmax(-1))
        probabilities = _means(parts, found, len(queries))
        predictions = [
            _prediction(self.heads.labels, row_L, of_text)
            for row_L, of_text in zip(probabilities, notes, strict=True)
        ]
        return predictions if isinstance(texts, list) else predictions[0]

    def follows(self, first: str, second: str) -> float:
        """The probability that `second` follows `first` in one text, by the next-sentence head.

        Raises:
            UsageError: the model has no next-sentence head.
            DataError: the pair is too long.
        """
        head = self._head("next_sentence", "did not learn next sentences")
        parts, _ = self._cutter.cut([(first, second)])
        [found] = self._run(parts, lambda states_BSD, _: head(states_BSD).softmax(-1))
        return float(found[NextSentenceHead.FOLLOWS])

    @overload
    def tag(self, texts: str) -> Tagging: ...

    @overload
    def tag(self, texts: list[str]) -> list[Tagging]: ...

    def tag(self, texts: str | list[str]) -> Tagging | list[Tagging]:
        """The words of a text with their tags; for a list, one `Tagging` per text, in order.

        White space separates words. The tag of a word is that of its first piece.

        Raises:
            UsageError: the model has no tags.
        """
        head = self._head("tags", "has no tags")
        queries = texts if isinstance(texts, list) else [texts]
        parts, notes = self._cutter.cut(queries)
        found = self._run(parts, lambda states_BSD, _: head(states_BSD).softmax(-1))
        taggings: list[list[TaggedWord]] = [[] for _ in queries]
        for part, probabilities_SL in zip(parts, found, strict=True):
            taggings[part.number] += self._tagged(part, probabilities_SL)
        done = [
            Tagging(tuple(tagged), tuple(of_text))
            for tagged, of_text in zip(taggings, notes, strict=True)
        ]
        return done if isinstance(texts, list) else done[0]

    @overload
    def fill(self, texts: str, top: int = 5) -> list[list[Filling]]: ...

    @overload
    def fill(self, texts: list[str], top: int = 5) -> list[list[list[Filling]]]: ...

    def fill(
        self, texts: str | list[str], top: int = 5
    ) -> list[list[Filling]] | list[list[list[Filling]]]:
        """For each "[MASK]" of a text, in order, the `top` most probable pieces, best first.

        Special pieces are left out. A list of texts gives a list of these results.

        Raises:
            UsageError: the model has no masked-word head, a text has no mask, or the vocabulary has
                fewer than `top` pieces.
            DataError: a text is too long. The message has its number.
        """
        head = self._head("masked_words", "did not learn to fill in masked words")
        special = self._special_ids()
        if not 1 <= top <= len(self.tokenizer) - len(special):
            raise UsageError(f"top={top} must be 1 to {len(self.tokenizer) - len(special)}")
        queries = [clean(t)[0].strip() for t in (texts if isinstance(texts, list) else [texts])]
        parts = [self._cutter.masked(number, text) for number, text in enumerate(queries)]

        def best(states_BSD: Tensor, rows: Sequence[Part]) -> Iterable[Tensor]:
            masks = [[id == self.tokenizer.MASK for id in part.ids] for part in rows]
            states_MD = states_BSD[padded(masks, 0, self.device).bool()]
            probabilities_MV = head(states_MD).float().softmax(-1)
            probabilities_MV[:, special] = -1.0  # below every other, so never among the `top`
            top_MT = torch.stack([found.double() for found in probabilities_MV.topk(top)], dim=-1)
            return torch.split(top_MT, [sum(row) for row in masks])

        found = self._run(parts, best)
        filled = [
            self._fillings(text, of_text) for text, of_text in zip(queries, found, strict=True)
        ]
        return filled if isinstance(texts, list) else filled[0]

    def encode(self, texts: list[str], pooling: Pooling = "mean") -> NDArray[np.float32]:
        """A vector for each text, shape (number of texts, d_model).

        With the pooling "mean" the vector is the mean of the tokens' states; with "first" it is the
        state of [CLS]. The vector of a text in parts is the mean over its parts, weighted by their
        numbers of tokens.

        Raises:
            UsageError: another pooling, or `texts` is a single text.
        """
        return self.encode_with_notes(texts, pooling)[0]

    def encode_with_notes(
        self, texts: list[str], pooling: Pooling = "mean"
    ) -> tuple[NDArray[np.float32], list[list[str]]]:
        """The result of `encode`, and the notes about each text."""
        if pooling not in get_args(Pooling):
            raise UsageError(f"pooling={pooling!r} must be 'mean' or 'first'")
        if isinstance(texts, str):
            raise UsageError("encode takes a list of texts; put the text in brackets")

        def pooled(states_BSD: Tensor, rows: Sequence[Part]) -> Iterable[Tensor]:
            if pooling == "first":
                return states_BSD[:, 0]
            pairs = zip(states_BSD, rows, strict=True)
            return [states_SD[: len(part.ids)].mean(0) for states_SD, part in pairs]

        parts, notes = self._cutter.cut(texts)
        vectors = _means(parts, self._run(parts, pooled), len(texts))
        found = np.zeros((len(texts), self.config.d_model), np.float32)
        for row_D, vector_D in zip(found, vectors, strict=True):
            row_D[:] = vector_D.numpy()
        return found, notes

    def _head(self, name: str, lack: str) -> torch.nn.Module:
        if name not in self.model.heads:
            there = ", ".join(self.model.heads) or "none"
            raise UsageError(
                f"this model {lack}; its heads: {there}. Fine-tune the model with a recipe whose "
                "training.init is the model's folder"
            )
        return self.model.heads[name]

    @torch.inference_mode()
    def _run(
        self,
        parts: Sequence[Part],
        read: Callable[[Tensor, Sequence[Part]], Iterable[Tensor]],
    ) -> list[Tensor]:
        """One result of `read` per part, in order. `read` gets the states BSD of a batch."""
        found: dict[int, Tensor] = {}
        for chosen in batches_of_like_length([len(part.ids) for part in parts]):
            rows = [parts[number] for number in chosen]
            ids_BS = padded([part.ids for part in rows], self.tokenizer.PAD, self.device)
            segments_BS = padded([part.segments for part in rows], 0, self.device)
            read_segments_BS = segments_BS if self.config.segments else None
            states_BSD = self.model(ids_BS, read_segments_BS).states_BSD
            made = [value.cpu() for value in read(states_BSD, rows)]
            found |= zip(chosen, made, strict=True)
        return [found[number] for number in range(len(parts))]

    def _special_ids(self) -> list[int]:
        own = self.tokenizer
        return sorted({own.PAD, own.START, own.END, own.UNKNOWN, own.MASK})

    def _tagged(self, part: Part, probabilities_SL: Tensor) -> Iterator[TaggedWord]:
        spans = self.tokenizer.encode(part.text).spans
        pieces = first_pieces(part.text, spans)
        for (begin, end), piece in zip(words(part.text), pieces, strict=True):
            of_word_L = probabilities_SL[piece + 1]  # [CLS] comes first
            best = int(of_word_L.argmax())
            yield TaggedWord(
                part.text[begin:end],
                self.heads.tags[best],
                float(of_word_L[best]),
                part.begin + begin,
                part.begin + end,
            )

    def _fillings(self, text: str, found_MT2: Tensor) -> list[list[Filling]]:
        between = text.split(MASK_IN_TEXT)
        filled: list[list[Filling]] = []
        for number, top_T2 in enumerate(found_MT2.tolist(), 1):
            before, after = between[:number], between[number:]
            sides = MASK_IN_TEXT.join(before), MASK_IN_TEXT.join(after)
            filled.append(
                [
                    Filling(self.tokenizer.piece(int(id)), p, self.tokenizer.put(int(id), *sides))
                    for p, id in top_T2
                ]
            )
        return filled


def _means(parts: Sequence[Part], found: Sequence[Tensor], texts: int) -> list[Tensor]:
    """For each text the mean of its parts' values `found`, weighted by their numbers of tokens."""
    sums: list[Tensor | float] = [0.0] * texts
    tokens = [0] * texts
    for part, value in zip(parts, found, strict=True):
        sums[part.number] = sums[part.number] + value.double() * len(part.ids)
        tokens[part.number] += len(part.ids)
    return [torch.as_tensor(total) / count for total, count in zip(sums, tokens, strict=True)]


def _prediction(labels: Sequence[str], probabilities_L: Tensor, notes: Sequence[str]) -> Prediction:
    order = probabilities_L.argsort(descending=True, stable=True).tolist()
    probabilities = {labels[n]: float(probabilities_L[n]) for n in order}
    return Prediction(labels[order[0]], probabilities, tuple(notes))
