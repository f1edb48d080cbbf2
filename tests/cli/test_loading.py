"""Which bundled model a verb opens."""

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from allyouneed.cli.loading import DEFAULT_MODEL, models_of_direction
from allyouneed.text.languages import Languages


def hub(*others: str) -> Languages:
    """English from and into the others."""
    ways = {way for one in others for way in (("en", one), (one, "en"))}
    return Languages(sources=("en", *others), targets=("en", *others), only=frozenset(ways))


SPEAKS = {
    "de-en": Languages.of_pair("de", "en"),
    "en-de": Languages.of_pair("en", "de"),
    "en-es-fr": hub("es", "fr"),
    "en-it-pt": hub("it", "pt"),
    "en-nl-sv": hub("nl", "sv"),
}


@pytest.mark.parametrize(
    ("source", "target", "texts", "model"),
    [
        (None, "en", ["Où est la gare ?"], "en-es-fr"),
        (None, "en", ["¿Dónde está la estación?"], "en-es-fr"),
        (None, "en", ["Wo ist der Bahnhof?"], "de-en"),
        (None, "en", ["Dov'è la stazione?"], "en-it-pt"),
        (None, "en", ["Onde fica a estação?"], "en-it-pt"),
        (None, "pt", ["Where is the station?"], "en-it-pt"),
        (None, "en", ["Waar is het station?"], "en-nl-sv"),
        (None, "en", ["Var ligger stationen?"], "en-nl-sv"),
        (None, "sv", ["Where is the station?"], "en-nl-sv"),
        (None, "en", ["Tom"], "de-en"),
        (None, "en", [], "de-en"),
        ("de", "en", ["Où est la gare ?"], "de-en"),
        (None, "fr", ["Where is the station?"], "en-es-fr"),
        (None, None, ["Où est la gare ?"], "en-de"),
    ],
)
def test_the_text_tells_its_language(
    source: str | None,
    target: str | None,
    texts: list[str],
    model: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = "allyouneed.model_folder.folder"
    monkeypatch.setattr(f"{folder}.bundled_models", lambda: list(SPEAKS))
    monkeypatch.setattr(
        f"{folder}.open_model_folder", lambda name: SimpleNamespace(speaks=SPEAKS[name])
    )
    assert models_of_direction(DEFAULT_MODEL, source, target, texts) == (model,)


def test_texts_are_read_only_where_several_models_could_translate_them() -> None:
    def never() -> Iterator[str]:
        raise AssertionError("read")
        yield ""

    assert models_of_direction(DEFAULT_MODEL, None, "de", never()) == ("en-de",)
    assert models_of_direction(DEFAULT_MODEL, "fr", "en", never()) == ("en-es-fr",)
    with pytest.raises(AssertionError, match="read"):
        models_of_direction(DEFAULT_MODEL, None, "en", never())
