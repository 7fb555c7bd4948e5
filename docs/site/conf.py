"""How Sphinx builds the pages."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

project = "Lastgood"
copyright = "The Lastgood authors. Text: CC BY 4.0, code: Apache-2.0"
extensions = ["myst_parser", "docs.site.formulas"]
myst_enable_extensions = ["dollarmath", "tasklist"]
exclude_patterns = [".doctrees"]
suppress_warnings: list[str] = []
smartquotes = False  # the text has its own
highlight_language = "none"

html_theme = "furo"
html_title = "Lastgood"
html_static_path = [str(HERE / "static")]
html_css_files = ["lastgood.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_use_index = False
html_domain_indices = False
# A summary under each hit is fetched from its page, which a browser refuses to pages that come from a disk.
html_show_search_summary = False
pygments_style = "default"
pygments_dark_style = "github-dark"
