"""A report as a picture and as a page: whole files, without scripts and without anything from elsewhere."""

import statistics
from collections.abc import Iterable
from html import escape

from matplotlib.ticker import MaxNLocator

from autograder.reasons import plain
from autograder.report import Report, histogram
from autograder.report_view import summary, to_look_at
from autograder.results_view import WAITS, losses
from lastgood.teaching.views.style import BLUE, ORANGE, new_axes, new_figure, theme, to_svg

PIXELS_WIDE = 760

# Nothing in the page may load or run: what learners wrote stands in it, as text.
_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #1f2328; background: #fff; max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; margin: 1rem 0; }}
caption {{ text-align: left; font-weight: 600; padding: 0.5rem 0; }}
th, td {{ padding: 0.25rem 0.6rem; text-align: left; vertical-align: top; border-bottom: 1px solid #d0d7de; }}
td.n, th.n {{ text-align: right; font-variant-numeric: tabular-nums; }}
td.lost {{ font-weight: 700; }}
td.why {{ white-space: pre-line; overflow-wrap: anywhere; }}
svg {{ max-width: 100%; height: auto; }}
</style>
</head>
<body>
"""


def picture(report: Report) -> str:
    """The distribution of totals as a whole SVG file."""
    worth = report.results.worth
    bins = histogram(report.scores, worth)
    most = max(count for _, _, count in bins)
    with theme():
        figure = new_figure(height=210)
        axes = new_axes(figure, 0.09, 0.19, 0.88, 0.68)
        axes.bar(
            [low for low, _, _ in bins],
            [count for _, _, count in bins],
            width=[0.94 * (high - low) for low, high, _ in bins],
            align="edge",
            color=BLUE,
        )
        axes.set_xlim(0, worth)
        edges = [low for low, _, _ in bins] + [worth]
        axes.set_xticks(edges, labels=[f"{edge:.3g}" for edge in edges])
        axes.set_ylim(0, max(1.0, 1.22 * most))
        axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.set_xlabel(f"points, of {worth:g}")
        axes.set_title(f"{report.results.lab}: students by total", pad=8)
        if report.scores:
            middle = statistics.median(report.scores)
            axes.axvline(middle, color=ORANGE, linewidth=1.2, dashes=(3, 2))
            left = middle > worth / 2
            axes.annotate(
                f"median {middle:.3g}",
                (middle, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(-5 if left else 5, -2),
                textcoords="offset points",
                ha="right" if left else "left",
                va="top",
                color=ORANGE,
                fontweight="bold",
            )
        return to_svg(figure, _alt(report), page_width=PIXELS_WIDE)


def page(report: Report) -> str:
    """The report as a whole HTML file."""
    lab = _text(report.results.lab)
    parts = [_HEAD.format(title=f"{lab}: report"), f"<h1>{lab}</h1>"]
    if report.totals:
        parts += [f"<figure>{picture(report)}</figure>", f"<p>{_text(summary(report))}</p>"]
    for title, lines in to_look_at(report):
        items = "".join(f"<li>{_text(line)}</li>" for line in lines)
        parts.append(f"<h2>{_text(title)}: {len(lines)}</h2><ul>{items}</ul>")
    if report.results.rows:
        parts += [_hardest(report), _points(report), _reasons(report)]
    return "\n".join([*parts, "</body>\n</html>\n"])


def _alt(report: Report) -> str:
    bars = "; ".join(
        f"{low:.3g} to {high:.3g} points: {count}"
        for low, high, count in histogram(report.scores, report.results.worth)
        if count
    )
    said = summary(report) if report.scores else "Nobody was graded"
    return f"Histogram of the totals of {report.results.lab}. {said}. Students: {bars or 'none'}."


def _hardest(report: Report) -> str:
    rows = [
        [
            ("", f"{hard.exercise.label} {hard.exercise.title}"),
            ("n", f"{100 * hard.share:.0f} %" if hard.graded else "-"),
            ("n", f"{hard.students} of {hard.graded}"),
            ("why", "\n".join(f"{why} ({count})" for why, count in hard.reasons)),
        ]
        for hard in report.hardest
    ]
    heads = [("", "exercise"), ("n", "points lost"), ("n", "students"), ("", "most often because")]
    return _table("Hardest exercises first", heads, rows)


def _points(report: Report) -> str:
    results = report.results
    heads = [("", "student"), *(("n", exercise.label) for exercise in results.exercises), ("n", "sum")]
    rows = []
    for row in results.rows:
        cells = [("", row.student)]
        for exercise in results.exercises:
            mark = row.marks.get(exercise.grade_id)
            if mark is None:
                cells.append(("n", "-"))
            elif mark.points is None:
                cells.append(("n", WAITS))
            else:
                cells.append(("n lost" if mark.lost > 0 else "n", f"{mark.points:g}"))
        rows.append([*cells, ("n", f"{row.points:g}" if row.marks else "-")])
    legend = ", ".join(f"{exercise.label} {exercise.title}" for exercise in results.exercises)
    words = f"Points, before late penalties. {WAITS} waits for a person, - has no points. {legend}."
    return f"{_table('Points', heads, rows)}\n<p>{_text(words)}</p>"


def _reasons(report: Report) -> str:
    rows = [
        [("", row.student), ("", lost), ("why", why)]
        for row in report.results.rows
        for lost, why in losses(report.results, row)
    ]
    heads = [("", "student"), ("", "lost"), ("", "because")]
    return _table("Why points were lost", heads, rows) if rows else "<p>Nobody lost a point.</p>"


def _table(caption: str, heads: Iterable[tuple[str, str]], rows: Iterable[Iterable[tuple[str, str]]]) -> str:
    """A table of (class, text) cells; the first of a row names it."""
    lines = ["".join(f'<th scope="col" class="{kind}">{_text(text)}</th>' for kind, text in heads)]
    for row in rows:
        (_, name), *cells = row
        found = f'<th scope="row">{_text(name)}</th>'
        lines.append(found + "".join(f'<td class="{kind}">{_text(text)}</td>' for kind, text in cells))
    body = "".join(f"<tr>{line}</tr>\n" for line in lines[1:])
    return (
        f'<div class="wide"><table><caption>{_text(caption)}</caption>\n'
        f"<thead><tr>{lines[0]}</tr></thead>\n<tbody>{body}</tbody></table></div>"
    )


def _text(said: str) -> str:
    return escape(plain(said))
