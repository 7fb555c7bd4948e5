"""Files from strangers: described or refused by name; nothing of them runs, and nothing waits."""

import io
import os
import pickle
import struct
import zipfile
from pathlib import Path

import pytest

from lastgood.recovery.inspect import InspectError, inspect

MANY = 1_500_000


class Canary:
    """Touches a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> object:
        return os.system, (f"touch {self.path}",)


class Pickler(pickle.Pickler):
    """Puts whatever `HIDDEN` marks into a persistent id."""

    def persistent_id(self, value: object) -> object:
        return value[1] if isinstance(value, tuple) and value and value[0] == "HIDDEN" else None


def archive(data: bytes, packed: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", packed) as file:
        file.writestr("archive/data.pkl", data)
    return stream.getvalue()


def pickled(value: object, protocol: int = 2) -> bytes:
    stream = io.BytesIO()
    Pickler(stream, protocol).dump(value)
    return stream.getvalue()


HIDDEN = {
    "alone": lambda canary: canary,
    "nested": lambda canary: {"model": [{"weight": canary}]},
    "in a persistent id": lambda canary: {"state": ("HIDDEN", canary)},  # protocol 0 has text alone for those
}


@pytest.mark.parametrize("packed", [bytes, archive])
@pytest.mark.parametrize(
    ("hide", "protocol"),
    [(hide, protocol) for hide in HIDDEN for protocol in range("persistent" in hide, 6)],
)
def test_a_pickle_that_would_act_is_named_and_does_not(tmp_path, hide, packed, protocol):
    path, canary = tmp_path / "evil.pt", tmp_path / "canary"
    path.write_bytes(packed(pickled(HIDDEN[hide](Canary(canary)), protocol)))
    report = inspect(path)
    assert report.dangers in (["posix.system"], ["nt.system"])
    assert report.status == 2
    assert not canary.exists()


def test_the_canary_does_act_where_it_is_unpickled(tmp_path):
    pickle.loads(pickled(Canary(tmp_path / "canary")))
    assert (tmp_path / "canary").exists()


@pytest.mark.parametrize("module", [
    "builtins eval", "builtins getattr", "importlib import_module", "runpy run_path", "pathlib Path.unlink",
    "types CodeType", "torch.hub load", "torch load", "numpy load", "numpy.testing._private.utils runstring",
    "copyreg add_extension", "collections.abc sys.exit", "torch.serialization os.system",
])  # fmt: skip
def test_whatever_could_act_is_a_danger(tmp_path, module):
    named = b"c" + module.replace(" ", "\n").encode() + b"\n"
    (tmp_path / "evil.pt").write_bytes(b"\x80\x02" + named + b"(X\x01\x00\x00\x001tR.")
    assert inspect(tmp_path / "evil.pt").dangers == [module.replace(" ", ".")]


def endless(many: int) -> dict[str, bytes]:
    """Pickles of very many levels or entries."""
    return {
        "deep lists": b"\x80\x04" + b"]" * many + b"a" * (many - 1) + b".",
        "deep tuples": b"\x80\x04)" + b"\x85" * many + b".",
        "a deep key": b"\x80\x04})" + b"\x85" * many + b"K\x01s.",
        "many numbers": b"\x80\x04](" + b"K\x01" * many + b"e.",
        "many dicts": b"\x80\x04](" + b"}" * many + b"e.",
        "many keys": b"\x80\x04}(" + b"".join(b"X\x07\0\0\0%07dK\x01" % key for key in range(many)) + b"u.",
    }


ABSURD = {
    "a huge string": b"\x80\x04\x8d" + struct.pack("<Q", 2**40) + b"aa.",
    "a long line": b"\x80\x04c" + b"a" * 2_000_000,
    "a long number": b"\x80\x04I" + b"1" * 900_000 + b"\n.",
    "no end": b"\x80\x04K\x01",
    "no stack": b"\x80\x04.",
    "no mark": b"\x80\x04t.",
    "half a pair": b"\x80\x04}(K\x01u.",
    "an unknown memo": b"\x80\x04h\x07.",
    "a bomb": archive(b"\0" * 60_000_000, zipfile.ZIP_DEFLATED),
    "packed otherwise": archive(b"\x80\x04N.", zipfile.ZIP_BZIP2),
    "no data.pkl": archive(b"")[:-22].replace(b"data.pkl", b"dada.pkl") + archive(b"")[-22:],
    "a long header": struct.pack("<Q", 2**39) + b"{}",
    "a deep header": struct.pack("<Q", 1_000_000) + b'{"a":' + b"[" * 1_000_000,
    "zeros": bytes(5000),
    "nothing": b"",
    "words": b"Dear reader, this is no checkpoint.",
    "HDF5": b"\x89HDF\r\n\x1a\n" + bytes(100),
    "gzip": b"\x1f\x8b" + bytes(100),
    "Git LFS": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
}


@pytest.mark.parametrize("kind", ABSURD)
def test_what_is_absurd_is_refused_by_name(tmp_path, kind):
    path = tmp_path / "strange.pt"
    path.write_bytes(ABSURD[kind])
    with pytest.raises(InspectError) as error:
        inspect(path)
    assert str(error.value).startswith(f"{path}: ")
    assert len(str(error.value)) < len(str(path)) + 250


@pytest.mark.parametrize("kind", endless(2))
def test_thousands_of_levels_and_entries_are_described(tmp_path, kind):
    (tmp_path / "endless.pt").write_bytes(endless(5_000)[kind])
    assert inspect(tmp_path / "endless.pt").status == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", endless(2))
def test_a_million_and_a_half_of_them_are_refused(tmp_path, kind):
    data = endless(MANY)[kind]
    (tmp_path / "endless.pt").write_bytes(archive(data, zipfile.ZIP_DEFLATED) if "many" in kind else data)
    with pytest.raises(InspectError, match=r"more than (1,200,000 opcodes|400,000 objects)"):
        inspect(tmp_path / "endless.pt")


@pytest.mark.parametrize("data", [
    b"\x80\x04]\x94h\x00a.",
    b"\x80\x04}\x94X\x01\x00\x00\x00ah\x00s.",
    b"\x80\x04]\x94" + b"".join(b"]\x94(" + (b"h" + bytes([i])) * 10 + b"e" for i in range(200)) + b".",
], ids=["a list in itself", "a dict in itself", "ten of ten of ten"])  # fmt: skip
def test_what_refers_to_itself_is_looked_at_once(tmp_path, data):
    (tmp_path / "strange.pt").write_bytes(data)
    assert inspect(tmp_path / "strange.pt").status == 1


def test_a_circle_is_not_taken_for_great_depth(tmp_path):
    (tmp_path / "circle.pt").write_bytes(b"\x80\x04]\x94(h\x00h\x00e.")
    assert inspect(tmp_path / "circle.pt").notes == []


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        ("a bomb", "its data.pkl claims 60,000,000 bytes"),
        ("a huge string", "one value claims 1,099,511,627,776 bytes"),
        ("a long line", "a line is longer than 1,048,576 bytes"),
        ("a long header", "its header claims 549,755,813,888 bytes"),
        ("packed otherwise", "packed in a way torch never uses"),
        ("Git LFS", "the file itself was never fetched"),
    ],
)
def test_the_reason_is_the_one_that_counts(tmp_path, kind, cause):
    (tmp_path / "strange.pt").write_bytes(ABSURD[kind])
    with pytest.raises(InspectError, match=cause):
        inspect(tmp_path / "strange.pt")


def test_a_folder_of_slow_files_ends(tmp_path, monkeypatch):
    monkeypatch.setattr("lastgood.recovery.inspect.folders.PATIENCE", -1.0)
    (tmp_path / "a.pt").write_bytes(b"\x80\x04N.")
    with pytest.raises(InspectError, match="not all of its files were read"):
        inspect(tmp_path)


def test_a_pipe_is_not_waited_for_and_a_device_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.pt")
    with pytest.raises(InspectError, match="a pipe, not a file"):
        inspect(tmp_path / "pipe.pt")
    with pytest.raises(InspectError, match="a device, not a file"):
        inspect("/dev/zero")


def test_links_in_a_circle_and_what_is_not_there_are_told(tmp_path):
    (tmp_path / "a.pt").symlink_to(tmp_path / "a.pt")
    for name, cause in (("a.pt", "symbolic links"), ("b.pt", "does not exist"), ("\0", "null byte")):
        with pytest.raises(InspectError, match=cause):
            inspect(tmp_path / name)


def test_names_from_a_file_do_not_speak_to_the_terminal(tmp_path):
    (tmp_path / "x.pt").write_bytes(pickled({"\x1b[2Jevil": {"step\x1b": 1}, "\x1b]0;t\x07": 2}))
    report = inspect(tmp_path / "x.pt")
    assert all(text.isprintable() for text in [*report.because, *report.notes, report.path])
    assert "\\x1b[2Jevil" in report.because[0]


def test_the_ending_of_a_name_decides_nothing(made, tmp_path):
    os.rename(made("safetensors"), tmp_path / "weights.pt")
    assert inspect(tmp_path / "weights.pt").writer == "safetensors"


def storages(path: Path, *sizes: int, packed: int = zipfile.ZIP_STORED, times: int = 1) -> Path:
    """An archive with a tensor of 1,000 bytes and storages of these sizes, the last entry listed again."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", pickled({"layer.weight": Tensor(250)}))
        for number, size in enumerate(sizes):
            file.writestr(f"archive/data/{number}", bytes(size), packed)
        file.filelist += file.filelist[-1:] * (times - 1)
    return path


@pytest.mark.parametrize(
    ("archive", "fault"),
    [
        (lambda path: storages(path), "1 storages are not in the file, the first is 0"),
        (lambda path: storages(path, 999), "1 storages are shorter than their tensors need: 0 has 999 of"),
        (lambda path: storages(path, 1000, packed=zipfile.ZIP_DEFLATED), "1 storages are compressed"),
        (lambda path: storages(path, 1000, times=50), "its entries lie on top of each other"),
    ],
)
def test_what_a_directory_does_not_hold_is_told(tmp_path, archive, fault):
    report = inspect(archive(tmp_path / "odd.pt"))
    assert report.faults[0].startswith(fault)
    assert report.status == 1


def test_an_entry_that_reaches_beyond_the_file_is_told(tmp_path):
    path = storages(tmp_path / "odd.pt", 1000)
    data = path.read_bytes()
    at = data.rindex(b"PK\x01\x02") + 20  # the sizes of the last entry in the directory
    assert data[at : at + 8] == struct.pack("<II", 1000, 1000)
    path.write_bytes(data[:at] + struct.pack("<II", 10**9, 10**9) + data[at + 8 :])
    assert inspect(path).faults == ["1 entries reach beyond the end of the file, the first is archive/data/0"]


def test_what_a_directory_holds_is_believed(tmp_path):
    report = inspect(storages(tmp_path / "right.pt", 1000))
    assert report.faults == []
    assert report["parameters"].bytes == 1000


class Tensor:
    """Pickles as torch pickles a float32 tensor, whatever its size."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __reduce__(self) -> object:
        from collections import OrderedDict

        from torch._utils import _rebuild_tensor_v2

        storage = ("HIDDEN", ("storage", FloatStorage, "0", "cpu", self.count))
        return _rebuild_tensor_v2, (storage, 0, (self.count,), (1,), False, OrderedDict())


class FloatStorage:
    """Named as torch's is; what is read is the name."""
