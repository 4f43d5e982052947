"""How Sphinx builds the site; scripts/site calls it with pages that docs/site/staging.py made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

import flyloom
from pygments.lexer import RegexLexer
from pygments.token import Comment, Generic, Text

HERE = Path(__file__).resolve().parent

project = "flyloom"
version = release = flyloom.__version__
author = copyright = "the flyloom authors"
language = "en"

extensions = ["myst_parser", "sphinx_design", "sphinx.ext.autodoc", "numpydoc"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns: list[str] = []
templates_path = [str(HERE / "templates")]

# Pages are plain Markdown that GitHub shows too; headings have the anchors that it gives them.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 6
myst_links_external_new_tab = False

# Dead links fail the build. Types of C, and Python names that are not public, are no links.
nitpicky = True
nitpick_ignore_regex = [("c:identifier", r".*"), ("py:.*", r"(?!flyloom\.\w+$).*")]
nitpick_ignore = [("py:class", "flyloom.Traffic")]  # what `traffic` may be: a type for annotations

default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
c_maximum_signature_line_length = 88
add_module_names = False
autosummary_generate = False
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = True
toc_object_entries = True
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "flyloom"
html_static_path = [str(HERE / "static")]
html_extra_path = sorted(map(str, HERE.parent.glob("explained/*.html")))  # need no other file
html_css_files = ["site.css"]
html_js_files = ["without-server.js"]
html_search_scorer = os.environ.get("SITE_SEARCH_ORDER", "")
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_context = {"default_mode": "auto", "built_version": os.environ.get("SITE_VERSION", "next")}
html_sidebars = {"index": [], "search": []}
html_theme_options = {
    "logo": {"text": "flyloom"},
    "navbar_align": "left",
    "navbar_end": ["versions", "theme-switcher"],
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "back_to_top_button": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "search_as_you_type": False,
    "navigation_with_keys": False,
}


class ConsoleLexer(RegexLexer):
    """Commands after their prompts; what bash would make of their words has no colour."""

    name = "console"
    tokens: ClassVar = {"root": [
        (r"^\$ ", Generic.Prompt), (r"  ?# exit \d+$", Comment), (r"[^ \n]+|[ \n]", Text)]}


def setup(app):
    """What Sphinx calls first."""
    app.add_lexer("console", ConsoleLexer)
