"""The file that holds a learner's progress: whole at every moment, one writer at a time, nothing lost."""

import itertools
import json
import os
import signal
import subprocess
import sys
from datetime import datetime

import pytest

from lastgood.teaching.study import store
from lastgood.teaching.study.store import StoreError, change, look, path

WRITER = """
import sys
from lastgood.teaching.study.store import change
name, times = sys.argv[1], int(sys.argv[2])
print("ready", flush=True)
for number in range(times):
    change(lambda content: content["labs"].update({f"{name}{number}": {
        "validated": "now", "earned": number, "possible": 10**6, "exercises": {}}}))
    print(number, flush=True)
"""


def writer(name, times):
    command = [sys.executable, "-c", WRITER, name, str(times)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def put(home, text):
    home.mkdir(parents=True, exist_ok=True)
    (home / "progress.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    return home / "progress.json"


def names(home):
    """What lies in the home, without what starts with a dot."""
    return sorted(file.name for file in home.iterdir() if not file.name.startswith("."))


def read_lesson(content):
    content["lessons"]["18"] = {"read": store.now()}


def test_it_lies_in_the_home_that_the_environment_names_else_in_the_users(home, monkeypatch):
    assert path() == home / "progress.json"
    monkeypatch.delenv("LASTGOOD_HOME")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert str(path()) == "/home/somebody/.lastgood/progress.json"


def test_looking_makes_nothing(home):
    assert look().content == {"version": 1, "lessons": {}, "labs": {}}
    assert not home.exists()


def test_a_person_can_read_it(home):
    change(
        lambda content: content["lessons"].update({"20": {"reps": {"a": {"done": store.now(), "text": "δ"}}}})
    )
    text = (home / "progress.json").read_text()
    assert '\n  "lessons": {\n    "20"' in text
    assert '"text": "δ"' in text
    done = json.loads(text)["lessons"]["20"]["reps"]["a"]["done"]
    assert datetime.fromisoformat(done).tzinfo is not None
    assert names(home) == ["progress.json"]


def test_keys_that_this_version_does_not_know_are_kept(home):
    put(home, '{"version": 1, "cards": [1], "lessons": {"19": {"mood": "good"}}, "labs": {}}')
    change(read_lesson)
    content = json.loads((home / "progress.json").read_text())
    assert content["cards"] == [1]
    assert content["lessons"]["19"] == {"mood": "good"}
    assert look().notes == ()


@pytest.mark.parametrize("left_out", ["lessons", "labs"])
def test_a_part_that_a_hand_left_out_is_empty(home, left_out):
    content = {"version": 1, "lessons": {}, "labs": {}}
    del content[left_out]
    put(home, "\ufeff" + json.dumps(content))  # as some editors begin a file
    assert look().content[left_out] == {}


DAMAGED = {
    "empty": ("", "is not JSON (line 1"),
    "torn": ('{"version": 1,\n "less', "is not JSON (line 2"),
    "no text": (b"\xff\xfe\x00", "is not text in UTF-8 (byte 0)"),
    "another thing": ("[1, 2]", "the file should be an object"),
    "no version": ('{"lessons": {}}', "lacks “version”"),
    "no number": ('{"version": "1"}', "“version” should be the number 1"),
    "yes for a number": ('{"version": true}', "“version” should be the number 1"),
    "too old": ('{"version": 0}', "“version” should be the number 1"),
    "lessons in a list": ('{"version": 1, "lessons": ["18"]}', "“lessons” should be an object"),
    "when is a number": (
        '{"version": 1, "lessons": {"18": {"read": 3}}}',
        "“read” should be a text, in “18”",
    ),
    "points in words": (
        '{"version": 1, "labs": {"lab18": {"validated": "", "earned": "all", "possible": 3}}}',
        "“earned” should be a number from 0 on, in “lab18”",
    ),
    "points below zero": (
        '{"version": 1, "labs": {"lab18": {"validated": "", "earned": -1, "possible": 3}}}',
        "“earned” should be",
    ),
    "no points": ('{"version": 1, "labs": {"lab18": {"validated": ""}}}', "lacks “earned” in “lab18”"),
    "not a number": (
        '{"version": 1, "labs": {"lab18": {"validated": "", "earned": NaN, "possible": 3}}}',
        "“earned” should be",
    ),
    "brackets without end": ("[" * 200_000, "not JSON that anyone would write"),
    "a number without end": ('{"version": 1' + "0" * 5_000 + "}", "not JSON that anyone would write"),
}


@pytest.mark.parametrize(("text", "why"), DAMAGED.values(), ids=DAMAGED)
@pytest.mark.parametrize("touch", [look, lambda: change(read_lesson)], ids=["look", "change"])
def test_a_damaged_file_is_set_aside_as_it_was_and_the_note_says_where_and_why(home, text, why, touch):
    before = put(home, text).read_bytes()
    [note] = touch().notes
    assert str(home / "progress.damaged.json") in note
    assert why in note
    assert (home / "progress.damaged.json").read_bytes() == before
    assert json.loads((home / "progress.json").read_text())["version"] == 1


def test_a_newer_file_is_set_aside_too(home):
    put(home, '{"version": 2, "lessons": "elsewhere"}')
    [note] = change(read_lesson).notes
    assert "progress.newer.json was set aside: it is of version 2" in note
    assert (home / "progress.newer.json").read_text() == '{"version": 2, "lessons": "elsewhere"}'


def test_what_was_set_aside_before_is_never_lost(home):
    texts = ["{", "{{", "{{{"]
    for text in texts:
        put(home, text)
        look()
    aside = [f"progress.damaged{end}.json" for end in ("", "-2", "-3")]
    assert [(home / name).read_text() for name in aside] == texts


def test_the_note_is_told_until_the_file_is_gone(home):
    put(home, "{")
    change(read_lesson)
    assert look().notes == change(read_lesson).notes != ()
    (home / "progress.damaged.json").unlink()
    assert look().notes == ()


def test_a_clock_that_was_set_back_breaks_nothing(home):
    put(
        home,
        '{"version": 1, "lessons": {"18": {"read": "2999-01-01T00:00:00+00:00"}, "19": {"read": "soon"}}}',
    )
    assert look().notes == ()
    assert change(read_lesson).content["lessons"]["18"]["read"] < "2999"


def test_where_the_home_cannot_be_made_nothing_breaks_and_a_sentence_says_so(home):
    home.write_text("a file stands where the folder should")
    with pytest.raises(StoreError, match=r"Nothing could be kept in .*progress\.json"):
        change(read_lesson)
    found = look()
    assert found.content["lessons"] == {}
    assert "could not be read" in found.notes[0]
    assert home.read_text() == "a file stands where the folder should"


def test_what_cannot_be_read_is_not_overwritten(home):
    (home / "progress.json").mkdir(parents=True)
    with pytest.raises(StoreError, match="Is a directory"):
        change(read_lesson)
    assert "could not be read" in look().notes[0]
    assert (home / "progress.json").is_dir()


@pytest.mark.parametrize(("number", "said"), [(28, "the disk is full"), (30, "Read-only file system")])
@pytest.mark.parametrize("call", ["fsync", "replace", "rename"])
def test_a_disk_that_refuses_leaves_the_file_as_it_was(home, monkeypatch, number, said, call):
    change(read_lesson)
    before = (home / "progress.json").read_text()

    def refuse(*_):
        raise OSError(number, os.strerror(number))

    if call == "fsync":
        monkeypatch.setattr(os, "fsync", refuse)
    else:
        monkeypatch.setattr(type(home), call, refuse)
    if call == "rename":  # only what is set aside is renamed
        put(home, before := before[:-9])
    with pytest.raises(StoreError, match=said):
        change(lambda content: content["lessons"].clear())
    assert (home / "progress.json").read_text() == before


@pytest.mark.needs_bwrap
def test_a_read_only_home_is_shown_and_not_written(home):
    change(read_lesson)
    code = (
        "from lastgood.teaching.study import store\n"
        "print(store.look().content['lessons'].keys())\n"
        "try: store.change(lambda content: None)\n"
        "except store.StoreError as error: print(error)"
    )
    box = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", str(home), str(home)]
    done = subprocess.run([*box, sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "dict_keys(['18'])" in done.stdout
    assert "Read-only file system. Everything else works without it." in done.stdout


def test_a_writer_that_holds_the_lock_for_too_long_is_told(home, monkeypatch):
    from filelock import FileLock

    home.mkdir(parents=True)
    monkeypatch.setattr(store, "PATIENCE", 0.01)
    with (
        FileLock(home / ".progress.json.lock"),
        pytest.raises(StoreError, match="held its lock for too long"),
    ):
        change(read_lesson)


def test_a_link_stays_a_link(home, tmp_path):
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text('{"version": 1}')
    home.mkdir(parents=True)
    (home / "progress.json").symlink_to(elsewhere)
    change(read_lesson)
    assert (home / "progress.json").is_symlink()
    assert "18" in json.loads(elsewhere.read_text())["lessons"]


def test_what_utf_8_cannot_hold_survives(home):
    put(home, r'{"version": 1, "odd": "\ud800"}')
    change(read_lesson)
    assert look().content["odd"] == "\ud800"


def test_two_writers_at_once_lose_nothing(home):
    with writer("a", 40) as one, writer("b", 40) as other:
        one.communicate()
        other.communicate()
    assert look().content["labs"].keys() == {f"{name}{n}" for name in "ab" for n in range(40)}


def test_a_writer_that_is_killed_leaves_a_whole_file_and_no_lock(home):
    """Killed at some moment of an endless row of writes, over and over."""
    last = -1
    for attempt in range(8):
        with writer(f"run{attempt}-", 10**6) as process:
            for line in itertools.islice(process.stdout, 1 + 3 * attempt):
                last = int(line) if line.strip() != "ready" else -1
            process.send_signal(signal.SIGKILL)
        found = look()
        assert found.notes == ()
        assert found.content["version"] == 1
        kept = [
            int(lab.partition("-")[2]) for lab in found.content["labs"] if lab.startswith(f"run{attempt}-")
        ]
        assert kept == list(range(len(kept)))
        assert len(kept) > last, "what a writer was told to be kept is there"
    change(read_lesson)
    assert names(home) == ["progress.json"]
