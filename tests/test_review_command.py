"""The command `lastgood review`."""

import os
import pty
import select
import signal
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from lastgood.cli import app
from lastgood.teaching.study import history


def review(*arguments, typed=""):
    result = CliRunner().invoke(app, ["review", *arguments], input=typed)
    return result.exit_code, " ".join(result.output.split())


def kept():
    return [log[-1].rating for log in history.so_far().logs.values()]


def test_it_asks_takes_an_answer_shows_the_check_and_keeps_the_rating(cards):
    code, output = review("18", typed="the moments\n3\n")
    assert code == 0
    assert output.startswith("4 cards to lesson 18.")
    assert "1 of 4, from lesson 18" in output
    assert "What does a checkpoint hold, beside the weights?" in output
    assert "The rest: $m_t$ < all." in output
    assert "1 again (in 10 minutes)" in output
    assert kept() == ["good"]


def test_a_whole_lesson_ends_with_what_comes_next(cards):
    code, output = review("18", typed="\n3\n\n3\n80\n4\nA\n1\n")
    assert code == 0
    assert "Right: 80.4 GB, within 2 %." in output
    assert "Not A. It is atomic, and that is another thing." in output
    assert output.endswith("4 ratings kept. 1 card is due now.")
    assert sorted(kept()) == ["again", "easy", "good", "good"]


@pytest.mark.parametrize("key", ["2", "h", "H", " hard "])
def test_a_rating_may_be_a_digit_a_letter_or_a_word(cards, key):
    review("18", typed=f"\n{key}\n")
    assert kept() == ["hard"]


def test_another_key_is_asked_again_and_an_odd_number_too(cards):
    _, output = review("18", typed="\n3\n\n3\nmany\n80 TB\n80\nx\n7\n2\n")
    assert "'many' is not a number. Answer with a number, in GB." in output
    assert "80 TB is in another unit." in output
    assert output.count("Press 1, 2, 3 or 4, or q.") == 2
    assert kept()[-1] == "hard"


@pytest.mark.parametrize("typed", ["\n3\n", "\n3\nwords", "\n3\n\nq\n", "\n3\n\n"])
def test_it_ends_cleanly_wherever_the_answers_end_and_keeps_what_was_rated(cards, typed):
    code, output = review("18", typed=typed)
    assert code == 0
    assert "Stopped. 1 rating kept." in output
    assert kept() == ["good"]


class Terminal:
    """`lastgood review 18` in a terminal."""

    def __init__(self):
        self._ours, theirs = pty.openpty()
        command = [sys.executable, "-c", "from lastgood.cli import app; app()", "review", "18"]
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        os.close(theirs)
        self.seen = b""

    def press(self, keys, until):
        """Send these until that is seen: what comes before the terminal listens for keys is dropped."""
        start = len(self.seen)
        while until not in self.seen[start:]:
            os.write(self._ours, keys)
            if select.select([self.process.stdout], [], [], 0.3)[0]:
                read = os.read(self.process.stdout.fileno(), 65536)
                assert read, self.seen
                self.seen += read

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)
        # Python sees a signal that came just before it began to read only once there is something to read.
        os.write(self._ours, b"\n")
        rest = self.process.communicate(timeout=30)[0]
        os.close(self._ours)
        return (self.seen + rest).decode()


def test_ctrl_c_ends_it_cleanly_too_in_a_terminal_where_a_key_counts_at_once(cards):
    terminal = Terminal()
    terminal.press(b"", until=b"Your answer: ")
    terminal.press(b"words\n", until=b"q stop\n")
    terminal.press(b"2", until=b"Your answer: ")
    said = terminal.interrupt()
    assert terminal.process.returncode == 0, said
    assert "Stopped." in said
    assert "1 rating kept." in said
    assert "Traceback" not in said
    assert kept() == ["hard"]


def test_when_nothing_is_due_it_says_so_and_asks_nothing(cards):
    assert review() == (
        0,
        "Nothing is due. Cards come from lessons that you have ticked as read or reviewed by name.",
    )


def test_where_nothing_can_be_kept_it_says_so_once_and_goes_on(cards, home):
    home.write_text("a file where the folder should be")
    code, output = review("18", typed="\n3\n\n3\n")
    assert code == 0
    assert output.count("Nothing could be kept in") == 1
    assert "0 ratings kept." in output


def test_a_damaged_file_is_told_and_set_aside(cards, home):
    home.mkdir(parents=True)
    (home / "progress.json").write_text("{")
    _, output = review("18", typed="\n3\n")
    assert "progress.damaged.json was set aside" in output
    assert kept() == ["good"]


def test_a_lesson_without_cards_is_refused_in_a_line(cards):
    assert review("21") == (1, "There are no cards for lesson '21'. There are for: 18.")
