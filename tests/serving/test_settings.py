"""Settings come from options, variables and a file, in this order; mistakes are named."""

from pathlib import Path

import pytest

from allyouneed.errors import UsageError
from allyouneed.serving.settings import Settings, resolve


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "serve.toml"
    path.write_text('port = 8080\nmodel = ["en-de"]\nmax_texts = 3\n')
    return path


def test_what_is_given_counts_more_than_the_file(file: Path) -> None:
    settings = resolve({"port": 9000, "max_texts": None}, file)
    assert (settings.port, settings.max_texts, settings.model) == (9000, 3, ["en-de"])


def test_without_a_word_all_bundled_models_are_served_on_loopback() -> None:
    settings = resolve({}, None)
    assert settings.model == ["de-en", "en-de", "en-es-fr", "en-it-pt", "en-nl-sv"]
    assert (settings.host, settings.port, settings.loopback) == ("127.0.0.1", 5000, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prot = 1", "there is no setting 'prot'; did you mean 'port'"),
        ("port = 99999", "port=99999"),
        ('port = "x"', "port='x'"),
        ("port =", "has to be TOML"),
        ('tls_key = "a.pem"', "TLS needs both"),
        ("model = []", "model"),
        ('engine = "fast"', "engine='fast'"),
        ('page = "x"', "there is no setting 'page'; did you mean 'no_page'"),
        ("allow_hosts = []", "did you mean 'allow_host'"),
    ],
)
def test_mistakes_in_the_file_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "serve.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        resolve({}, path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        resolve({}, tmp_path / "none.toml")


def test_the_file_takes_the_names_of_options_and_those_of_earlier_versions(tmp_path: Path) -> None:
    path = tmp_path / "serve.toml"
    of_today = 'allow_host = ["a"]\nallow_origin = ["b"]\nno_page = true\ndebug = true\n'
    earlier = 'hosts = ["a"]\norigins = ["b"]\npage = false\ndebug = true\n'
    for text in (of_today, earlier):
        path.write_text(text + 'threads = 3\nengine = "core"\n')
        settings = resolve({}, path)
        assert (settings.allow_host, settings.allow_origin, settings.no_page) == (
            ["a"],
            ["b"],
            True,
        )
        assert (settings.debug, settings.threads, settings.engine) == (True, 3, "core")


def test_a_wrong_value_of_a_variable_names_the_variable(file: Path) -> None:
    with pytest.raises(UsageError, match=r"^ALLYOUNEED_PORT=99999: "):
        resolve({"port": 99999}, file, {"port": "ALLYOUNEED_PORT"})


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.2", False),
        ("example.org", False),
    ],
)
def test_what_is_loopback(host: str, loopback: bool) -> None:
    assert Settings(host=host).loopback is loopback
