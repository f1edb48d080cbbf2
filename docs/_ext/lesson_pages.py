"""Lessons as pages and as notebooks: scripts in percent format, run at full size."""

import zipfile
from itertools import chain
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from sphinx.application import Sphinx

FORMAT = "py:percent"
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
LANGUAGE = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"}
DOWNLOADS = """# %% [markdown]
# *This page is a script:* <a href="{name}.py">{name}.py</a>*; as a notebook:*
# <a href="{name}.ipynb">{name}.ipynb</a>*. What it imports beside it is in*
# <a href="lessons.zip">lessons.zip</a>*, with all the lessons and the answers.*

"""


def read(text: str) -> Any:
    """The notebook that a script in percent format is."""
    notebook = jupytext.reads(text, fmt=FORMAT)
    notebook.metadata.update(kernelspec=KERNEL, language_info=LANGUAGE)
    return notebook


def write(folder: Path, into: Path) -> None:
    """Lays scripts, notebooks and a zip with what they need into a folder, to be downloaded."""
    into.mkdir(parents=True, exist_ok=True)
    scripts = sorted(folder.glob("[0-9][0-9]_*.py"))
    with zipfile.ZipFile(into / "lessons.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for script in scripts:
            text = script.read_text("utf-8")
            notebook = nbformat.writes(read(text))
            (into / script.name).write_text(text, encoding="utf-8")
            (into / f"{script.stem}.ipynb").write_text(notebook, encoding="utf-8")
            archive.writestr(f"lessons/{script.stem}.ipynb", notebook)
        parts = (folder.glob(pattern) for pattern in ("*.py", "answers/*.py", "checks/*.py"))
        for path in sorted(chain(*parts)):
            archive.write(path, Path("lessons") / path.relative_to(folder))


def _offer_downloads(app: Sphinx, docname: str, source: list[str]) -> None:
    folder, _, name = docname.partition("/")
    if folder == "lessons":
        first, _, rest = source[0].partition("\n# %%")
        source[0] = f"{first}\n\n{DOWNLOADS.format(name=name)}# %%{rest}"


def _lay_out(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        write(Path(app.srcdir) / "lessons", Path(app.outdir) / "lessons")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", _offer_downloads)
    app.connect("build-finished", _lay_out)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
