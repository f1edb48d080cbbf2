"""The page in a browser: it translates while one types, and asks nobody but its service."""

import math
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from allyouneed.serving.shelf import Shelf, ShelvedModel
from allyouneed.translation.translator import Translator

Running = Any  # see conftest

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
HELLO = "The dog sleeps under the table."


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Any, served: Running) -> Iterator[Any]:
    context = browser.new_context(locale="en-GB", viewport={"width": 1100, "height": 760})
    opened = context.new_page()
    opened.problems, opened.asked = [], []
    opened.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.on("request", lambda request: opened.asked.append(request.url))
    opened.goto(served.address)
    opened.wait_for_selector("#source option[value=en]", state="attached")
    yield opened
    assert opened.problems == []
    assert all(address.startswith(served.address) for address in opened.asked)
    assert not any("dog" in address for address in opened.asked)
    context.close()


def test_what_is_typed_is_translated(page: Any) -> None:
    page.fill("#text", HELLO)
    page.wait_for_selector(".word")
    assert page.inner_text("#translation") == HELLO
    assert page.inner_text("#detected") == "Detected: English"
    assert page.inner_text("#count") == f"{len(HELLO)} characters"
    page.click("#clear")
    page.wait_for_selector(".word", state="detached")
    assert page.input_value("#text") == ""


def test_markup_that_is_typed_is_text(page: Any) -> None:
    page.fill("#text", "<img src=x onerror=alert(1)> The dog sleeps.")
    page.wait_for_selector(".word")
    assert page.locator("#translation img").count() == 0
    assert "<img" in page.inner_text("#translation")


def test_pointing_at_a_word_marks_its_source(page: Any) -> None:
    page.fill("#text", HELLO)
    page.wait_for_selector(".word")
    page.hover(".word >> nth=1")
    page.wait_for_selector("#behind mark")
    assert page.inner_text("#behind mark") == "dog"


def test_keys_open_choices_and_close_them(page: Any) -> None:
    page.fill("#text", HELLO)
    page.wait_for_selector(".word")
    page.focus(".word >> nth=0")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_selector("#choices li:focus")
    page.keyboard.press("Escape")
    assert page.locator("#choices").is_hidden()
    assert page.evaluate("document.activeElement.textContent") == "dog"


def test_a_button_opens_the_live_view(page: Any) -> None:
    page.route(
        "**/v1/look", lambda route: route.fulfill(json={"available": True, "path": "health"})
    )
    page.reload()
    page.fill("#text", HELLO)
    page.wait_for_selector("#look")
    with page.expect_popup() as opened:
        page.click("#look")
    assert opened.value.url.endswith("/health")


def test_the_page_says_what_the_live_view_needs(page: Any) -> None:
    answer = {"available": False, "install": "pip install it"}
    page.route("**/v1/look", lambda route: route.fulfill(json=answer))
    page.reload()
    page.fill("#text", HELLO)
    page.wait_for_selector(".word")
    assert "(pip install it)" in page.inner_text("#look-install")
    assert page.locator("#look").is_hidden()


def test_a_service_without_views_does_not_speak_of_them(page: Any) -> None:
    page.fill("#text", HELLO)
    page.wait_for_selector(".word")
    assert page.locator("#look").is_hidden()
    assert page.locator("#look-install").is_hidden()


def test_swapping_takes_the_translation_along(page: Any) -> None:
    page.fill("#text", HELLO)
    page.wait_for_selector(".word")
    page.click("#swap")
    assert (page.input_value("#source"), page.input_value("#target")) == ("de", "en")
    assert page.input_value("#text") == HELLO


def test_a_phone_has_room_for_it(browser: Any, served: Running) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, locale="de-DE")
    page = context.new_page()
    page.goto(served.address)
    page.fill("#text", "Donaudampfschifffahrtsgesellschaftskapitän " * 3)
    page.wait_for_selector(".word")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("document.documentElement.lang") == "de"
    assert page.inner_text("#clear") == "Leeren"
    context.close()


ROOM_FOR_WORDS = """
() => ["term", "wanted"].every((id) => {
  const field = document.getElementById(id), style = getComputedStyle(field);
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${style.fontSize} ${style.fontFamily}`;
  const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  return room > 0 && pen.measureText(field.placeholder).width <= room;
})
"""
ON_ONE_LINE = """
() => {
  const [link, button] = ["a", "button"].map((one) => document.querySelector(`#jobs ${one}`));
  const [saved, away] = [link.getBoundingClientRect(), button.getBoundingClientRect()];
  return saved.top < away.bottom && away.top < saved.bottom && away.right <= innerWidth;
}
"""


@pytest.mark.parametrize("locale", ["de-DE", "en-GB"])
def test_a_phone_has_room_for_files_and_terms(browser: Any, served: Running, locale: str) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, locale=locale)
    page = context.new_page()
    page.goto(served.address)
    page.wait_for_selector("#source option[value=en]", state="attached")
    name = "the report of the dog in summer.html"
    page.set_input_files("#file", {"name": name, "mimeType": "text/html", "buffer": HTML})
    page.wait_for_selector("#jobs a")
    assert page.evaluate(ON_ONE_LINE)
    page.click("#glossary summary")
    assert page.evaluate(ROOM_FOR_WORDS)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()


HTML = b"<p>The <b>dog</b> sleeps under the table.</p>"


def test_a_file_is_translated_and_saved(page: Any) -> None:
    page.set_input_files("#file", {"name": "a dog.html", "mimeType": "text/html", "buffer": HTML})
    page.wait_for_selector("#jobs a")
    with page.expect_download() as download:
        page.click("#jobs a")
    assert download.value.suggested_filename == "a dog.de.html"
    assert Path(download.value.path()).read_bytes() == HTML
    page.click("#jobs button")
    assert page.locator("#jobs").is_hidden()


DROP = """
([content, name]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([content], name));
  document.dispatchEvent(new DragEvent("dragover", { dataTransfer: carried, cancelable: true }));
  document.dispatchEvent(new DragEvent("drop", { dataTransfer: carried, cancelable: true }));
}
"""


def test_files_are_dropped(page: Any) -> None:
    page.evaluate(DROP, [HTML.decode(), "dog.html"])
    page.wait_for_selector("#jobs a")
    page.evaluate(DROP, ["MZ", "dog.exe"])
    page.wait_for_selector("#jobs .wrong")
    assert "not supported" in page.inner_text("#jobs .wrong")
    page.evaluate(DROP, [HELLO, "dog.txt"])
    page.wait_for_selector(".word")
    assert page.input_value("#text") == HELLO


def translate_with_term(page: Any, term: str, wanted: str) -> None:
    """Types a text, and a term of it into the glossary, and waits for its translation."""
    page.fill("#text", HELLO)
    page.wait_for_selector(".word")
    page.click("#glossary summary")
    page.fill("#term", term)
    page.fill("#wanted", wanted)
    page.keyboard.press("Enter")
    playwright.expect(page.locator("#translation")).to_contain_text(wanted)


def test_the_glossary_is_used_and_kept(page: Any) -> None:
    expect = playwright.expect
    translate_with_term(page, "dog", "Hund")
    assert page.inner_text("#glossary-count").strip() == "(1)"
    page.reload()
    page.fill("#text", HELLO)
    expect(page.locator("#translation")).to_contain_text("Hund")
    page.click("#glossary summary")
    page.click("#terms button")
    expect(page.locator("#translation")).not_to_contain_text("Hund")
    assert page.evaluate("Object.keys(localStorage)") == []


@pytest.fixture
def through_english(start: Any, browser: Any, copier: Translator) -> Iterator[Any]:
    """A German page of a service that translates German into French through English."""
    pairs = [("de", "en"), ("en", "de"), ("en", "fr")]
    shelf = Shelf([ShelvedModel("-".join(pair), *pair, copier) for pair in pairs])
    with start() as one:
        one.service.desk.shelf = shelf
        context = browser.new_context(locale="de-DE")
        page = context.new_page()
        page.goto(one.address)
        page.wait_for_selector("#source option[value=de]", state="attached")
        yield page
        context.close()


NO_WORDS = "Von Deutsch nach Französisch wird über Englisch übersetzt, ohne Glossar"


def test_a_direction_through_english_says_what_it_lacks(through_english: Any) -> None:
    page, expect = through_english, playwright.expect
    page.select_option("#source", "de")
    page.select_option("#target", "fr")
    page.fill("#text", "Der Hund.")
    page.click(".word >> nth=1")
    expect(page.locator("#choices li:focus")).to_contain_text(NO_WORDS)
    page.click("#glossary summary")
    assert NO_WORDS in page.inner_text("#glossary-missing")
    assert page.locator("#term-form").is_hidden()
    assert page.inner_text("#state") == ""


def test_a_glossary_is_for_its_own_language_where_that_is_detected(through_english: Any) -> None:
    page, expect = through_english, playwright.expect
    page.select_option("#target", "fr")
    translate_with_term(page, "dog", "chien")
    german = "Der Hund schläft unter dem Tisch."
    page.fill("#text", german)
    expect(page.locator("#translation")).to_have_text(german)
    assert page.inner_text("#state") == ""


REASONS = [
    (400, "Invalid request: request (9) exceeds text limit (5000)", "höchstens 5.000 Zeichen"),
    (400, "Please contact the server operator to get an API key", "braucht einen API-Schlüssel"),
    (403, "Invalid API key", "kennt diesen API-Schlüssel nicht"),
    (413, "the body is larger than 9 bytes", "zu groß"),
    (429, "Slowdown: 30 per 1 minute", "zu viele Anfragen"),
    (456, "the characters of this API key are used up", "verbraucht"),
    (503, "too much is waiting to be translated", "später noch einmal"),
    (400, "zz is not supported", "zz is not supported"),
    (None, "", "nicht erreichbar"),
]


def refusing(status: int | None, message: str) -> Callable[[Any], None]:
    """A service that answers so; None: it does not answer at all."""

    def answer(route: Any) -> None:
        if status is None:
            route.abort()
        else:
            route.fulfill(status=status, json={"error": message})

    return answer


def test_reasons_of_the_service_are_in_the_language_of_the_page(through_english: Any) -> None:
    page, expect = through_english, playwright.expect
    for status, message, wanted in REASONS:
        page.unroute_all()
        page.route("**/v1/translate", refusing(status, message))
        page.fill("#text", f"{HELLO} {message}")
        expect(page.locator("#state")).to_contain_text(wanted)
    page.route("**/v2/document", refusing(503, "busy"))
    page.set_input_files("#file", {"name": "a.html", "mimeType": "text/html", "buffer": HTML})
    expect(page.locator("#jobs .wrong")).to_contain_text("später noch einmal")


def classes(page: Any, answer: dict[str, Any]) -> list[str]:
    """Of the words of a translation that the service is said to have given."""
    page.route("**/v1/translate", lambda route: route.fulfill(json={"translations": [answer]}))
    page.fill("#text", "The dog sleeps deeply")
    page.wait_for_selector(".word")
    return [node.get_attribute("class") for node in page.query_selector_all(".word")]


TINTED = ["word", "word doubt doubt-1", "word doubt doubt-2", "word doubt doubt-3"]


def test_words_are_tinted_by_their_confidence(page: Any) -> None:
    answer = {"text": "Der Hund schläft tief", "score": -1.0, "source": "en"}
    answer |= {"confidence": 0.4, "word_confidences": [0.9, 0.45, 0.3, 0.1]}
    assert classes(page, answer) == TINTED


def test_words_are_tinted_by_their_probability(page: Any) -> None:
    words = {"Der": 0.9, " Hund": 0.3, " schläft": 0.15, " tief": 0.05}
    answer = {
        "text": "".join(words),
        "score": -1.0,
        "source": "en",
        "tokens": [*words],
        "token_log_probabilities": [math.log(one) for one in words.values()],
    }
    assert classes(page, answer) == TINTED
