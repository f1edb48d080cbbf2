"""Translates texts, or the lines of standard input, and writes each result as soon as it is
done."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allyouneed.cli.lines import given_or_arriving
from allyouneed.cli.loading import DEFAULT_MODEL, opened
from allyouneed.cli.named_files import notes_on_documents
from allyouneed.cli.output import check_output, note, results
from allyouneed.cli.reading_progress import reading_progress
from allyouneed.cli.repeated_notes import RepeatedNotes
from allyouneed.cli.translation_lines import Form

if TYPE_CHECKING:
    from allyouneed.translation.pivot import Relay
    from allyouneed.translation.translator import Translator


def translate_all(
    texts: Sequence[str] | None,
    translator: "Callable[[], Translator | Relay] | None" = None,
    form: Form | None = None,
    output: Path | None = None,
    how: Mapping[str, Any] | None = None,
) -> None:
    """Translates the texts, or without texts the lines of standard input. Writes each result in the
    given form to standard output, or to the file `output`.

    `translator` opens the model; None opens the default model. `how` holds keywords for the
    translator.

    Raises:
        ModelFolderError, UsageError: as `allyouneed.load` and as the translator.
        UsageError: the file `output` has no folder, or is one.
        OSError: the file cannot be written.
    """
    form = form or Form(one_line=not texts)
    if output is not None:
        check_output(output)
    chunks = given_or_arriving(texts, note, partial(notes_on_documents, target=form.target))
    opened_one = translator() if translator else opened(DEFAULT_MODEL, "auto", None, None, False)
    keywords = {**(how or {}), "alignments": form.alignments}
    found = (
        iter([opened_one([*texts], **keywords)])
        if texts
        else opened_one.translate_chunks(chunks, **keywords)
    )
    numbers = count(1)
    notes = RepeatedNotes("text" if texts else "line")
    with results(output) as write, reading_progress(bool(texts), output) as done:
        for translations in found:
            for translation, number in zip(translations, numbers, strict=False):
                for text in translation.notes:
                    notes.add(number, text)
                for line in form.lines(opened_one, translation, number):
                    write(line)
                done(translation.source)
    notes.tell_rest()
