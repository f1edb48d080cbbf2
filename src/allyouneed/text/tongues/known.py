"""The languages whose words are known to the rules for texts, by their codes."""

from allyouneed.text.tongues.dutch import DUTCH
from allyouneed.text.tongues.english import ENGLISH
from allyouneed.text.tongues.french import FRENCH
from allyouneed.text.tongues.german import GERMAN
from allyouneed.text.tongues.italian import ITALIAN
from allyouneed.text.tongues.polish import POLISH
from allyouneed.text.tongues.portuguese import PORTUGUESE
from allyouneed.text.tongues.spanish import SPANISH
from allyouneed.text.tongues.swedish import SWEDISH
from allyouneed.text.tongues.tongue import Tongue

TONGUES: dict[str, Tongue] = {
    "de": GERMAN,
    "en": ENGLISH,
    "es": SPANISH,
    "fr": FRENCH,
    "it": ITALIAN,
    "nl": DUTCH,
    "pl": POLISH,
    "pt": PORTUGUESE,
    "sv": SWEDISH,
}
