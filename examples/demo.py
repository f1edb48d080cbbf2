"""What `make demo` shows: sentences of eight languages through the bundled models, and where a
model looked for one of them."""

from rich.console import Console
from rich.table import Table

import allyouneed
from allyouneed.cli.picture import attention_picture

SENTENCES = [
    "Good morning! How are you?",
    "I am looking for a place to eat.",
    "A man rides a bike.",
    "Where is the train station?",
    "My sister lives in Berlin.",
    "I would like a cup of coffee, please.",
    "We have to go home before it gets dark.",
    "Do you know what time it is?",
    "The children are playing in the garden.",
    "I don’t believe that he told us the truth.",
    "If it rains tomorrow, we will stay at home.",
    "Write to anna@example.org if you have any questions.",
    "The bank refused to lend him any more money because he had not paid back his debts.",
    "Click the Save button to store your changes, and then close the window.",
]
LONG = (
    "When I was a child, my grandmother often told me stories about the time when she lived in a "
    "small village in the mountains, and I still remember every one of them."
)
BACK = ["Ich habe gestern ein Buch gelesen.", "Das Wetter ist heute schön."]
ABROAD = ["Where is the train station?", "I can’t swim.", "Click the Save button."]
HOME = {  # of each model of several languages, a sentence of each language but English
    "en-es-fr": {"fr": "Je voudrais une tasse de café.", "es": "Mi hermana vive en Madrid."},
    "en-it-pt": {
        "it": "Vorrei prenotare un tavolo per quattro persone.",
        "pt": "Minha irmã mora em Lisboa.",
    },
    "en-nl-sv": {"nl": "Het raam is kapot.", "sv": "Han frågade mig varför jag var sen."},
}
PICTURED = "I am looking for a place to eat."


def main() -> None:
    """Prints translations with their scores, and one attention picture."""
    console = Console()
    translator = allyouneed.load("en-de")
    table = Table(title="English to German, beam 4", title_justify="left")
    table.add_column("English")
    table.add_column("German", style="bold")
    table.add_column("probability", justify="right")
    table.add_column("confidence", justify="right")
    for translation in translator(SENTENCES):
        table.add_row(
            translation.source,
            translation.text,
            f"{translation.probability:.2f}",
            f"{translation.confidence:.2f}",
        )
    console.print(table)
    console.print("probability: the mean probability of a token (geometric mean).")
    console.print("confidence: how likely a reader accepts the translation, from 0 to 1.\n")
    console.print("And back to English, by the model de-en:")
    for translation in allyouneed.load("de-en")(BACK):
        console.print(f"  {translation.source} → {translation.text}", highlight=False)
    for model, texts in HOME.items():
        several = allyouneed.load(model)
        console.print(f"\nOne model of several languages, {model}:")
        for language, text in texts.items():
            for translation in several(ABROAD, source="en", target=language):
                console.print(f"  {translation.source} → {translation.text}", highlight=False)
            back = several(text, source=language, target="en")
            console.print(f"  {back.source} → {back.text}", highlight=False)
    console.print(f"\nA long sentence:\n  {LONG}\n  → {translator(LONG).text}\n", highlight=False)
    german = translator(PICTURED).text
    source, target, weights_TS = translator.attention(PICTURED, german)
    console.print("Which English piece (column) each German piece (row) attended to:\n")
    console.print(attention_picture(source, target, weights_TS.tolist()), highlight=False)
    console.print(
        '\nNext: .venv/bin/allyouneed translate "Your own sentence."'
        "\n      .venv/bin/pip install '.[torch]'      # to train; README.md names a small torch"
        "\n      .venv/bin/allyouneed train reverse    # a model learns to reverse letters",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


if __name__ == "__main__":
    main()
