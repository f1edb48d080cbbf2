import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import allyouneed
from allyouneed.decoding.links import pharaoh
from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.engine.engine import Note, ignore
from allyouneed.engine.torch_engine import TorchEngine, core_engine
from allyouneed.errors import DataError, ShapeError, UsageError
from allyouneed.loading import load
from allyouneed.translation.segments import Segmenter
from allyouneed.translation.translator import Score, Translation, Translator

THREE = "The dog sleeps. Where is the station? A man rides a bike."  # 3 parts to the copier
QUICK = BeamOptions(beam=1, max_length=12)


def lines(number: int, seed: int = 0) -> list[str]:
    """Texts of 1 to 6 words of a few letters."""
    draw = torch.Generator().manual_seed(seed)

    def upto(limit: int) -> int:
        return int(torch.randint(1, limit + 1, (1,), generator=draw))

    def word() -> str:
        return "".join(chr(ord("a") + upto(26) - 1) for _ in range(upto(5)))

    return [" ".join(word() for _ in range(upto(6))) for _ in range(number)]


def same(one: Translation, other: Translation) -> bool:
    """Whether two translations are the same, but for rounding."""
    return (
        (one.source, one.text, one.tokens, one.alignment, one.notes)
        == (other.source, other.text, other.tokens, other.alignment, other.notes)
        and one.log_probability == pytest.approx(other.log_probability, abs=1e-4)
        and len(one.alternatives) == len(other.alternatives)
        and all(map(same, one.alternatives, other.alternatives))
    )


# One text


def test_a_text_gives_a_translation(copier: Translator) -> None:
    translation = copier("The dog sleeps.")
    assert isinstance(translation, Translation)
    assert (translation.source, translation.text) == ("The dog sleeps.", "The dog sleeps.")
    encoding = copier.tokenizer.encode("The dog sleeps.")
    assert translation.tokens == tuple(encoding.pieces)
    assert len(translation.token_log_probabilities) == len(encoding.ids)
    assert translation.log_probability == pytest.approx(sum(translation.token_log_probabilities))
    assert translation.average_log_likelihood == pytest.approx(
        translation.log_probability / len(encoding.ids)
    )
    assert translation.probability == pytest.approx(math.exp(translation.average_log_likelihood))
    assert 0.9 < translation.probability < 1
    assert (translation.alternatives, translation.alignment, translation.notes) == ((), None, ())


@pytest.mark.parametrize("text", ["", " ", "\n", " \t\u3000\r\n\n "])
def test_blank_texts_stay_as_they_are(text: str, copier: Translator) -> None:
    translation = copier(text, n_best=3, prefix="No", alignments=True)
    assert (translation.source, translation.text, translation.tokens) == (text, text, ())
    assert (translation.log_probability, translation.average_log_likelihood) == (0, 0)
    assert translation.alignment == ()
    assert [alternative.text for alternative in translation.alternatives] == [text]
    json.dumps(translation.to_dict())


@settings(max_examples=25, deadline=None)
@given(space=st.text(alphabet=" \t\n\r\u00a0\u3000", max_size=5))
def test_white_space_and_lines_are_kept(space: str, copier: Translator) -> None:
    text = f"{space}The dog\nsleeps.{space}\n\n A man{space}"
    assert copier(text, beam=1).text == text


def test_each_line_is_translated_by_itself(babbler: Translator) -> None:
    both = babbler("ab cd\n  efg hi")
    first, second = babbler("ab cd"), babbler("efg hi")
    assert both.text == f"{first.text}\n  {second.text}"
    assert both.tokens == first.tokens + second.tokens
    assert both.log_probability == pytest.approx(first.log_probability + second.log_probability)
    assert both.notes == tuple(dict.fromkeys(first.notes + second.notes))


def test_long_text_is_split_with_a_note(copier: Translator) -> None:
    translation = copier(THREE)
    assert translation.text == THREE
    assert translation.tokens.count("</s>") == 3
    assert translation.notes == (
        "longer than the 24 tokens that the model knows: translated in 3 parts",
    )


def test_text_that_fits_is_not_split_when_nobody_knows_better(copier: Translator) -> None:
    translator = Translator.of_model(copier.model, copier.tokenizer)
    text = "Stop. Go. Stop. Go. Stop."
    assert 24 < len(copier.tokenizer.encode(text).ids) <= 32
    assert translator(text).tokens.count("</s>") == 1
    assert copier(text).tokens.count("</s>") == 3  # a sentence of two letters goes with the next


def test_what_is_cut_off_by_a_limit_has_a_note(copier: Translator) -> None:
    translation = copier("The dog sleeps.\nThe dog sleeps.", options=BeamOptions(max_length=4))
    assert translation.notes == ("stopped at the length limit before the end of a sentence",)
    assert len(translation.tokens) == 8


# Many texts


def test_lists_come_back_in_order(copier: Translator) -> None:
    texts = [*lines(60), "", THREE, " ", "a\nb"]
    assert [translation.text for translation in copier(texts)] == texts
    assert [translation.source for translation in copier(tuple(texts))] == texts
    assert copier([]) == []


@pytest.mark.parametrize(
    "options",
    [
        BeamOptions(max_length=12),
        BeamOptions(max_length=12, n_best=4),
        SamplingOptions(max_length=12, samples=2, seed=3, top_p=0.9),
    ],
    ids=["beam", "n-best", "sampling"],
)
def test_batches_never_change_results(
    options: BeamOptions | SamplingOptions, babbler: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [*lines(40), "one line\nand another", "", "x"]
    together = babbler(texts, options=options)
    monkeypatch.setattr(babbler.engine, "batch_hypotheses", 28)
    backwards = babbler(texts[::-1], options=options)[::-1]
    alone = [babbler(text, options=options) for text in texts]
    assert len({translation.tokens for translation in together}) > 20
    for others in (backwards, alone):
        alike = [same(a, b) for a, b in zip(together, others, strict=True)]
        assert sum(alike) >= 0.999 * len(alike)


def test_seed_decides_about_samples(babbler: Translator) -> None:
    text, one = lines(1)[0], SamplingOptions(max_length=10, samples=3, seed=1)
    other = SamplingOptions(max_length=10, samples=3, seed=2)
    first = [alternative.text for alternative in babbler(text, options=one).alternatives]
    assert first == [alternative.text for alternative in babbler(text, options=one).alternatives]
    assert first != [alternative.text for alternative in babbler(text, options=other).alternatives]
    assert len(set(first)) == 3
    assert babbler(text, options=one).text == first[0]


def test_wide_beams_make_small_batches(
    babbler: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    encode = babbler.model.encode

    def watch(source_BS: torch.Tensor) -> object:
        sizes.append(len(source_BS))
        return encode(source_BS)

    monkeypatch.setattr(babbler.model, "encode", watch)
    babbler(["ab"] * 40, options=BeamOptions(beam=64, max_length=2))
    assert sizes == [8] * 5  # 512 hypotheses each


# Search


def test_n_best(babbler: Translator) -> None:
    translation = babbler("ab cde", 2, 5, options=None)
    assert len(translation.alternatives) == 5
    first = translation.alternatives[0]
    assert (translation.text, translation.tokens) == (first.text, first.tokens)
    scores = [
        alternative.log_probability / ((5 + len(alternative.tokens)) / 6) ** 0.6
        for alternative in translation.alternatives
    ]
    assert scores == sorted(scores, reverse=True)
    assert len({alternative.tokens for alternative in translation.alternatives}) == 5
    assert all(alternative.alternatives == () for alternative in translation.alternatives)


def test_n_best_of_several_parts_changes_the_least_first(babbler: Translator) -> None:
    parts = [babbler(text, n_best=3, beam=6) for text in ("ab cd", "efg")]
    both = babbler("ab cd\nefg", n_best=3, beam=6)
    first, second = ([alternative.text for alternative in p.alternatives] for p in parts)
    texts = [alternative.text for alternative in both.alternatives]
    assert texts[0] == f"{first[0]}\n{second[0]}"
    assert texts[1] in (f"{first[1]}\n{second[0]}", f"{first[0]}\n{second[1]}")
    assert len(texts) == 3


def test_samples_of_several_parts_go_together_by_number(babbler: Translator) -> None:
    options = SamplingOptions(samples=3, max_length=8)
    parts = [babbler(text, options=options).alternatives for text in ("ab cd", "efg")]
    both = babbler("ab cd\nefg", options=options).alternatives
    assert [x.text for x in both] == [f"{a.text}\n{b.text}" for a, b in zip(*parts, strict=True)]


def test_options_say_everything(babbler: Translator) -> None:
    assert (
        babbler("ab cd", options=BeamOptions(beam=2, max_length=3))
        == (babbler(["ab cd"], options=BeamOptions(beam=2, max_length=3))[0])
    )
    assert len(babbler("ab cd", options=BeamOptions(max_length=3)).tokens) <= 3
    assert babbler("ab cd", beam=1) == babbler("ab cd", options=BeamOptions(beam=1))
    assert babbler("ab cd", beam=1) != babbler("ab cd")


@pytest.mark.parametrize("prefix", ["Ein Mann", "  Wo", "fähr", "😀", "Ein Mann "])
def test_prefix_begins_every_translation(prefix: str, babbler: Translator) -> None:
    for translation in babbler(["ab cd", "efg", "hi"], prefix=prefix):
        assert translation.text.startswith(prefix.strip())
    assert not babbler("ab cd").text.startswith(prefix.strip())


def test_a_prefix_that_utf_8_cannot_hold_is_replaced_with_a_note(babbler: Translator) -> None:
    found = babbler("ab cd", prefix="Wo \ud83d")
    assert found.text.startswith("Wo \ufffd")
    assert found.notes[0].startswith("in the prefix, 1 lone surrogate")


def test_prefix_comes_once_in_a_text(babbler: Translator) -> None:
    parts = [babbler("ab cd", prefix="Wo").text, babbler("efg").text]
    assert babbler("\nab cd\nefg", prefix="Wo").text == f"\n{parts[0]}\n{parts[1]}"


# Alignments and attention


def test_alignment_of_a_copy_is_the_diagonal(copier: Translator) -> None:
    assert copier("The dog sleeps.", alignments=True).alignment == ((0, 0), (1, 1), (2, 2))


@pytest.mark.parametrize(
    "text",
    [
        THREE,
        "The dog\n\n  sleeps.\tWhere  is\u00a0the station? ",
        "abcdefghij" * 12 + " and " + "klmno" * 12,
    ],
    ids=["sentences", "white space", "cut words"],
)
def test_alignment_counts_words_through_split_texts(text: str, copier: Translator) -> None:
    translation = copier(text, alignments=True)
    assert translation.text == text
    assert translation.alignment is not None
    assert set(translation.alignment) == {(n, n) for n in range(len(text.split()))}


def test_alignment_sees_the_space_that_a_cut_leaves_to_the_next_part(copier: Translator) -> None:
    segmenter = Segmenter(copier.tokenizer, known_length=24)
    texts = (f"{'x' * k} {'y' * 20}" for k in range(12, 24))
    text = next(t for t in texts if any(s.before == " " for s in segmenter.cut(t).segments))
    assert set(copier(text, alignments=True).alignment or ()) == {(0, 0), (1, 1)}


def test_alignment_stays_within_the_words(babbler: Translator) -> None:
    texts = [f"{a}  {b}\n\n{c}" for a, b, c in zip(*[iter(lines(60))] * 3, strict=True)]
    for translation in babbler(texts, alignments=True, options=QUICK):
        assert translation.alignment
        for i, j in translation.alignment:
            assert i < len(translation.source.split())
            assert j < len(translation.text.split())


def test_attention_is_a_distribution(copier: Translator) -> None:
    source, target = "The dog sleeps.", "A man."
    source_pieces, target_pieces, weights_TS = copier.attention(source, f" {target}\n")
    assert source_pieces == copier.tokenizer.encode(source).pieces
    assert target_pieces == copier.tokenizer.encode(target).pieces
    assert weights_TS.shape == (len(target_pieces), len(source_pieces))
    assert weights_TS.sum(axis=1) == pytest.approx(1.0)
    with pytest.raises(ShapeError, match="do not fit into max_positions=64"):
        copier.attention("字" * 30, target)


# Scores


def test_score_is_what_the_search_found(copier: Translator) -> None:
    sources = [line for line in lines(40) if len(copier.tokenizer.encode(line).ids) <= 24]
    translations = copier(sources)
    assert not any(translation.notes for translation in translations), "none is split"
    scores = copier.score(sources, [translation.text for translation in translations])
    for score, translation in zip(scores, translations, strict=True):
        assert isinstance(score, Score)
        assert score.tokens == translation.tokens
        assert score.token_log_probabilities == pytest.approx(
            translation.token_log_probabilities, abs=1e-4
        )
        assert score.probability == pytest.approx(translation.probability, abs=1e-4)


def test_score_of_a_forced_prefix(babbler: Translator) -> None:
    prefix = "Wo ist"
    size = len(babbler.tokenizer.encode(prefix).ids) - 1
    forced = babbler("ab cd", prefix=prefix).token_log_probabilities[:size]
    given = babbler.score(["ab cd"], [prefix])[0].token_log_probabilities[:size]
    assert forced == pytest.approx(given, abs=1e-4)
    assert babbler.score(["efg"], [prefix])[0].token_log_probabilities[:size] != (
        pytest.approx(given, abs=1e-2)
    )


def test_scores_come_in_order_whatever_the_batch(babbler: Translator) -> None:
    sources, targets = lines(30), lines(30, seed=1)
    sources[3] = targets[5] = ""
    together = babbler.score(sources, targets)
    for score, source, target in zip(together, sources, targets, strict=True):
        assert score.tokens == tuple(babbler.tokenizer.encode(target).pieces)
        [alone] = babbler.score([f" {source}\n"], [f"\t{target}"])
        assert alone.tokens == score.tokens
        assert alone.log_probability == pytest.approx(score.log_probability, abs=1e-4)
    assert babbler.score([], []) == []


def test_a_single_text_is_not_taken_for_its_letters(babbler: Translator) -> None:
    for ask in (
        lambda: babbler.score("ab", "cd"),
        lambda: babbler.score(["ab"], "c"),
        lambda: babbler.translate_lines("ab cd"),
    ):
        with pytest.raises(UsageError, match="put a single one in brackets"):
            ask()


def test_texts_may_come_from_a_generator(babbler: Translator) -> None:
    texts = ["ab cd", "e"]
    assert babbler(text for text in texts) == babbler(texts)


def test_score_names_the_pair_that_is_too_long(copier: Translator) -> None:
    for pair in (("字" * 30, "b"), ("a", "字" * 30)):
        with pytest.raises(
            DataError, match=r"pair 2 has \d+ tokens, more than the model's 64 pos.*score it in"
        ):
            copier.score(["a", pair[0]], ["b", pair[1]])


# Streams


def test_stream_gives_one_output_for_each_line(copier: Translator) -> None:
    texts = ["The dog sleeps.", "", THREE, "  ", *lines(9)]
    found = list(copier.translate_lines(iter(texts), read_ahead=4))
    assert [translation.text for translation in found] == texts
    assert list(copier.translate_lines([])) == []


def test_stream_reads_no_more_than_it_needs(babbler: Translator) -> None:
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield "ab"

    stream = babbler.translate_lines(endless(), options=QUICK, read_ahead=3)
    assert taken == 0
    for found in range(1, 20):
        next(stream)
        assert found <= taken <= found + 3 * 6, "five chunks behind the one in use, no more"


def test_stream_takes_the_same_options_as_a_call(babbler: Translator) -> None:
    texts = lines(5)
    for wishes in (
        {"beam": 2, "n_best": 2},
        {"options": SamplingOptions(seed=5, max_length=9)},
        {"prefix": "Wo", "alignments": True},
    ):
        streamed = list(babbler.translate_lines(texts, read_ahead=2, **wishes))
        assert len(streamed) == len(texts)
        assert all(map(same, streamed, babbler(texts, **wishes)))


# What is given back


def test_translation_as_json(copier: Translator) -> None:
    translation = copier(THREE, n_best=2, alignments=True)
    found = json.loads(json.dumps(translation.to_dict()))
    assert list(found) == [
        "source",
        "text",
        "log_probability",
        "average_log_likelihood",
        "probability",
        "tokens",
        "token_log_probabilities",
        "confidence",
        "sentence_confidences",
        "word_confidences",
        "alignment",
        "notes",
        "terms",
        "alternatives",
    ]
    for name in ("source", "text", "log_probability", "average_log_likelihood", "probability"):
        assert found[name] == getattr(translation, name)
    for name in ("tokens", "token_log_probabilities", "notes"):
        assert tuple(found[name]) == getattr(translation, name)
    assert found["alignment"] == pharaoh(translation.alignment or ())
    assert [a["text"] for a in found["alternatives"]] == [
        alternative.text for alternative in translation.alternatives
    ]


def test_score_as_json(copier: Translator) -> None:
    [score] = copier.score(["The dog sleeps."], ["The dog sleeps."])
    assert json.loads(json.dumps(score.to_dict())) == {
        "log_probability": score.log_probability,
        "average_log_likelihood": score.average_log_likelihood,
        "probability": score.probability,
        "tokens": copier.tokenizer.encode("The dog sleeps.").pieces,
        "token_log_probabilities": list(score.token_log_probabilities),
    }
    assert score.log_probability < 0


# Loading


def test_load_is_the_public_door(model_folder: Path) -> None:
    translator = allyouneed.load(model_folder, engine="core", device="cpu")
    assert isinstance(translator, allyouneed.Translator)
    assert (translator.engine.name, translator.device, translator.notes) == ("core", "cpu", ())
    assert translator.config is translator.model.config
    assert translator.config.d_model == 16
    assert not translator.model.training
    assert len(translator.tokenizer) == 300


def test_threads(model_folder: Path) -> None:
    before = torch.get_num_threads()
    try:
        load(model_folder, "core", threads=3)
        assert torch.get_num_threads() == 3
        load(model_folder, "core")
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


# Engines


class Elsewhere:
    """An engine that counts its searches and leaves the work to the core's."""

    name, description, selection = "cpu-int8", "elsewhere", None

    def __init__(self, core: TorchEngine) -> None:
        self.core, self.searches = core, 0
        self.config, self.decodable = core.config, core.decodable

    def search(self, *request: object, note: Note = ignore, terms: object = None) -> object:
        self.searches += 1
        note(0, "all is well")
        return self.core.search(*request, terms=terms)

    def stream(self, *request: object) -> object:
        return self.core.stream(*request)


@pytest.fixture
def elsewhere(babbler: Translator) -> Translator:
    engine = Elsewhere(core_engine(babbler.model))
    return Translator(engine, babbler.tokenizer, lambda: babbler.model)


def test_the_engine_searches_and_its_notes_are_passed_on(
    elsewhere: Translator, babbler: Translator
) -> None:
    found = elsewhere(["ab cd", "ef"])
    wanted = babbler("ab cd")
    assert same(found[0], replace(wanted, notes=("all is well", *wanted.notes)))
    assert elsewhere.engine.searches == 1
    assert "all is well" not in found[1].notes
    assert elsewhere.notes == ()


def test_while_attention_is_probed_the_core_runs(
    elsewhere: Translator, babbler: Translator
) -> None:
    heads = elsewhere.model.decoder.layers[0].cross_attention
    heads.probes.append(lambda weights_BHTS, site: weights_BHTS.flip(-1))
    try:
        probed = elsewhere("ab cd")
        assert elsewhere.engine.searches == 0
        note = "the model is probed: the core engine ran, not cpu-int8"
        assert probed.notes[0] == note
        assert same(replace(probed, notes=probed.notes[1:]), babbler("ab cd"))
        stream = elsewhere.stream("ab cd", QUICK)
        assert "".join(stream) == babbler("ab cd", options=QUICK).text
        assert note in stream.notes
        assert note not in babbler("ab cd").notes, "there the core runs anyway"
    finally:
        heads.probes.clear()
    assert elsewhere("ab cd").text == babbler("ab cd").text != probed.text
    assert elsewhere.engine.searches == 1


def test_what_needs_the_core_loads_it_then(elsewhere: Translator) -> None:
    assert elsewhere._model is None
    elsewhere("ab cd", options=QUICK)
    assert elsewhere._model is None
    assert elsewhere("ab cd", options=QUICK, alignments=True).alignment
    assert elsewhere._model is not None
