"""Lab 19, part B: the newest folder, in one of the ways in which it is not the last good checkpoint."""

from autograder.mutants import Variant
from autograder.mutants.lab19.parts import FOUND, FOUND_BODY

FOUND_MUTANTS = (
    Variant(
        "trusts-the-newest-folder",
        "what has its name is complete",
        (
            (
                FOUND_BODY,
                '    paths = [p for p in folder.iterdir() if re.fullmatch(r"step-\\d+", p.name)]\n'
                "    newest = max(paths, key=lambda p: int(p.name[5:]), default=None)\n"
                "    return newest, {}\n",
            ),
        ),
        {FOUND: 5},
        ("It trusted step-",),
    ),
    Variant(
        "by-time",
        "the newest is the one that was written last",
        (
            (
                FOUND_BODY,
                FOUND_BODY.replace(
                    "sorted(steps, reverse=True)",
                    "sorted(steps, key=lambda s: steps[s].stat().st_mtime, reverse=True)",
                ),
            ),
        ),
        {FOUND: 4},
        ("a set-back clock changes times",),
    ),
    Variant(
        "by-name",
        "names sort as steps do",
        (
            (
                FOUND_BODY,
                FOUND_BODY.replace("sorted(steps, reverse=True)", "sorted(steps, key=str, reverse=True)"),
            ),
        ),
        {FOUND: 4},
        ("Go by the number",),
    ),
    Variant(
        "the-oldest",
        "sorted puts the newest first",
        ((FOUND_BODY, FOUND_BODY.replace("sorted(steps, reverse=True)", "sorted(steps)")),),
        {FOUND: 4},
        ("is newer",),
    ),
    Variant(
        "length-is-enough",
        "a file of the right length is the right file",
        (
            (
                '    if hashlib.sha256(state).hexdigest() != manifest["sha256"]:\n'
                '        return "corrupt: its SHA-256 is another"\n',
                "",
            ),
        ),
        {FOUND: 4},
        ("one byte is another",),
    ),
    Variant(
        "never-heard-of-other-runs",
        "in this folder everything is ours",
        (
            (
                '    if (manifest["run"], manifest["step"]) != (run, step):\n'
                "        return f\"foreign: step {manifest['step']} of {manifest['run']}\"\n",
                "",
            ),
        ),
        {FOUND: 4},
        ("which is foreign",),
    ),
    Variant(
        "half-a-manifest-raises",
        "a manifest is JSON",
        (("    except (OSError, ValueError) as error:", "    except FileNotFoundError as error:"),),
        {FOUND: 4},
        ("JSONDecodeError",),
    ),
    Variant(
        "says-nothing",
        "what is bad is not worth a word",
        (("        skipped[steps[step].name] = wrong\n", ""),),
        {FOUND: 1},
        ("nothing is said of it",),
    ),
    Variant(
        "says-bad",
        "bad is bad",
        (("        skipped[steps[step].name] = wrong\n", '        skipped[steps[step].name] = "bad"\n'),),
        {FOUND: 1},
        ("you say 'bad'",),
    ),
    Variant(
        "raises-where-there-is-none",
        "there is always one",
        (("    return None, skipped\n", '    raise FileNotFoundError("no good checkpoint")\n'),),
        {FOUND: 1},
        ("raised FileNotFoundError",),
    ),
    Variant(
        "litter-raises",
        "in a folder of checkpoints there is nothing else",
        (
            (
                FOUND_BODY,
                FOUND_BODY.replace(
                    """        if match := re.fullmatch(r"step-(\\d+)", path.name):
            steps[int(match[1])] = path
""",
                    "        steps[int(path.name[5:])] = path\n",
                ),
            ),
        ),
        {FOUND: 5},
        ("raised ValueError",),
    ),
)
