import numpy as np
import pytest

from lastgood.recovery.faults import (
    OPT_175B,
    Fault,
    FaultError,
    Trace,
    describe,
    load_schedule,
    mixed_schedule,
    save_schedule,
)

HEADER = "time_hours,host,kind,lasts_hours\n"
GOOD = "1.5,3,killed,0.0\n2.5,4,hung,0.0\n2.5,5,killed,0.0\n7.0,3,storage full,2.0\n"


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "trace.csv"
        path.write_text(text)
        return path

    return write


def test_a_schedule_read_back_is_the_same_to_the_last_bit(tmp_path):
    schedule = mixed_schedule(OPT_175B, failures=105, seed=5)
    save_schedule(schedule, tmp_path / "opt.csv")
    assert load_schedule(tmp_path / "opt.csv") == schedule


def test_a_trace_replays_what_was_recorded_in_every_run(written):
    trace = Trace.read(written(HEADER + GOOD))
    assert trace.schedule(hours=7.0, seed=9) == list(trace.faults[:3])
    assert trace.times(7.0, 2, np.random.default_rng(1)).tolist() == [[1.5, 2.5, 2.5]] * 2
    assert trace.times(1.0, 2, np.random.default_rng(1)).shape == (2, 0)


def test_a_schedule_is_printed_a_line_a_fault():
    text = describe(
        [Fault(1.5, 3), Fault(2.5, 4, "told to leave", 0.5), Fault(7.0, 103, "storage full", 2.0)]
    )
    assert [line.split() for line in text.splitlines()] == [
        ["1.50", "h", "host", "3", "killed"],
        ["2.50", "h", "host", "4", "told", "to", "leave", "within", "0.5", "h"],
        ["7.00", "h", "host", "103", "storage", "full", "for", "2", "h"],
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1: a schedule begins with the header"),
        ("time,host\n1,2\n", "line 1: a schedule begins with the header time_hours,host"),
        (HEADER, "no fault"),
        (HEADER + GOOD + "6.0,1,killed,0\n", "line 6: 6 h comes after 7 h; sort"),
        (HEADER + GOOD + "7.0,3,storage full,2.0\n", "line 6: host 3 fails twice at 7 h"),
        (HEADER + "1.5,3,killed,0\n1.5,4,killed,0\n1.5,3,hung,0\n", "line 4: host 3 fails twice"),
        (HEADER + "1.5,3,killed,0\n\n2.5,3,killed,0\n", "line 3 is empty: a row is missing"),
        (HEADER + "1.5,3,killed,0\n2.5,3,kil", "line 3 has 3 values for 4 columns: '2.5,3,kil'"),
        (HEADER + "1.5,3,killed,0,9\n", "line 2 has 5 values"),
        (HEADER + "-1.5,3,killed,0\n", "line 2: time_hours is -1.5"),
        (HEADER + "nan,3,killed,0\n", "line 2: time_hours is nan"),
        (HEADER + "soon,3,killed,0\n", "line 2: time_hours is 'soon'"),
        (HEADER + ",3,killed,0\n", "line 2: time_hours is ''"),
        (HEADER + "1.5,three,killed,0\n", "line 2: host is 'three': give a whole number"),
        (HEADER + "1.5,-3,killed,0\n", "line 2: host is -3"),
        (HEADER + "1.5,3,melted,0\n", "line 2: there is no kind 'melted'; there are: killed, hung"),
        (HEADER + "1.5,3,storage full,-2\n", "line 2: lasts_hours is -2"),
    ],
)
def test_a_trace_that_makes_no_sense_is_refused_by_line_and_cause(written, text, words):
    path = written(text)
    with pytest.raises(FaultError, match=words) as refused:
        load_schedule(path)
    assert str(path) in str(refused.value)
    assert path.read_text() == text


def test_a_trace_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(FaultError, match="cannot be read"):
        load_schedule(tmp_path / "none.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FaultError, match="cannot be read"):
        Trace.read(tmp_path / "binary.csv")


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        ([], "no fault"),
        ([Fault(2.0, 1), Fault(1.0, 1)], "fault 2: 1 h comes after 2 h"),
        ([Fault(2.0, 1), Fault(2.0, 1)], "fault 2: host 1 fails twice"),
    ],
)
def test_what_would_not_be_read_is_not_written(tmp_path, faults, words):
    with pytest.raises(FaultError, match=words):
        save_schedule(faults, tmp_path / "trace.csv")
    with pytest.raises(FaultError, match=words):
        Trace(tuple(faults))
    assert list(tmp_path.iterdir()) == []
