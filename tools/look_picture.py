"""Takes the picture of the live view in docs/look.png: a sentence with one head of the
cross-attention switched off.

Needs Playwright and Chromium (/usr/bin/chromium, or the program that $CHROMIUM names). Choose a
sentence that the head changes visibly: the lens "effect of switching off" shows such heads.

    python tools/look_picture.py "Today I am very tired." 1 2 docs/look.png   # layer 1, head 2
"""

import os
import re
import sys
from pathlib import Path
from threading import Thread

from playwright.sync_api import sync_playwright

import allyouneed
from allyouneed.widget.page import Start
from allyouneed.widget.server import PageServer
from allyouneed.widget.session import Session

SIZE = {"width": 1120, "height": 1240}
MODEL = "en-de"


def main(text: str, layer: str, head: str, picture: Path) -> None:
    """Serves the view, switches the head off in it, and saves what Chromium shows."""
    translator = allyouneed.load(MODEL, "core")
    session = Session([translator], [MODEL], lambda error: None)
    with PageServer(session.ask, Start.of([text], 4, 1), 0) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        with sync_playwright() as playwright:
            chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium")
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport=SIZE)
            page.set_default_timeout(120_000)
            page.goto(server.address)
            cross = page.get_by_role("grid", name="Cross-attention")
            cross.get_by_role("button", name=re.compile(f"^layer {layer}, head {head}")).focus()
            page.keyboard.press("o")
            page.get_by_text("Old and new translation").wait_for()
            page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
            page.wait_for_timeout(1_000)  # colours fade
            page.screenshot(path=picture)
            browser.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4]))
