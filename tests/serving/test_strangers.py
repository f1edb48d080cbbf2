"""Tests that strangers wrote, and their clients, against a running service.

LibreTranslate's own tests and DeepL's client for Node are fetched by the test run and never kept.
Without a network these tests are skipped. Weblate's requirements are too many to be fetched each
time: ALLYOUNEED_WEBLATE names the Python of an environment that has them, which is made by
`pip install --no-deps weblate==5.14.3` and its requirements but for Cairo, GObject and Borg.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from allyouneed.serving.shelf import Shelf, ShelvedModel
from allyouneed.translation.translator import Translator

Running = Any  # see conftest

pytestmark = pytest.mark.slow
FETCH_SECONDS = 120
LIBRETRANSLATE = "libretranslate==1.9.6"
DEEPL_NODE = "deepl-node@1.28.0"


def fetched(command: list[str], folder: Path) -> None:
    """Runs a command that fetches something; skips the test where that does not work."""
    folder.mkdir(exist_ok=True)
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=FETCH_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"{command[-1]} cannot be fetched: {error}")


# Theirs speak to Flask's test client; this one has what they use of it.
CLIENT = """
import httpx, pytest

class Answer:
    def __init__(self, answer):
        self.status_code, self.data = answer.status_code, answer.content
        self._answer = answer

    @property
    def json(self):
        return self._answer.json()

class Client:
    def __init__(self, address):
        self._client = httpx.Client(base_url=address, trust_env=False, timeout=60)

    def get(self, path):
        return Answer(self._client.get(path))

    def post(self, path, data=None, json=None):
        return Answer(self._client.post(path, data=data, json=json))

@pytest.fixture
def client():
    return Client({address!r})
"""


def test_libretranslates_own_tests_pass(start: Any, tmp_path: Path, copier: Translator) -> None:
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    download += ["--no-binary", ":all:", "--no-build-isolation", LIBRETRANSLATE]
    fetched(download, tmp_path / "fetched")
    [archive] = (tmp_path / "fetched").glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path / "fetched", filter="data")
    [theirs] = (tmp_path / "fetched").glob("*/libretranslate/tests/test_api")
    shutil.copytree(theirs, tmp_path / "theirs", ignore=shutil.ignore_patterns("conftest.py"))
    with start() as one:
        spanish = ShelvedModel("copier", "en", "es", copier)
        one.service.desk.shelf = Shelf([*one.service.desk.shelf.models.values(), spanish])
        (tmp_path / "theirs" / "conftest.py").write_text(CLIENT.format(address=one.address))
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", "."],
            cwd=tmp_path / "theirs",
            capture_output=True,
            text=True,
            timeout=300,
        )
    assert done.returncode == 0, done.stdout
    assert "14 passed" in done.stdout


NODE = """
const deepl = require("deepl-node");
const client = new deepl.Translator("any", { serverUrl: process.argv[2] });
(async () => {
  const texts = await client.translateText(["Hello.", "The dog sleeps."], "en", "de");
  const glossary = await client.createGlossary(
    "dogs", "en", "de", new deepl.GlossaryEntries({ entries: { dog: "Hund" } }));
  const used = await client.translateText("The dog sleeps.", "en", "de", { glossary });
  const entries = await client.getGlossaryEntries(glossary);
  await client.deleteGlossary(glossary);
  const wrong = await client.translateText("a", "en", "zz").catch((error) => error.message);
  console.log(JSON.stringify({
    texts: texts.map((one) => one.text),
    billed: texts.map((one) => one.billedCharacters),
    targets: (await client.getTargetLanguages()).map((one) => one.code),
    usage: (await client.getUsage()).character.count,
    used: used.text,
    entries: entries.entries(),
    left: (await client.listGlossaries()).length,
    wrong,
  }));
})();
"""


@pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm on this machine")
def test_deepls_client_for_node(start: Any, tmp_path: Path) -> None:
    folder = tmp_path / "node"
    fetched(["npm", "install", "--no-audit", "--no-fund", DEEPL_NODE], folder)
    (folder / "ask.js").write_text(NODE)
    with start(glossaries=tmp_path / "glossaries") as one:
        done = subprocess.run(
            ["node", "ask.js", one.address],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["texts"] == ["Hello.", "The dog sleeps."]
    assert found["billed"] == [6, 15]
    assert found["targets"] == ["de", "en-GB", "en-US"]
    assert (found["usage"], found["left"]) == (0, 0)
    assert "Hund" in found["used"]
    assert found["entries"] == {"dog": "Hund"}
    assert "'target_lang' not supported" in found["wrong"]


# Weblate needs 130 packages, Cairo and Borg among them; those two are of no use here.
WEBLATE = """
import json, os, sys
from unittest.mock import MagicMock

for name in ("cairo", "gi", "gi.repository", "borg", "borg.helpers"):
    sys.modules.setdefault(name, MagicMock())
with open("settings.py", "w") as file:
    file.write("from weblate.settings_example import *\\n")
    file.write("DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3'}}\\n")
    file.write("LOCAL = 'django.core.cache.backends.locmem.LocMemCache'\\n")
    file.write("CACHES = {'default': {'BACKEND': LOCAL}}\\n")
    file.write("SECRET_KEY, SITE_DOMAIN, DATA_DIR = 'x', 'localhost', '.'\\n")
sys.path.insert(0, ".")
os.environ["DJANGO_SETTINGS_MODULE"] = "settings"

import django

django.setup()
from weblate.machinery.deepl import DeepLTranslation
from weblate.machinery.libretranslate import LibreTranslateTranslation

texts = [("Hello.", None), ('The <x id="0"></x> sleeps.', None)]
libre = LibreTranslateTranslation({"url": sys.argv[1], "key": ""})
deepl = DeepLTranslation({"url": sys.argv[1] + "/v2/", "key": "any", "context": "a shop"})
found = {
    "languages": sorted(libre.download_languages()),
    "libre": libre.download_multiple_translations("en", "de", texts[:1])["Hello."][0]["text"],
    "pairs": ("EN", "DE") in set(deepl.download_languages()),
    "deepl": [
        one["text"]
        for found in deepl.download_multiple_translations("EN", "DE", texts).values()
        for one in found
    ],
    "glossaries": deepl.is_glossary_supported("EN", "DE"),
}
deepl.create_glossary("EN", "DE", "dogs", "dog\\tHund\\n")
found["made"] = list(deepl.list_glossaries())
deepl.delete_oldest_glossary()
found["left"] = list(deepl.list_glossaries())
print(json.dumps(found))
"""


@pytest.mark.skipif(
    "ALLYOUNEED_WEBLATE" not in os.environ,
    reason="ALLYOUNEED_WEBLATE names no Python that has Weblate's requirements",
)
def test_weblates_two_backends(start: Any, tmp_path: Path) -> None:
    (tmp_path / "ask.py").write_text(WEBLATE)
    with start(glossaries=tmp_path / "glossaries") as one:
        done = subprocess.run(
            [os.environ["ALLYOUNEED_WEBLATE"], "ask.py", one.address],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "languages": ["de", "en"],
        "libre": "Hello.",
        "pairs": True,
        "deepl": ["Hello.", 'The <x id="0"></x> sleeps.'],
        "glossaries": True,
        "made": ["dogs"],
        "left": [],
    }


def test_schemathesis_finds_no_error_of_ours(start: Any, tmp_path: Path) -> None:
    """It makes up requests from the description: none is answered by 5xx, and no answer breaks the
    schema that the description promises."""
    pytest.importorskip("schemathesis")
    with start(glossaries=tmp_path / "glossaries", max_characters=2000) as one:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "run", f"{one.address}/openapi.json"),
                *("--checks", "not_a_server_error,response_schema_conformance"),
                *("--checks", "status_code_conformance,content_type_conformance"),
                *("--phases", "examples,coverage,fuzzing", "--max-examples", "8", "--seed", "1"),
                *("--suppress-health-check", "all", "--workers", "1"),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert one.get("/health").status_code == 200
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
