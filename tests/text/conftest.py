import pytest

from allyouneed.text.tokenizer import Tokenizer

LINES = [
    "A man rides a bike.",
    "The man is riding the bike, and the woman sees him.",
    "Ein Mann fährt Fahrrad.",
    "Der Mann fährt mit dem Fahrrad über die Brücke; die Frau sieht ihn.",
    "Zwei Männer und eine Frau größer als 1,80 m – „schön“, sagt er.",
    "An emoji 😀😀, a café, 日本語 and  two spaces, a_name, x==y;\ttabs",
    "</s></s> <s> <pad> <unk> </s> as text",
]


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(LINES * 4, vocabulary=500)
