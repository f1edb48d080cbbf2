"""`allyouneed translate`: text as arguments, or lines on standard input."""

from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from allyouneed.cli.document_place import DOCUMENTS_ALONE, document_place, is_path
from allyouneed.cli.lines import given_or_arriving
from allyouneed.cli.loading import opened
from allyouneed.cli.options import (
    DEFAULT_MODEL,
    SEARCH,
    Beam,
    Debug,
    Device,
    Engine,
    From,
    Json,
    LengthPenalty,
    Model,
    Output,
    Threads,
    To,
)
from allyouneed.cli.output import note
from allyouneed.cli.search import beam_options, check_choice, sampling_options
from allyouneed.cli.streaming import check_streamed, show_growing
from allyouneed.cli.translating import translate_all
from allyouneed.cli.translation_lines import Form
from allyouneed.errors import UsageError

SAMPLING = "Sampling"
DOCUMENTS = "Documents"


def translate(
    texts: Annotated[
        list[str] | None,
        typer.Argument(help="Texts to translate, each in quotes. Without them: standard input."),
    ] = None,
    model: Model = DEFAULT_MODEL,
    from_: From = None,
    to: To = None,
    beam: Beam = None,
    n_best: Annotated[
        int, typer.Option(min=1, help="Translations of each text.", rich_help_panel=SEARCH)
    ] = 1,
    length_penalty: LengthPenalty = None,
    min_length: Annotated[
        int, typer.Option(help="At least so many tokens before the end.", rich_help_panel=SEARCH)
    ] = 1,
    max_length: Annotated[
        int | None,
        typer.Option(
            help="At most so many tokens (tokens of the source + 50).", rich_help_panel=SEARCH
        ),
    ] = None,
    no_repeat_ngram: Annotated[
        int,
        typer.Option(help="No n-gram of tokens occurs twice; 0: no limit.", rich_help_panel=SEARCH),
    ] = 0,
    prefix: Annotated[
        str, typer.Option(help="Text that every translation begins with.", rich_help_panel=SEARCH)
    ] = "",
    terms: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="How certain words are translated: .tsv or .csv (source, target; forms of a "
            "target by |; no target: the words stay), or .tbx.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    vocabulary_selection: Annotated[
        bool,
        typer.Option(
            "--vocabulary-selection",
            help="Consider only pieces that the source can need, as learned by select-vocabulary: "
            "faster with a large vocabulary, not with 8,000 pieces.",
            rich_help_panel=SEARCH,
        ),
    ] = False,
    sample: Annotated[
        bool, typer.Option("--sample", help="Draw tokens at random.", rich_help_panel=SAMPLING)
    ] = False,
    temperature: Annotated[
        float | None,
        typer.Option(
            help="Below 1 prefers probable tokens, above 1 gives more variety (1).",
            rich_help_panel=SAMPLING,
        ),
    ] = None,
    top_k: Annotated[
        int | None,
        typer.Option(help="Draw from the k most probable tokens only.", rich_help_panel=SAMPLING),
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(
            help="Draw from the fewest tokens whose probabilities add up to p.",
            rich_help_panel=SAMPLING,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="The same seed draws the same tokens (0).", rich_help_panel=SAMPLING),
    ] = None,
    stream: Annotated[
        bool,
        typer.Option("--stream", help="Show a translation while it grows (greedy, or --sample)."),
    ] = False,
    scores: Annotated[
        bool,
        typer.Option(
            "--scores",
            help="Put H, the mean of the log-probabilities, exp(H), and the confidence first.",
        ),
    ] = False,
    alignments: Annotated[
        bool,
        typer.Option(
            "--alignments",
            help="Put word links i-j (Pharaoh) after each text; of an n-best list, after the best.",
        ),
    ] = False,
    attention: Annotated[
        bool,
        typer.Option("--attention", help="Draw which source pieces each target piece attends to."),
    ] = False,
    format: Annotated[
        str | None,
        typer.Option(
            help="The format of documents whose names do not say it: docx, markdown, po, ...",
            rich_help_panel=DOCUMENTS,
        ),
    ] = None,
    memory: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.tmx",
            help="Sentences that are translated already: equal ones are taken, similar ones shown.",
            rich_help_panel=DOCUMENTS,
        ),
    ] = None,
    update_memory: Annotated[
        bool,
        typer.Option(
            "--update-memory",
            help="Add the new translations to the memory.",
            rich_help_panel=DOCUMENTS,
        ),
    ] = False,
    bilingual: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write every sentence beside its translation: .html, .tmx or .xlf.",
            rich_help_panel=DOCUMENTS,
        ),
    ] = None,
    protect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REGEX",
            help="Copy text that matches unchanged, such as a product's name; repeatable.",
        ),
    ] = None,
    no_protect: Annotated[
        bool,
        typer.Option(
            "--no-protect",
            help="Let the model change addresses, {placeholders}, `code` and numbers, too.",
        ),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Skip files whose translation exists and is newer than the file.",
            rich_help_panel=DOCUMENTS,
        ),
    ] = False,
    output: Output = None,
    json: Json = False,
    device: Device = None,
    threads: Threads = None,
    engine: Engine = "auto",
    debug: Debug = False,
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
    - `allyouneed translate --protect "Big Apple" "Mail {name} in the Big Apple: a@example.org"`

    Standard input is translated as it arrives. Every line gives one line; an empty line gives an
    empty line. Put `--` before a text that begins with a dash: `translate -- "-5 degrees"`. H is
    the average log-likelihood of a token. Columns are separated by tabs: number and rank (with
    --n-best), H, exp(H) and, of a model that was calibrated, the confidence (--scores), the
    text, the links (--alignments).
    """
    searching = {"beam": 1 if stream and beam is None else beam, "length_penalty": length_penalty}
    drawing = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    lengths = {
        "min_length": min_length,
        "max_length": max_length,
        "no_repeat_ngram": no_repeat_ngram,
    }
    check_choice(sample, {**searching, "beam": beam}, drawing)
    whole = {"scores": scores, "alignments": alignments, "attention": attention, "json": json}
    if stream:
        check_streamed(beam, n_best, whole)
    form = Form(n_best > 1, one_line=not texts, **whole)
    options = (
        sampling_options(n_best, drawing, lengths)
        if sample
        else beam_options(n_best, searching, lengths)
    )
    opening = partial(opened, model, engine, device, threads, debug, vocabulary_selection)
    of_documents: dict[str, Any] = {
        "format": format,
        "memory": memory,
        "update_memory": update_memory,
        "bilingual": bilingual,
        "resume": resume,
    }
    place = document_place(texts, to, output, of_documents)
    if no_protect and (protect or place is not None):
        raise UsageError(
            "--no-protect is for text, without --protect; in documents, placeholders always stay"
        )
    if place is not None:
        if n_best > 1 or prefix or stream or any(whole.values()):
            raise UsageError(f"{DOCUMENTS_ALONE}; leave out the other options with documents")
        from allyouneed.cli.documents import DocumentOptions, translate_documents

        into = None if is_path(to) else to
        plan = DocumentOptions(protect=protect or (), **of_documents)
        asked = {"options": options, "source": from_, "target": into, "terms": terms}
        translate_documents(texts or [], place, opening, asked, plan)
        return
    protected = protect or not no_protect
    if not stream:
        how = {
            "options": options,
            "prefix": prefix,
            "source": from_,
            "target": to,
            "terms": terms,
            "protect": protected,
        }
        translate_all(texts, opening, form, output, how)
        return
    if terms is not None:
        raise UsageError("terms need a search of several hypotheses; leave out --stream or --terms")
    if output is not None:
        raise UsageError(
            "--stream shows a translation while it grows; leave out --stream or --output"
        )
    lines = chain.from_iterable(given_or_arriving(texts, note))
    show_growing(opening(), lines, options, prefix, not texts, from_, to, protected)
