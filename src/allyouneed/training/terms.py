"""Terms written into the sources of training pairs, so that a model learns to use and inflect
them."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from allyouneed.data.corpus import Pair
from allyouneed.model_folder.folder import ModelFolder
from allyouneed.text.normaliser import normaliser_named
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.training.recipe.schema import PairsRecipe
from allyouneed.translation.terms.annotation import annotated
from allyouneed.translation.terms.files import read_glossary
from allyouneed.translation.terms.glossary import FoundTerm, Glossary
from allyouneed.translation.terms.use import uses


@dataclass(frozen=True, slots=True)
class TermHints:
    """The terms of a glossary in a `share` of those pairs whose source has a term and whose target
    has one of its forms.

    The source gets the first form, whichever form the target has: so the model learns to inflect.
    The random choices depend on the seed and on the pair. `normaliser` names the pairs' normaliser.
    Sources do not get longer than `longest` ids.
    """

    glossary: Glossary
    share: float
    seed: int
    mark: int
    tokenizer: Tokenizer
    normaliser: str | None
    longest: int

    @property
    def settings(self) -> Any:
        terms = repr([(one.source, one.forms) for one in self.glossary.terms])
        hashed = hashlib.sha256(terms.encode(errors="replace")).hexdigest()
        return [hashed, self.share, self.seed, self.mark, self.normaliser, self.longest]

    def added(
        self, pairs: Sequence[Pair], sources: list[list[int]], tell: Callable[[Pair], None]
    ) -> list[list[int]]:
        return [self._one(pair, ids, tell) for pair, ids in zip(pairs, sources, strict=True)]

    def terms_of(self, pair: Pair) -> list[FoundTerm]:
        """The terms of the source that the target has in one of their forms."""
        normaliser = normaliser_named(self.normaliser)
        found = self.glossary.find(pair.source, normaliser)
        spans = [(one.begin, one.end) for one in found]
        used = uses(found, spans, pair.target, normaliser) if found else ()
        return [one for one, use in zip(found, used, strict=True) if use.used]

    def _one(self, pair: Pair, ids: list[int], tell: Callable[[Pair], None]) -> list[int]:
        terms = self.terms_of(pair)
        if not terms or self._drawn(pair) >= self.share:
            return ids
        normaliser = normaliser_named(self.normaliser)
        text = pair.source
        longer = annotated(ids, text, terms, self.mark, self.tokenizer, normaliser, self.longest)
        if len(longer) > len(ids):
            tell(pair)
        return longer

    def _drawn(self, pair: Pair) -> float:
        """A number from 0 to 1. Noisy copies of a pair differ in their text and in their number."""
        return Random(f"{self.seed} {pair.line} {pair.source}").random()


def term_hints_of(
    recipe: PairsRecipe,
    init: ModelFolder | None,
    tokenizer: Tokenizer,
    normaliser: str | None,
    longest: int,
) -> TermHints | None:
    """The terms of the recipe for its training pairs; None if it names none.

    Raises:
        DataError: the file does not exist or is not a glossary.
    """
    mark = term_mark_of(recipe, init)
    if recipe.terms is None or mark is None:
        return None
    glossary = read_glossary(recipe.locate(recipe.terms.file))
    return TermHints(
        glossary, recipe.terms.share, recipe.seed, mark, tokenizer, normaliser, longest
    )


def term_mark_of(recipe: PairsRecipe, init: ModelFolder | None) -> int | None:
    """The mark around terms in the sources of the trained model: the mark of the model that
    training starts from, else the start of a sentence, which no source contains. None for a model
    that reads no terms."""
    known = init.term_mark if init else None
    return Tokenizer.START if known is None and recipe.terms is not None else known
