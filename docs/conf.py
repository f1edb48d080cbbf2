"""How the documentation is built: `make docs`."""

import os
import sys
from pathlib import Path

from allyouneed import __version__

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

project = "allyouneed"
release = version = __version__
html_title = "allyouneed"
copyright = "the contributors of allyouneed; MIT licence"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "docstrings",
    "lesson_pages",
    "links",
    "made",
    "mathml",
    "offline",
    "sphinx_copybutton",
]
exclude_patterns = ["_ext", "conf.py", "jupyter_execute", "lessons/[!0-9]*"]
nitpicky = True
nitpick_ignore_regex = [  # the types in signatures, which other libraries describe
    (r"py:(class|exc|data|attr)", r".*"),
    (r"py:obj", r"typing\..*"),
]

smartquotes = False  # --option stays two hyphens
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["house.css"]
html_copy_source = False
html_show_sourcelink = False
html_math_renderer = "mathml"

# Lessons run at full size while the pages are built, and are kept in the cache until they change.
# Their pictures also go into the folder; the live view of a lesson is then part of its page.
os.environ.setdefault("ALLYOUNEED_LESSONS_FOLDER", str(HERE.parent / "build" / "lesson-pictures"))
nb_custom_formats = {".py": ["lesson_pages.read", {}]}
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE.parent / "build" / "docs-cache")
nb_execution_timeout = 600  # seconds a cell
nb_execution_show_tb = True
nb_ipywidgets_js = {}  # no script of another host

copybutton_prompt_text = "$ "
copybutton_copy_empty_lines = False

default_role = "literal"  # docstrings quote code with one backtick
autodoc_member_order = "bysource"
napoleon_numpy_docstring = False
viewcode_follow_imported_members = False  # such names are described where they are defined
