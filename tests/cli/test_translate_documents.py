"""`allyouneed translate FILE --to FILE`, with a model that gives back what it is given."""

from pathlib import Path

import pytest

from allyouneed.cli import document_jobs
from allyouneed.cli.document_place import ENDINGS, document_place
from allyouneed.documents import pdf
from allyouneed.documents.formats import BY_ENDING
from allyouneed.documents.memory import read_tmx
from allyouneed.errors import UsageError
from allyouneed.text.language_names import name_of

PAGE = "<p>A man <b>rides</b> a bike.</p>\n<p>The dog sleeps.</p>\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.html").write_text(PAGE)
    return tmp_path


def test_the_endings_are_those_of_the_formats() -> None:
    assert set(BY_ENDING) == ENDINGS


def test_a_file(call, copier_folder: Path, folder: Path) -> None:
    done = call("translate", "--model", copier_folder, "page.html", "--to", "page.de.html")
    assert (done.code, done.out) == (0, "")
    assert Path("page.de.html").read_text() == PAGE
    assert "page.html → page.de.html: 2 sentences" in done.err


def test_output_is_a_place_too_and_to_may_be_a_folder(
    call, copier_folder: Path, folder: Path
) -> None:
    assert call("translate", "--model", copier_folder, "page.html", "--output", "x.html").code == 0
    assert Path("x.html").read_text() == PAGE
    Path("out").mkdir()
    assert call("translate", "--model", copier_folder, "page.html", "--to", "out").code == 0
    assert Path("out/page.html").read_text() == PAGE


def test_a_folder_with_the_name_of_a_language(call, folder: Path) -> None:
    Path("de").mkdir()
    assert call("translate", "--to", "de", "Thank you.").out == "Danke.\n"
    assert call("translate", "page.html", "--to", "de", "--output", "x.html").code == 0
    assert not list(Path("de").iterdir())
    assert call("translate", "page.html", "--to", "de").code == 0
    assert Path("de/page.html").exists()


@pytest.mark.parametrize(
    ("place", "language"),
    [
        ("c.fr.txt", "fr"),
        ("messages_sv.txt", "sv"),
        ("fr/c.txt", "fr"),
        ("docs-es/", "es"),
        ("c.de.txt", "de"),
        ("what-it-is.txt", "de"),
        ("c.pl.txt", "de"),
        ("c.FR.TXT", "fr"),
        ("messages_fr_FR.txt", "fr"),
        ("values-fr/c.txt", "fr"),
        ("fr.lproj/c.txt", "fr"),
        ("locale/fr/LC_MESSAGES/c.txt", "fr"),
        ("mix-es/q.txt", "es"),
    ],
)
def test_the_name_of_the_place_says_the_language(
    call, folder: Path, place: str, language: str
) -> None:
    Path("c.txt").write_text("Thank you.\n")
    done = call("translate", "c.txt", "--to", place)
    written = Path(place) / "c.txt" if place.endswith("/") else Path(place)
    assert written.read_text() == call("translate", "--to", language, "Thank you.").out
    said = f"translated into {name_of(language)}, as the name says"
    assert (said in done.err) == (language != "de")
    assert ("the name says Polish, but no bundled model" in done.err) == (place == "c.pl.txt")
    assert ": 1 sentence\n" in done.err


@pytest.mark.parametrize(
    ("place", "options", "language"),
    [
        ("c.pl.txt", (), "German"),
        ("c.pl.txt", ("--from", "de"), "English"),
        ("fr/c.pl.txt", (), "French"),
        ("de/c.pl.txt", (), "German"),
    ],
)
def test_a_name_that_no_model_can_follow_tells_the_language_that_is_used(
    call, folder: Path, place: str, options: tuple[str, ...], language: str
) -> None:
    Path("c.txt").write_text("Thank you.\n" if not options else "Danke.\n")
    done = call("translate", "c.txt", *options, "--to", place)
    assert (
        f"{place}: the name says Polish, but no bundled model translates into it; translated into "
        f"{language}; --to LANGUAGE --output {place} chooses another language\n"
    ) in done.err
    assert "as the name says" not in done.err
    thanks = {"German": "Danke", "English": "Thank you", "French": "Merci"}
    assert thanks[language] in Path(place).read_text()


def test_a_named_model_and_a_named_language_come_before_the_name(
    call, copier_folder: Path, folder: Path
) -> None:
    Path("c.txt").write_text("Thank you.\n")
    assert call("translate", "--model", copier_folder, "c.txt", "--to", "c.fr.txt").code == 0
    assert Path("c.fr.txt").read_text() == "Thank you.\n"
    assert call("translate", "c.txt", "--to", "nl", "--output", "c.sv.txt").code == 0
    assert Path("c.sv.txt").read_text() == call("translate", "--to", "nl", "Thank you.").out


def test_the_text_says_which_model_translates_into_english(call, folder: Path) -> None:
    Path("c.txt").write_text("Le chien dort dans le jardin de ma grand-mère.\n")
    done = call("translate", "c.txt", "--to", "c.en.txt")
    assert "the bundled model en-es-fr translates this direction" in done.err
    assert "dog" in Path("c.en.txt").read_text()
    Path("docs").mkdir()
    Path("docs/a.bin").write_bytes(b"\0")
    Path("c.txt").rename("docs/c.txt")
    assert "en-es-fr" in call("translate", "docs", "--to", "docs-en").err
    assert "dog" in Path("docs-en/c.txt").read_text()
    done = call("translate", "docs/c.txt", "--from", "fr", "--to", "c.de.txt")
    assert "Hund" in Path("c.de.txt").read_text()


def test_a_name_of_the_sources_too_is_no_target_language(call, folder: Path) -> None:
    Path("site/en").mkdir(parents=True)
    Path("site/en/a.txt").write_text("Thank you.\n")
    done = call("translate", "site/en/a.txt", "--to", "site/en/b.txt")
    assert Path("site/en/b.txt").read_text() == call("translate", "Thank you.").out
    done = call("translate", "site/en", "--to", "site/fr")
    assert "site/fr: translated into French, as the name says" in done.err


def test_a_file_of_no_known_format_is_an_error_that_says_so(call, folder: Path) -> None:
    Path("old.doc").write_text("x")
    done = call("translate", "old.doc", "--to", "new.doc")
    assert done.code == 2
    assert "old.doc: no format has the ending .doc; save it as .docx" in done.err


def test_a_folder_keeps_its_tree(call, copier_folder: Path, folder: Path) -> None:
    Path("docs/inner").mkdir(parents=True)
    Path("docs/inner/a.md").write_text("# The dog\n")
    Path("docs/b.txt").write_text("The dog sleeps.\n")
    Path("docs/c.png").write_bytes(b"\x89PNG")
    arguments = ["translate", "--model", copier_folder, "docs", "--to", "docs-de/", "--resume"]
    done = call(*arguments)
    assert done.code == 0
    assert Path("docs-de/inner/a.md").read_text() == "# The dog\n"
    assert Path("docs-de/b.txt").read_text() == "The dog sleeps.\n"
    assert "docs/c.png: not translated, because its suffix" in done.err
    again = call(*arguments)
    assert "docs-de/b.txt exists" in again.err
    assert "sentences" not in again.err


def test_a_folder_that_does_not_exist_yet(call, copier_folder: Path, folder: Path) -> None:
    Path("docs").mkdir()
    Path("docs/a.txt").write_text("The dog sleeps.\n")
    done = call("translate", "--model", copier_folder, "docs", "--to", "docs-de")
    assert done.code == 0
    assert Path("docs-de/a.txt").read_text() == "The dog sleeps.\n"


@pytest.mark.parametrize("to", ["out-de", "out", "translated"])
@pytest.mark.parametrize("sources", [["one/a.txt", "two/a.txt"], ["*/a.txt"]])
def test_several_files_make_a_folder_of_a_name_that_is_no_language(
    call, tree: None, sources: list[str], to: str
) -> None:
    assert call("translate", *sources, "--to", to).code == 0
    assert written(to) == ["one/a.txt", "two/a.txt"]


@pytest.mark.parametrize("to", ["de", "pt-BR", "sr_Latn_RS", "German", "deu"])
@pytest.mark.parametrize("sources", [["docs"], ["page.html", "docs"], ["*"]])
def test_a_language_is_no_folder(folder: Path, sources: list[str], to: str) -> None:
    Path("docs").mkdir()
    assert document_place(sources, to, None, {}) is None


def written(folder: str) -> list[str]:
    """The paths of the files in a folder, below it."""
    files = [path for path in Path(folder).rglob("*") if path.is_file()]
    return sorted(path.relative_to(folder).as_posix() for path in files)


@pytest.fixture
def tree(folder: Path) -> None:
    """Two folders that hold a file of the same name, and one of them a folder with another."""
    for name in ("one/a.txt", "one/sub/a.srt", "two/a.txt"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        cue = "1\n00:00:01,000 --> 00:00:03,000\n" if name.endswith(".srt") else ""
        Path(name).write_text(f"{cue}The {Path(name).parent.name}.\n")


def test_a_new_name_without_ending_is_an_error_for_a_file_that_has_one(
    call, copier_folder: Path, folder: Path
) -> None:
    arguments = ["translate", "--model", copier_folder]
    refused = call(*arguments, "page.html", "--output", "new")
    assert refused.code == 2
    assert "new has no ending; name new.html, or make the folder new first" in refused.err
    assert call(*arguments, "page.html", "--to", "/dev/null").code == 0
    Path("LICENSE").write_text("The dog sleeps.\n")
    assert call(*arguments, "LICENSE", "--format", "text", "--output", "new").code == 0
    assert Path("new").read_text() == "The dog sleeps.\n"


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        (["one", "two"], ["one/a.txt", "one/sub/a.srt", "two/a.txt"]),
        (["one/a.txt", "two/a.txt"], ["one/a.txt", "two/a.txt"]),
        (["one/a.txt", "one/sub/a.srt"], ["a.txt", "sub/a.srt"]),
        (["one/**/*.*", "two/*.txt"], ["one/a.txt", "one/sub/a.srt", "two/a.txt"]),
        (["one/a.txt", "one", "./one/a.txt"], ["a.txt", "sub/a.srt"]),
    ],
)
def test_several_sources_keep_the_tree_below_their_common_folder(
    call, copier_folder: Path, tree: None, sources: list[str], expected: list[str]
) -> None:
    assert call("translate", "--model", copier_folder, *sources, "--to", "out/").code == 0
    assert written("out") == expected
    for name in expected:
        inside = name if Path(name).parts[0] in ("one", "two") else f"one/{name}"
        assert Path("out", name).read_text() == Path(inside).read_text()


@pytest.mark.parametrize(
    ("sources", "to", "said"),
    [
        (["docs"], "out", "docs/a.md and docs/a.pdf would both be out/a.md; translate one of them"),
        (["docs/a.md", "docs/a.pdf"], "docs", "the translation would overwrite docs/a.md"),
        (["b.txt", "docs/b.txt"], "docs", "the translation would overwrite docs/b.txt"),
    ],
)
def test_no_translation_overwrites_another_or_a_source(
    call, copier_folder: Path, folder: Path, sources: list[str], to: str, said: str
) -> None:
    Path("docs").mkdir()
    for name in ("docs/a.md", "docs/a.pdf", "docs/b.txt", "b.txt"):
        Path(name).write_text(name)
    done = call("translate", "--model", copier_folder, *sources, "--to", f"./{to}")
    assert done.code == 2
    assert said in done.err
    assert not Path("out").exists()
    assert all(Path("docs", name).read_text() == f"docs/{name}" for name in written("docs"))


@pytest.mark.parametrize("to", ["one/de", "one/sub/de/", "./one/../one/de"])
def test_earlier_translations_in_the_folder_are_no_sources(
    call, copier_folder: Path, tree: None, to: str
) -> None:
    arguments = ["translate", "--model", copier_folder, "one", "--to", to]
    first, second = call(*arguments), call(*arguments)
    assert (first.code, second.code) == (0, 0)
    assert written(to) == ["a.txt", "sub/a.srt"]
    said = f"{Path(to)}: not translated, because the translations are written there"
    assert (said in first.err, said in second.err) == (False, True)


def test_hidden_files_and_locks_are_left_out(call, copier_folder: Path, tree: None) -> None:
    names = (".git/a.txt", ".git/b/c.txt", "sub/.d.txt", "~$lock.docx")
    for name in names:
        Path("one", name).parent.mkdir(parents=True, exist_ok=True)
        Path("one", name).write_text("The dog sleeps.\n")
    arguments = ["translate", "--model", copier_folder]
    done = call(*arguments, "one", "--to", "out")
    assert done.code == 0
    assert written("out") == ["a.txt", "sub/a.srt"]
    assert "3 files and folders not translated, because of a name that begins with . or ~$" in (
        done.err
    )
    done = call(*arguments, "one/a.txt", "one/sub/.d.txt", "one/~$lock.docx", "--to", "named")
    assert done.code == 0
    assert written("named") == ["a.txt", "sub/.d.txt"]
    assert "1 file or folder not translated" in done.err


def test_files_on_several_drives(tree: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative and an absolute path have no common folder either, if none is made absolute."""
    sources = [str(Path("one").resolve()), "two"]
    monkeypatch.setattr(document_jobs.os.path, "abspath", lambda path: path)
    with pytest.raises(UsageError, match="on several drives"):
        document_jobs.document_jobs(sources, Path("out"), None)


def test_a_file_that_a_killed_run_left_is_removed(call, copier_folder: Path, folder: Path) -> None:
    left = Path(".x.html.999999999-1.partial")  # no system has so many processes
    left.touch()
    assert call("translate", "--model", copier_folder, "page.html", "--to", "x.html").code == 0
    assert not left.exists()


def test_one_bad_file_of_several(call, copier_folder: Path, folder: Path) -> None:
    Path("bad.docx").write_bytes(b"no archive")
    done = call("translate", "--model", copier_folder, "bad.docx", "page.html", "--to", "out/")
    assert done.code == 1
    assert Path("out/page.html").exists()
    assert not Path("out/bad.docx").exists()
    assert "1 of 2 files were not translated: bad.docx" in done.err


def test_memory_and_bilingual(call, copier_folder: Path, folder: Path) -> None:
    Path("known.tmx").write_text(
        '<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>The dog sleeps.'
        '</seg></tuv><tuv xml:lang="de"><seg>Der Hund <bpt i="1">b</bpt>schläft.</seg></tuv></tu>'
        "</body></tmx>",
        encoding="utf-8",
    )
    done = call(
        "translate", "--model", copier_folder, "page.html", "--to", "x.html",
        "--memory", "known.tmx", "--update-memory", "--bilingual", "both.html",
    )  # fmt: skip
    assert done.code == 0
    assert "2 sentences, 1 of them from the memory" in done.err
    assert "known.tmx: 1 new sentences" in done.err
    assert "<p>Der Hund schläft.</p>" in Path("x.html").read_text(encoding="utf-8")
    assert "<td lang=" in Path("both.html").read_text(encoding="utf-8")
    assert len(read_tmx(Path("known.tmx"), "en").pairs) == 2


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["no.html", "--to", "x.html"], 2, "'no.html' is not a file or folder that is there"),
        (["--to", "x.html"], 2, "name the file to translate, too"),
        (["page.html", "--to", "x.docx"], 2, "x.docx would not be docx"),
        (["page.html", "--to", "x.docx"], 2, "name x.html, or --format"),
        (["page.html", "--to", "./page.md"], 2, "name page.translated.html, or --format"),
        (["page.html", "--to", "page.html"], 2, "the translation would overwrite"),
        (["text", "--memory", "x.tmx"], 2, "--memory is for documents"),
        (["page.html", "--to", "x.html", "--keys", "a"], 2, "--keys is for JSON, JSON lines"),
        (["page.html", "--to", "x.html", "--json"], 2, "are for text"),
        (["page.html", "--to", "x.html", "--format", "docs"], 2, "did you mean docx?"),
        (["page.html", "--to", "x.html", "--bilingual", "x.pdf"], 2, "must end in"),
        (["page.html", "--to", "x.html", "--protect", "("], 2, "no regular expression"),
        (["page.html", "--to", "x.html", "--update-memory"], 2, "needs --memory"),
        (["page.html", "--to", "x.docx", "--format", "docx"], 1, "page.html: no archive"),
    ],
)
def test_calls_that_are_wrong(
    call, copier_folder: Path, folder: Path, arguments: list[str], code: int, said: str
) -> None:
    done = call("translate", "--model", copier_folder, *arguments)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert not any(Path(name).exists() for name in ("x.html", "x.docx"))
    assert Path("page.html").read_text() == PAGE


def test_json_lines_and_their_keys(call, copier_folder: Path, folder: Path) -> None:
    Path("a.jsonl").write_text('{"id": "x y", "said": "The dog sleeps."}\n' * 3)
    arguments = ["translate", "--model", copier_folder, "a.jsonl", "--to", "b.jsonl"]
    refused = call(*arguments)
    assert refused.code == 1
    assert "name the keys to translate with --keys, such as --keys id,said" in refused.err
    assert not Path("b.jsonl").exists()
    done = call(*arguments, "--keys", "said")
    assert done.code == 0
    assert Path("b.jsonl").read_text() == Path("a.jsonl").read_text()
    assert "3 sentences" in done.err
    assert "strings of these keys stay as they are: id" in done.err


def test_a_pdf_becomes_markdown(
    call, copier_folder: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf, "_pages", lambda data: iter([["The dog sleeps."]]))
    Path("docs").mkdir()
    Path("docs/a.pdf").write_bytes(b"%PDF-")
    arguments = ["translate", "--model", copier_folder, "docs/a.pdf", "--to"]
    refused = call(*arguments, "b.pdf")
    assert refused.code == 2
    assert "is written as md; name b.md" in refused.err
    refused = call(*arguments, "./pdfs")
    assert refused.code == 2
    assert "pdfs has no ending; name pdfs.md, or make the folder pdfs first" in refused.err
    assert not Path("pdfs").exists()
    assert call(*arguments, "b.md").code == 0
    assert Path("b.md").read_text() == "The dog sleeps.\n\n"
    done = call("translate", "--model", copier_folder, "docs", "--to", "out/")
    assert done.code == 0
    assert Path("out/a.md").read_text() == "The dog sleeps.\n\n"
    assert "its layout and pictures are lost" in done.err


def test_terms_beyond_the_shown_ones_are_counted(
    call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("allyouneed.cli.documents.SHOWN", 1)
    Path("terms.tsv").write_text("bike\tVelo\ndog\tKöter\n")
    Path("page.html").write_text("<p>A man rides a bike.</p><p>The dog sleeps.</p>")
    done = call("translate", "--terms", "terms.tsv", "page.html", "--to", "page.de.html")
    assert done.err.count("the term") == 1
    assert "page.html: 1 more term\n" in done.err


def test_the_uses_of_terms_are_told(call, folder: Path) -> None:
    Path("terms.tsv").write_text("bike\tVelo\ndog\tKöter\n")
    Path("page.html").write_text("<p>A man rides a bike.</p><p>The bike is <b>red</b>.</p>")
    done = call("translate", "--terms", "terms.tsv", "page.html", "--to", "page.de.html")
    assert "page.html, the term 'bike': 'Velo' 2 times\n" in done.err
    assert "'dog'" not in done.err
