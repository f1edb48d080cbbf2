"""`allyouneed translate`: text as arguments, or lines on standard input."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allyouneed.cli.document_place import DOCUMENTS_ALONE, document_place, language_asked
from allyouneed.cli.lines import given_or_arriving
from allyouneed.cli.loading import language_of_place, models_of_direction
from allyouneed.cli.named_files import notes_on_documents
from allyouneed.cli.options import DEFAULT_MODEL, Model, Running
from allyouneed.cli.output import note
from allyouneed.cli.streaming import show_growing
from allyouneed.cli.translate_options import (
    Documents,
    TranslationLanguages,
    TranslationProtection,
    TranslationResults,
    TranslationSampling,
    TranslationSearch,
)
from allyouneed.cli.translating import translate_all
from allyouneed.cli.translation_lines import Form
from allyouneed.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from allyouneed.cli.document_jobs import Job
    from allyouneed.translation.pivot import Relay
    from allyouneed.translation.translator import Translator


def translate(
    *,
    texts: Annotated[
        list[str] | None,
        typer.Argument(help="Texts to translate, each in quotes. Without them: standard input."),
    ] = None,
    model: Model = DEFAULT_MODEL,
    languages: TranslationLanguages,
    search: TranslationSearch,
    sampling: TranslationSampling,
    documents: Documents,
    results: TranslationResults,
    protection: TranslationProtection,
    running: Running,
) -> None:
    """Translate text given as arguments, or lines on standard input.

    **Examples**

    - `allyouneed translate "A man rides a bike."`
    - `allyouneed translate --n-best 3 --scores "Good morning."`
    - `allyouneed translate --model runs/my-run/model --output output.txt < input.txt`
    - `allyouneed translate --sample --temperature 0.8 --seed 7 "I like it here."`
    - `allyouneed translate --stream "A long text, shown while it is being translated."`
    - `allyouneed translate --terms terms.tsv --json "A man rides a bike."`
    - `allyouneed translate report.docx --to report.de.docx`
    - `allyouneed translate docs --to docs-de --resume`
    - `allyouneed translate --protect "Big Apple" "The Big Apple is big."`

    Standard input is translated as it arrives. Each line of input gives one line of
    output, an empty line an empty one. Put `--` before a text that begins with a dash:
    `translate -- "-5 degrees"`.

    **Columns**, separated by tabs

    - the number of the text, from 1 (`--n-best`)
    - the rank of the translation, from 1 (`--n-best`)
    - H, the mean log-probability per token (`--scores`)
    - exp(H), the same as a probability (`--scores`)
    - the confidence, if the model was calibrated (`--scores`)
    - the translation
    - the links between words (`--alignments`)
    """
    results.check_stream(search)
    how: dict[str, Any] = {
        "options": search.options(sampling, results.stream),
        "source": languages.from_,
        "terms": search.terms,
    }
    place = document_place(texts, languages.to, results.output, documents.typed)
    protection.check(with_documents=place is not None)
    target = language_asked(languages.to, place)
    named: Iterable[str] = texts or ()
    jobs: Sequence[Job] = ()
    if place is not None:
        from allyouneed.cli.document_jobs import document_jobs, first_texts

        jobs = document_jobs(texts or (), place, documents.format)
        target = target or language_of_place(model, place, texts or (), languages.from_)
        named = first_texts(jobs, documents.format)
    how["target"] = target
    models = models_of_direction(model, languages.from_, target, named)
    opening = partial(
        running.translators, models, languages.from_, target, search.vocabulary_selection
    )
    if place is not None:
        if search.n_best > 1 or search.prefix or results.stream or any(results.whole.values()):
            raise UsageError(f"{DOCUMENTS_ALONE}; leave out the other options with documents")
        _translate_documents(jobs, place, opening, how, documents, protection)
        return
    how |= {"prefix": search.prefix, "protect": protection.of_text}
    if results.stream:
        on_names = partial(notes_on_documents, target=target)
        lines = chain.from_iterable(given_or_arriving(texts, note, on_names))
        show_growing(opening(), lines, how, one_line=not texts)
    else:
        form = Form(
            search.n_best > 1,
            one_line=not texts,
            source=languages.from_,
            target=target,
            **results.whole,
        )
        translate_all(texts, opening, form, results.output, how)


def _translate_documents(
    jobs: "Sequence[Job]",
    place: "Path",
    opening: "Callable[[], Translator | Relay]",
    how: "Mapping[str, Any]",
    documents: Documents,
    protection: TranslationProtection,
) -> None:
    """Translates the files of `jobs` into the file or folder `place`."""
    from allyouneed.cli.documents import translate_documents

    translate_documents(jobs, place, opening, how, documents, protection.protect or ())
