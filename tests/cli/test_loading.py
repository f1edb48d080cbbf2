"""Which bundled model a verb opens."""

from types import SimpleNamespace

import pytest

from allyouneed.cli.loading import DEFAULT_MODEL, models_of_direction
from allyouneed.text.languages import Languages

HUB = Languages(
    sources=("en", "es", "fr"),
    targets=("en", "es", "fr"),
    only=frozenset({("en", "es"), ("es", "en"), ("en", "fr"), ("fr", "en")}),
)
SPEAKS = {
    "de-en": Languages.of_pair("de", "en"),
    "en-de": Languages.of_pair("en", "de"),
    "en-es-fr": HUB,
}


@pytest.mark.parametrize(
    ("source", "target", "texts", "model"),
    [
        (None, "en", ["Où est la gare ?"], "en-es-fr"),
        (None, "en", ["¿Dónde está la estación?"], "en-es-fr"),
        (None, "en", ["Wo ist der Bahnhof?"], "de-en"),
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
