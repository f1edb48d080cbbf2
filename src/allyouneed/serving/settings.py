"""The settings of a service, from the command line, the environment and a file."""

import tomllib
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from allyouneed.engine.choice import ENGINES
from allyouneed.errors import UsageError, nearest
from allyouneed.model_folder.folder import bundled_models

EARLIER = {"hosts": "allow_host", "origins": "allow_origin"}  # names that files may still have


class Settings(BaseModel):
    """Every setting. The names of the fields are those of the options, and the keys of
    serve.toml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: list[str] = Field(default_factory=bundled_models, min_length=1)
    host: str = "127.0.0.1"
    port: int = Field(5000, ge=0, le=65535)
    threads: int | None = Field(None, ge=1)
    engine: str = Field("auto", pattern=f"^({'|'.join(ENGINES)})$")
    debug: bool = False
    beam: int = Field(4, ge=1, le=32)
    open: bool = False
    keys: Path | None = None
    allow_host: list[str] = []
    allow_origin: list[str] = []
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    glossaries: Path | None = None
    suggestions: Path | None = None
    deadline: float = Field(30.0, gt=0, le=3600)
    max_characters: int = Field(500_000, ge=1)
    max_texts: int = Field(10_000, ge=1)
    max_alternatives: int = Field(10, ge=0, le=31)
    max_body: int = Field(4 << 20, ge=1024)
    max_file: int = Field(20 << 20, ge=1024)
    max_connections: int = Field(4096, ge=1)
    queue_tokens: int = Field(1_000_000, ge=1)
    requests_per_minute: int = Field(0, ge=0)
    no_page: bool = False
    look: bool | None = None
    log_json: bool = False
    log_texts: bool = False

    @property
    def loopback(self) -> bool:
        """Whether only programs of this machine can reach the service."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def offers_look(self) -> bool:
        """Whether clients may open the live view; without a setting only on loopback."""
        return self.loopback if self.look is None else self.look


def resolve(
    given: Mapping[str, Any], file: Path | None, variables: Mapping[str, str] | None = None
) -> Settings:
    """The settings: values of `given` other than None, then those of the file, then the defaults.
    `variables` are the variables that values of `given` came from, by the names of the settings.

    Raises:
        UsageError: an unknown key, or a value that cannot be used. The message names the file or
            the variable that has it.
    """
    values = {} if file is None else _read(file)
    values |= {key: value for key, value in given.items() if value is not None}
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        key, *within = map(str, first["loc"])
        place = f"{file}: " if file is not None and given.get(key) is None else ""
        name = ".".join([(variables or {}).get(key, key), *within])
        raise UsageError(f"{place}{name}={first['input']!r}: {first['msg']}") from error
    if (settings.tls_certificate is None) != (settings.tls_key is None):
        raise UsageError("TLS needs both tls_certificate and tls_key; give the other file too")
    return settings


def _read(file: Path) -> dict[str, Any]:
    """The values of a file, by the names of the settings.

    Raises:
        UsageError: a file that is not TOML, or an unknown key.
    """
    try:
        values = tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}; it has to be TOML") from error
    values = {EARLIER.get(key, key): value for key, value in values.items()}
    if isinstance(page := values.get("page"), bool):  # as `no_page` was called earlier
        del values["page"]
        values["no_page"] = not page
    for key in values:
        if key not in Settings.model_fields:
            guess = nearest(key, Settings.model_fields)
            raise UsageError(
                f"{file}: there is no setting {key!r}"
                + (
                    f"; did you mean {guess!r}?"
                    if guess
                    else f"; {', '.join(Settings.model_fields)}"
                )
            )
    return values
