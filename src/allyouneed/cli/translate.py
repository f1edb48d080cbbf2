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
        typer.Argument(help="What to translate, each in quotes. Without it: standard input."),
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
        int, typer.Option(help="Tokens before the end, at least.", rich_help_panel=SEARCH)
    ] = 1,
    max_length: Annotated[
        int | None,
        typer.Option(help="Tokens at most (those of the source + 50).", rich_help_panel=SEARCH),
    ] = None,
    no_repeat_ngram: Annotated[
        int,
        typer.Option(help="No run of n tokens occurs twice; 0: any may.", rich_help_panel=SEARCH),
    ] = 0,
    prefix: Annotated[
        str, typer.Option(help="What every translation begins with.", rich_help_panel=SEARCH)
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
            help="Only pieces that the source can need, as learned by select-vocabulary: "
            "faster where the vocabulary is large, not with 8,000.",
            rich_help_panel=SEARCH,
        ),
    ] = False,
    sample: Annotated[
        bool, typer.Option("--sample", help="Draw tokens at random.", rich_help_panel=SAMPLING)
    ] = False,
    temperature: Annotated[
        float | None,
        typer.Option(
            help="Below 1 keeps to the probable, above 1 dares more (1).", rich_help_panel=SAMPLING
        ),
    ] = None,
    top_k: Annotated[
        int | None,
        typer.Option(help="From the k most probable tokens only.", rich_help_panel=SAMPLING),
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(help="From the fewest that reach probability p.", rich_help_panel=SAMPLING),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="The same seed draws the same (0).", rich_help_panel=SAMPLING)
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
        bool, typer.Option("--attention", help="Draw which source pieces were looked at.")
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
            help="Carry text that matches over as it is, such as a product's name; repeatable.",
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
            help="Leave out files whose translation is there and newer.",
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

    Standard input is translated as it arrives, and every line gives one line, an empty one an
    empty one. A text that begins with a dash goes behind two: `translate -- "-5 degrees"`. H is the
    average log-likelihood of a token. Columns are separated by tabs: number and rank (with
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
    wishes: dict[str, Any] = {
        "format": format,
        "memory": memory,
        "update_memory": update_memory,
        "bilingual": bilingual,
        "resume": resume,
    }
    place = document_place(texts, to, output, wishes)
    if no_protect and (protect or place is not None):
        raise UsageError(
            "--no-protect is for text, without --protect; in documents, placeholders always stay"
        )
    if place is not None:
        if n_best > 1 or prefix or stream or any(whole.values()):
            raise UsageError(f"{DOCUMENTS_ALONE}; leave the others out with documents")
        from allyouneed.cli.documents import DocumentOptions, translate_documents

        into = None if is_path(to) else to
        how = {"options": options, "source": from_, "target": into, "terms": terms}
        translate_documents(
            texts or [], place, opening, how, DocumentOptions(protect=protect or (), **wishes)
        )
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
        raise UsageError("--stream shows a translation while it grows; leave out it or --output")
    lines = chain.from_iterable(given_or_arriving(texts, note))
    show_growing(opening(), lines, options, prefix, not texts, from_, to, protected)
