"""The languages of a model, and the marks that tell the model which two are meant.

A language has a code, such as "de" or "pt-BR". A model of one direction needs nothing else. A model
of several directions reads marks: ids that stand for a language. The source may begin with the mark
of the target's language (Johnson et al. 2017) or of its own language. The translation may begin
with the mark of its language; this mark is given to the decoder and not searched for. Marks add
nothing to a decoded text. config.json has the marks under the key "languages":

    "languages": {
        "sources": ["de", "en"], "targets": ["de", "en", "fr"],
        "marks": {"de": [5], "en": [6], "fr": [7]},
        "source_begins_with": "target",
        "translation_begins_with": "nothing"
    }

"directions" is a list of the pairs that the model translates. Without it every source language goes
into every other target language. "also" gives further names of codes, such as {"deu_Latn": "de"}.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from allyouneed.errors import ConfigError, UsageError, nearest
from allyouneed.text.language_check import likeliest
from allyouneed.text.language_names import THREE_LETTERS, code_of, name_of

NOTHING, SOURCE, TARGET = "nothing", "source", "target"
NAMED = 20  # languages; a list of more shows their codes alone
KEYS = (
    "sources",
    "targets",
    "marks",
    "source_begins_with",
    "translation_begins_with",
    "directions",
    "also",
)


@dataclass(frozen=True, slots=True)
class Direction:
    """The source and the target language of one translation, with the marks both texts begin with.

    A language is "" if the user did not name it and the model does not need it. `sources` are
    the languages that a source without a name may be in.
    """

    source: str = ""
    target: str = ""
    source_mark: tuple[int, ...] = ()
    target_mark: tuple[int, ...] = ()
    sources: tuple[str, ...] = ()

    def languages_of(self, text: str) -> tuple[str, str]:
        """The codes of the source and the target language of a text. A source language that the
        user did not name is the likeliest of those that the model translates from."""
        return self.source or likeliest(text, self.sources), self.target


UNNAMED = Direction()  # for models whose folder names no languages


@dataclass(frozen=True, slots=True, kw_only=True)
class Languages:
    """The languages and directions of a model. The module's docstring explains each field.

    `only` holds the pairs of "directions"; None allows every pair.

    Raises:
        ConfigError: a language lacks a mark that the model reads, or a direction has a language
            that is not listed.
    """

    sources: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    marks: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    source_begins_with: str = NOTHING
    translation_begins_with: str = NOTHING
    only: frozenset[tuple[str, str]] | None = None
    also: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, choices in (
            ("source_begins_with", (NOTHING, SOURCE, TARGET)),
            ("translation_begins_with", (NOTHING, TARGET)),
        ):
            if getattr(self, name) not in choices:
                known = ", ".join(map(repr, choices))
                raise ConfigError(f"{name}={getattr(self, name)!r} is not one of {known}")
        marked = {SOURCE: self.sources, TARGET: self.targets, NOTHING: ()}
        for begins in (self.source_begins_with, self.translation_begins_with):
            for code in marked[begins]:
                if not self.marks.get(code):
                    raise ConfigError(f"the language {code!r} has no mark")
        for source, target in self.only or ():
            if source not in self.sources or target not in self.targets:
                raise ConfigError(f"the direction {source}-{target} has a language not listed")

    @classmethod
    def of_pair(cls, source: str, target: str) -> "Languages":
        """The languages of a model of one direction, given by codes or English names; "" stands for
        an unknown language."""
        sources, targets = ((code_of(one),) if one else () for one in (source, target))
        return cls(sources=sources, targets=targets)

    @property
    def codes(self) -> tuple[str, ...]:
        """All codes, sorted."""
        return tuple(sorted({*self.sources, *self.targets}))

    def directions(self) -> Iterator[tuple[str, str]]:
        """All pairs (source, target) that the model translates."""
        for source in self.sources:
            yield from ((source, target) for target in self._targets_of(source))

    def direction(self, source: str | None = None, target: str | None = None) -> Direction:
        """The direction from the language named `source` into the one named `target`.

        Either name may be left out if only one language is possible. `source` may also be left out
        if the model reads no mark of the source's language.

        Raises:
            UsageError: the model lacks the language or the direction, or a name is needed that was
                left out. The message lists the possible languages.
        """
        if not self.codes:
            if source or target:
                raise UsageError(
                    "this model's folder names no languages; leave source and target "
                    "(--from, --to) out"
                )
            return UNNAMED
        from_ = self._code(source, self.sources, "from", "source") if source else ""
        if not from_ and len(self.sources) == 1:
            [from_] = self.sources
        targets = self._targets_of(from_) if from_ else self.targets
        if target:
            into = self._code(target, self.targets, "into", "target")
            if targets and into not in targets:
                raise UsageError(
                    f"this model translates from {from_} into {', '.join(targets)}, not into {into}"
                )
        elif len(targets) > 1:
            raise UsageError(
                f"this model translates into {', '.join(targets)}; name one: "
                f"target={targets[0]!r} (--to {targets[0]})"
            )
        else:
            into = targets[0] if targets else ""
        sources = () if from_ else self._sources_of(into)
        if len(sources) == 1:
            [from_], sources = sources, ()
        if not from_ and self.source_begins_with == SOURCE and sources:
            raise UsageError(
                f"this model translates from {', '.join(sources)}; name one: "
                f"source={sources[0]!r} (--from {sources[0]})"
            )
        begins = {NOTHING: (), SOURCE: self.marks.get(from_, ()), TARGET: self.marks.get(into, ())}
        marks = begins[self.source_begins_with], begins[self.translation_begins_with]
        return Direction(from_, into, *marks, sources=sources)

    def allows(self, source: str | None = None, target: str | None = None) -> bool:
        """Whether the model translates from `source` into `target`, directly or through a third
        language; a name may be left out where `direction` needs none."""
        try:
            return bool(self.between(source, target) or self.direction(source, target))
        except UsageError:
            return False

    def between(self, source: str | None, target: str | None) -> str | None:
        """The language that leads from `source` into `target` where the model has no such
        direction: English if it can, else the first that can. None where there is a direction, no
        way, or a language that is not named.

        Raises:
            UsageError: the model lacks a language.
        """
        if self.only is None or not source or not target:
            return None
        from_ = self._code(source, self.sources, "from", "source")
        into = self._code(target, self.targets, "into", "target")
        if from_ == into or (from_, into) in self.only:
            return None
        ways = [one for one in self.codes if {(from_, one), (one, into)} <= self.only]
        return min(ways, key=lambda code: code.partition("-")[0] != "en", default=None)

    def to_dict(self) -> dict[str, Any]:
        """The value of the key "languages" of config.json."""
        found: dict[str, Any] = {
            "sources": list(self.sources),
            "targets": list(self.targets),
            "marks": {code: list(ids) for code, ids in self.marks.items()},
            "source_begins_with": self.source_begins_with,
            "translation_begins_with": self.translation_begins_with,
        }
        if self.only is not None:
            found["directions"] = sorted(map(list, self.only))
        return found | ({"also": dict(self.also)} if self.also else {})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], vocabulary: int) -> "Languages":
        """The languages that `to_dict` gave as `values`, for a vocabulary of this size.

        Raises:
            ConfigError: an unknown key, or a value of the wrong kind.
        """
        for key in values:
            if key not in KEYS:
                guess = nearest(key, KEYS)
                raise ConfigError(
                    f"unknown key {key}" + (f"; did you mean {guess}?" if guess else "")
                )
        try:
            marks = {str(code): tuple(ids) for code, ids in dict(values.get("marks", {})).items()}
            only = values.get("directions")
            found = cls(
                sources=tuple(map(str, values["sources"])),
                targets=tuple(map(str, values["targets"])),
                marks=marks,
                source_begins_with=values.get("source_begins_with", NOTHING),
                translation_begins_with=values.get("translation_begins_with", NOTHING),
                only=None if only is None else frozenset((str(one), str(two)) for one, two in only),
                also={str(name): str(code) for name, code in dict(values.get("also", {})).items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, ConfigError):
                raise
            raise ConfigError(f"a value that cannot be read ({error!r})") from error
        for code, ids in marks.items():
            if not all(type(id) is int and 0 <= id < vocabulary for id in ids):
                raise ConfigError(f"marks.{code}={list(ids)} must be ids below {vocabulary}")
        return found

    def _targets_of(self, source: str) -> tuple[str, ...]:
        if self.only is None:
            return tuple(target for target in self.targets if target != source) or self.targets
        return tuple(target for target in self.targets if (source, target) in self.only)

    def _sources_of(self, target: str) -> tuple[str, ...]:
        return tuple(source for source in self.sources if target in self._targets_of(source))

    def _code(self, name: str, codes: Iterable[str], way: str, argument: str) -> str:
        """The code that `name` means: a code in any case, with "_" or "-", a further name, or the
        language's English name. A region or script that the model does not tell apart is left out:
        "de-AT" is "de". Codes of three letters are those of ISO 639-2.
        """
        known = sorted(codes)
        lower = {name_of(code).lower(): code for code in known}
        lower |= {one.lower(): code for one, code in self.also.items() if code in known}
        lower |= {code.lower(): code for code in known}
        wanted = str(name).lower()
        code = wanted.replace("_", "-")
        language = code.partition("-")[0]
        found = lower.get(code) or lower.get(wanted) or lower.get(THREE_LETTERS.get(code, code))
        found = found or (lower.get(language) if code != language else None)
        if found:
            return found
        is_a_language = name_of(code_of(wanted)) != wanted  # then it is no slip of the keyboard
        guess = None if is_a_language else nearest(wanted, lower)
        raise UsageError(
            f"this model does not translate {way} {argument}={name!r}"
            + (f"; did you mean {lower[guess]!r}?" if guess else ".")
            + f" It has: {_listed(known)}. `allyouneed models` lists the models at hand, "
            "`allyouneed import` takes in others"
        )


def _listed(codes: Sequence[str]) -> str:
    """The languages for an error message: their codes, and also their names if there are few."""
    if len(codes) > NAMED:
        return ", ".join(codes)
    named = ((code, name_of(code)) for code in codes)
    return ", ".join(code if name == code else f"{code} ({name})" for code, name in named) or "none"
