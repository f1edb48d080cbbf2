"""Names of an English sentence that its German translation lacks."""

import pytest

from allyouneed.text.proper_names import names_lost

EN_DE = ("en", "de")


@pytest.mark.parametrize(
    ("english", "german", "lost"),
    [
        ("He went from Tokyo to Osaka by plane.", "Er flog nach Osaka.", ["Tokyo"]),
        ("Are you and Tom together?", "Bist du mit dir zusammen?", ["Tom"]),
        ("I saw Mary and John.", "Ich sah Maria und Johannes.", []),
        ("We were in Canada and Vienna.", "Wir waren in Kanada und Wien.", []),
        ("He left Germany on Tuesday.", "Er verließ Deutschland am Dienstag.", []),
        ("Tom sleeps.", "Er schläft.", []),  # every sentence begins with a capital
        ("HTTP 404: Not Found", "HTTP 404: Nicht da", []),
        ("Storm Leaves Thousands Without Power", "Sturm: Tausende im Dunkeln", []),
    ],
)
def test_names(english: str, german: str, lost: list[str]) -> None:
    assert names_lost(english, german, EN_DE) == lost
    assert names_lost(english, german, ("en", "fr")) == []
