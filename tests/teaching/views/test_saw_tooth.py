"""The player: its line is the events', its words the picture's, and every way of stepping arrives."""

from __future__ import annotations

import json
import random
import re
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import pytest

from lastgood.recovery.supervise.outcome import Event
from lastgood.teaching.views import saw_tooth_recording
from lastgood.teaching.views.saw_tooth import SawToothPlayer, in_words, saw_tooth_player
from lastgood.teaching.views.saw_tooth_events import RECORDED, SawTooth, SawToothError, read
from lastgood.teaching.views.saw_tooth_picture import SHAPES, saw_tooth
from lastgood.teaching.views.style import INK


def event(kind: str, step: int, hours: float, **more: object) -> Event:
    return Event(kind, step, executed=step, hours=hours, text=f"{kind} at {step}", **more)  # type: ignore[arg-type]


FAULTY = [
    event("started", 0, 0.0),
    event("step", 1, 1.0),
    event("step", 2, 2.0),
    event("saved", 2, 2.5),
    event("step", 3, 3.5),
    event("failed", 3, 3.5, cause="killed", host=4, bound=2),
    event("waiting", 3, 5.0, wait=1.5),
    event("restarted", 2, 6.0, cause="killed", lost=1, bound=2, wait=1.5),
    event("full", 2, 6.5, cause="storage full"),
    event("step", 3, 7.0),
    event("refused", 3, 7.0),
    event("free", 3, 7.5),
    event("died", 3, 8.0, cause="died"),
]


@pytest.fixture(scope="module")
def recorded() -> SawTooth:
    return read()


@pytest.fixture
def player() -> SawToothPlayer:
    player = SawToothPlayer(FAULTY)
    player.view.now()
    return player


def drawn(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iterfind(".//{*}text")]


def said(html: str) -> str:
    return re.sub(r"<[^>]+>", " ", html)


# Events


def test_the_line_climbs_stands_still_and_falls_straight_down_at_a_restart() -> None:
    line = read(FAULTY).line
    assert line[:5] == [(0.0, 0), (0.0, 0), (1.0, 1), (2.0, 2), (2.5, 2)]
    at = line.index((6.0, 3))
    assert line[at - 1 : at + 2] == [(5.0, 3), (6.0, 3), (6.0, 2)]


def test_each_end_of_a_process_has_its_fall_and_the_last_may_have_none_yet() -> None:
    killed, died = read(FAULTY).falls
    assert (killed.cause, killed.host, killed.step, killed.resumed, killed.lost) == ("killed", 4, 3, 2, 1)
    assert (killed.bound, killed.wait) == (2, 1.5)
    assert (died.cause, died.resumed, died.lost) == ("died", None, None)


def test_an_outage_lasts_until_storage_is_free_or_until_now() -> None:
    run = read(FAULTY)
    assert run.outages == [(6.5, 7.5)]
    assert run.until(10).outages == [(6.5, 7.0)]


def test_one_stops_at_whatever_is_no_step() -> None:
    run = read(FAULTY)
    assert [run.moments[i].kind for i in run.stops] == [e.kind for e in FAULTY if e.kind != "step"]


def test_events_come_from_a_folder_a_file_or_a_list_alike(tmp_path: Path) -> None:
    lines = [json.dumps(asdict(one)) for one in FAULTY]
    file = tmp_path / "events.jsonl"
    file.write_text("\n".join(lines) + "\n")
    from_list = read(FAULTY)
    assert read(tmp_path) == read(str(file)) == read([asdict(one) for one in FAULTY]) == from_list
    file.write_text("\n".join(lines)[:-20])  # its supervisor was killed as it wrote
    assert read(tmp_path).moments == from_list.moments[:-1]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "events.jsonl: no events. Has the run begun?"),
        ('{"kind": "step"\n{}\n', "events.jsonl, line 1: no JSON"),
        ('{"kind": "step", "step": 1, "hours": 0.5}\n', "events.jsonl, event 1: no 'text' in it"),
        ('{"kind": "step", "step": "x", "hours": 0.5, "text": ""}\n', "event 1: invalid literal"),
        ("[1]\n", "event 1: no 'kind' in it"),
    ],
)
def test_what_is_no_log_is_refused_by_its_line(tmp_path: Path, text: str, error: str) -> None:
    (tmp_path / "events.jsonl").write_text(text)
    with pytest.raises(SawToothError, match=re.escape(error)):
        read(tmp_path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SawToothError, match=r"nothing\.jsonl: no such file\. Give the folder"):
        saw_tooth_player(tmp_path / "nothing.jsonl")


# The recorded run


def test_the_recorded_run_has_every_kind_of_failure_and_ends_bit_identical(recorded: SawTooth) -> None:
    causes = [fall.cause for fall in recorded.falls]
    assert set(causes) == {"killed", "hung", "told to leave", "corrupted"}
    assert len(recorded.outages) == 1
    assert recorded.now.kind == "finished"
    assert "bit-identical" in recorded.now.text
    assert all(fall.lost is not None and fall.lost <= (fall.bound or 0) for fall in recorded.falls)


def test_the_recorded_run_answers_the_lessons_two_questions(recorded: SawTooth) -> None:
    """Which failure can lose nothing, and which more than one interval."""
    interval = saw_tooth_recording.SAVE_EVERY
    assert [fall.cause for fall in recorded.falls if fall.lost == 0] == ["told to leave"]
    more = [fall for fall in recorded.falls if (fall.lost or 0) > interval]
    assert [fall.cause for fall in more] == ["corrupted", "killed"]
    (since, until) = recorded.outages[0]
    assert since < more[1].hours < until


@pytest.mark.slow
def test_recorded_anew_the_run_is_the_same_but_for_a_step(tmp_path: Path, recorded: SawTooth) -> None:
    file = tmp_path / "again.jsonl"
    saw_tooth_recording.main([str(file)])
    again = read(file)
    assert [(fall.cause, fall.host, fall.bound is None) for fall in again.falls] == [
        (fall.cause, fall.host, fall.bound is None) for fall in recorded.falls
    ]
    for new, old in zip(again.falls, recorded.falls, strict=True):
        assert abs(new.step - old.step) <= 1
        assert abs(new.resumed - old.resumed) <= 1  # type: ignore[operator]
    assert again.now.text == recorded.now.text
    assert file.read_text().partition("\n")[0] == RECORDED.read_text().partition("\n")[0]


# Picture, words and log


def test_the_picture_marks_each_failure_by_shape_and_name_with_what_it_lost(recorded: SawTooth) -> None:
    texts = drawn(saw_tooth(recorded, recorded, "A saw-tooth."))
    for fall in recorded.falls:
        assert f"{fall.cause} {f'−{fall.lost}' if fall.lost else 0}" in texts  # noqa: RUF001
    assert "storage full →" in texts
    assert len(set(SHAPES.values())) == len(SHAPES)


def test_a_loss_is_not_told_before_the_restart(player: SawToothPlayer) -> None:
    player.failure.click()
    assert "killed" in drawn(player.view.picture.value)
    assert "How far will the line fall?" in said(player.view.words.value)
    player.next.click()
    assert "every spare host is in repair, for 1.5 h" in said(player.view.words.value)
    player.next.click()
    assert "killed −1" in drawn(player.view.picture.value)  # noqa: RUF001
    words = said(player.view.words.value)
    assert "Killed: fell from step 3 to 2, 1 step to do again. No more than 2 could be lost here." in words


def test_words_and_alt_text_tell_the_numbers_of_the_picture(recorded: SawTooth) -> None:
    player = SawToothPlayer()
    player.at.value = player.at.max
    alt = ElementTree.fromstring(player.view.picture.value).get("aria-label") or ""
    lost = sum(fall.lost or 0 for fall in recorded.falls)
    assert f"Hour {recorded.hours:.1f}: step 120 of 120." in alt
    assert f"{len(recorded.falls)} failures, {lost} steps lost" in alt
    for fall in recorded.falls:
        assert f"{fall.cause} at hour {fall.hours:.1f}, step {fall.step}, resumed at {fall.resumed}" in alt


@pytest.mark.parametrize("index", range(len(FAULTY)))
def test_every_kind_of_event_has_words(index: int) -> None:
    where, what = in_words(read(FAULTY).until(index), read(FAULTY))
    assert where.startswith(f"Hour {FAULTY[index].hours:.1f}: step {FAULTY[index].step} of 3.")
    assert what.endswith((".", "?"))


def test_the_log_shows_what_has_happened_with_the_current_line_marked_and_nothing_ahead(
    player: SawToothPlayer,
) -> None:
    player.at.value = 2
    rows = re.findall(r"<tr.*?</tr>", player.log.value)
    assert [said(row).split()[-3] for row in rows[1:]] == ["started", "saved", "failed"]
    assert ["aria-current" in row for row in rows] == [False, False, False, True]
    assert "✖" in rows[-1]


def test_a_log_of_someone_elses_is_escaped() -> None:
    player = SawToothPlayer([{"kind": "started", "step": 0, "hours": 0, "text": "<script>"}])
    player.view.now()
    assert "&lt;script&gt;" in player.log.value


def test_many_failures_are_not_all_named() -> None:
    events = [event("started", 0, 0.0)]
    for number in range(40):
        events.append(event("failed", number, float(number), cause="killed", bound=1))
        events.append(event("restarted", number, float(number), cause="killed", lost=0))
    run = read(events)
    assert drawn(saw_tooth(run, run, "Many.")).count("killed 0") == 3


# Stepping


def test_next_previous_and_the_slider_walk_over_the_events_and_stop_at_both_ends() -> None:
    player = SawToothPlayer(FAULTY, later=lambda seconds, action: None)
    kinds = [one.kind for one in FAULTY if one.kind != "step"]
    player.previous.click()
    assert player.run.now.kind == kinds[0]
    for kind in kinds[1:]:
        player.next.click()
        assert player.run.now.kind == kind
    player.next.click()
    assert player.at.value == player.at.max == len(kinds) - 1
    player.previous.click()
    assert player.run.now.kind == kinds[-2]
    assert player.play.max == player.at.max


def test_next_failure_stops_at_each_of_them_and_then_at_the_end() -> None:
    player = SawToothPlayer(FAULTY, later=lambda seconds, action: None)
    seen = []
    for _ in range(4):
        player.failure.click()
        seen.append(player.run.now.kind)
    assert seen == ["failed", "full", "died", "died"]


def test_an_error_is_shown_and_neither_the_old_picture_nor_the_old_log(
    player: SawToothPlayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(run: SawTooth, whole: SawTooth, alt: str) -> str:
        raise OSError("no <ink>")

    monkeypatch.setattr("lastgood.teaching.views.saw_tooth.saw_tooth", fail)
    player.next.click()
    assert (player.view.picture.value, player.log.value) == ("", "")
    assert "OSError: no &lt;ink&gt;" in player.view.words.value


def test_a_look_leaves_the_kernel_as_it_was_and_the_picture_follows_the_theme() -> None:
    settings, state = dict(mpl.rcParams), random.getstate()
    box = saw_tooth_player()
    assert (dict(mpl.rcParams), random.getstate()) == (settings, state)
    boxes = [child for child in box.children if hasattr(child, "children")]
    shown = [str(getattr(inner, "value", "")) for one in boxes for inner in one.children]
    svg = next(value for value in shown if value.startswith("<svg"))
    assert "var(--jp-content-font-color1" in svg
    assert INK not in svg
