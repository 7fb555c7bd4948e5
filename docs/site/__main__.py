"""`python -m docs.site OUT`: build the pages into the folder OUT, in place of what was there."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from docs.site.links import faults
from docs.site.pages import SiteError, stage

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def main(out: Path) -> int:
    """Build, follow every link, and say where to begin. Returns the exit code."""
    try:
        from sphinx.cmd.build import build_main
    except ImportError:
        print(
            "The site is built by Sphinx, which is not installed. `make site` installs it.", file=sys.stderr
        )
        return 1
    sources = out.with_name(f"{out.name}-sources")
    for folder in (out, sources):
        shutil.rmtree(folder, ignore_errors=True)
    try:
        stage(ROOT, sources)
    except SiteError as error:
        print(error, file=sys.stderr)
        return 1
    # -W: a warning, such as a term that does not exist, is an error. All of them are told, though.
    arguments = ["-q", "-W", "--keep-going", "-b", "html", "-d", str(sources / ".doctrees"), "-c", str(HERE)]
    if code := int(build_main([*arguments, str(sources), str(out)])):
        return code
    if found := faults(out):
        print("\n".join(found), file=sys.stderr)
        return 1
    print(f"Open {out / 'index.html'}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Say where the pages go: python -m docs.site build/site")
    sys.exit(main(Path(sys.argv[1]).resolve()))
