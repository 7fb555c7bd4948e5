"""A checkpoint that is not whole: which file, and what is wrong with it."""

import json
import os
import re
import shutil

import pytest
import torch

from lastgood.recovery.inspect import InspectError, inspect


def cut(path, size):
    with open(path, "r+b") as file:
        file.truncate(size)


def test_a_shard_that_the_index_names_is_missed(made):
    folder = made("sharded")
    (folder / "model-00002-of-00002.safetensors").unlink()
    report = inspect(folder)
    assert report.faults == ["the shard model-00002-of-00002.safetensors is missing or unreadable"]
    assert report.status == 1


def test_an_index_is_described_by_itself_too(made):
    folder = made("sharded")
    (folder / "model-00002-of-00002.safetensors").unlink()
    (folder / "optimizer.pt").write_bytes(b"not of the index")
    assert inspect(folder / "model.safetensors.index.json").faults == [
        "the shard model-00002-of-00002.safetensors is missing or unreadable"
    ]


def test_a_shard_without_a_tensor_that_the_index_promises_is_told(made):
    folder = made("sharded")
    index = folder / "model.safetensors.index.json"
    content = json.loads(index.read_text())
    content["weight_map"]["head.bias"] = "model-00001-of-00002.safetensors"
    index.write_text(json.dumps(content))
    assert inspect(folder).faults == ["1 tensors of the index are not in the shards that it names"]


def test_shards_without_an_index_are_counted(made):
    folder = made("sharded")
    (folder / "model.safetensors.index.json").unlink()
    (folder / "model-00001-of-00002.safetensors").unlink()
    assert inspect(folder).faults == ["1 of 2 shards of model.safetensors are missing"]


def test_one_shard_says_that_it_is_one_of_several(made):
    shard = made("sharded") / "model-00001-of-00002.safetensors"
    assert inspect(shard).notes == ["This is shard 1 of 2: pass the folder for all."]


def test_an_index_leads_nowhere_outside_its_folder(made):
    folder = made("sharded")
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "../../secret.safetensors"}}))
    assert "../../secret.safetensors is missing or unreadable" in inspect(folder).faults[0]


def test_a_torn_safetensors_file_is_told_by_its_size(made):
    path = made("safetensors")
    cut(path, path.stat().st_size - 10)
    (fault,) = inspect(path).faults
    assert fault.startswith("cut short: its tensors need 368 bytes, the file has 358")


@pytest.mark.parametrize("left", [100, 400])
@pytest.mark.parametrize("maker", ["both", "weights", "legacy", "safetensors"])
def test_a_file_that_breaks_off_early_is_refused_by_name(made, maker, left):
    path = made(maker)
    cut(path, left)
    with pytest.raises(InspectError, match=r"made: .*(cut short|damaged)"):
        inspect(path)


def test_a_legacy_file_that_breaks_off_in_its_storages_is_told(made):
    path = made("legacy")
    cut(path, path.stat().st_size - 4)
    (fault,) = inspect(path).faults
    assert fault.startswith("1 storages are shorter than their tensors need")
    cut(path, path.stat().st_size - 200)
    assert re.match(r"[2-9] storages are not in the file, the first is \d+", inspect(path).faults[0])


def test_one_torn_file_of_a_folder_does_not_hide_the_others(made):
    folder = made("trainer")
    cut(folder / "optimizer.pt", 100)
    report = inspect(folder)
    (fault,) = report.faults
    assert fault.startswith("optimizer.pt: begins as a zip archive and cannot be read as one: cut short")
    assert report["parameters"].status == "held"
    assert report["moments"].status == "missing"
    assert report.status == 1


def test_a_torn_data_file_of_dcp_is_told(made):
    folder = made("dcp")
    data = folder / "__0_0.distcp"
    cut(data, data.stat().st_size - 100)
    assert "__0_0.distcp is cut short" in inspect(folder).faults[0]
    data.unlink()
    assert inspect(folder).faults == ["__0_0.distcp does not exist"]


def test_the_data_of_dcp_lies_nowhere_outside_its_folder(made):
    folder = made("dcp")
    metadata = folder / ".metadata"
    metadata.write_bytes(metadata.read_bytes().replace(b"__0_0.distcp", b"../../distcp"))
    assert "would lie outside the folder, in ../../distcp: not looked at" in inspect(folder).faults[0]


def test_dcp_without_metadata_was_never_finished(made):
    folder = made("dcp")
    (folder / ".metadata").unlink()
    with pytest.raises(InspectError, match=r"half-written: it has \*\.distcp files and no \.metadata"):
        inspect(folder)


def test_a_changed_byte_of_ours_is_found_by_its_checksum(made):
    folder = made("ours") / "step-00000003"
    state = folder / "state.pt"
    data = bytearray(state.read_bytes())
    data[-3000] ^= 1
    state.write_bytes(data)
    assert any("SHA-256" in fault for fault in inspect(folder).faults)


def test_of_several_the_newest_sound_one_is_described_and_newer_ones_are_named(made):
    folder = made("ours")
    shutil.copytree(folder / "step-00000003", folder / "step-00000004")  # its manifest says 3
    (folder / ".step-00000005.4242-99-0badcafe.tmp").mkdir()
    report = inspect(folder)
    assert report.path.endswith("step-00000003")
    assert report.faults[0].startswith("step-00000004, which is newer: ")
    assert report.faults[1] == "half-written, or being written now: .step-00000005.4242-99-0badcafe.tmp"


def test_trainers_newest_folder_counts_by_its_number(made, tmp_path):
    first = made("trainer")
    (tmp_path / "out").mkdir()
    for step in (9, 10):
        shutil.copytree(first, tmp_path / "out" / f"checkpoint-{step}")
    (tmp_path / "out" / "checkpoint-11").mkdir()
    (tmp_path / "out" / "tmp-checkpoint-12").mkdir()
    report = inspect(tmp_path / "out")
    assert report.path.endswith("checkpoint-10")
    assert [fault.partition(":")[0] for fault in report.faults] == [
        "checkpoint-11, which is newer, cannot be read",
        "half-written, or being written now",
    ]


def test_a_run_s_folder_leads_to_its_checkpoints(made, tmp_path):
    (tmp_path / "run").mkdir()
    os.rename(made("ours"), tmp_path / "run" / "checkpoints")
    (tmp_path / "run" / "events.jsonl").write_text("{}")
    assert inspect(tmp_path / "run").path.endswith("checkpoints/step-00000003")


def test_of_lightnings_files_the_one_written_last_is_described(made, tmp_path):
    (tmp_path / "checkpoints").mkdir()
    for hours, name in ((3, "epoch=1.ckpt"), (1, "last.ckpt")):
        shutil.copy(made("lightning"), tmp_path / "checkpoints" / name)
        os.utime(tmp_path / "checkpoints" / name, (hours * 3600, hours * 3600))
    report = inspect(tmp_path / "checkpoints")
    assert [file.name for file in report.files] == ["epoch=1.ckpt"]
    assert report.notes == ["2 .ckpt files stand here; this is epoch=1.ckpt, written last."]


def test_a_link_is_followed_and_said_to_be_one(made, tmp_path):
    folder = made("trainer")
    os.rename(folder / "optimizer.pt", tmp_path / "elsewhere.pt")
    (folder / "optimizer.pt").symlink_to(tmp_path / "elsewhere.pt")
    report = inspect(folder)
    assert report.notes == ["optimizer.pt is a link, and was followed."]
    (tmp_path / "elsewhere.pt").unlink()
    assert inspect(folder).faults == ["optimizer.pt: a link that leads nowhere"]


def test_a_changed_byte_of_an_archive_s_pickle_is_found_by_its_checksum(tmp_path):
    torch.save({"weight": torch.zeros(1000)}, tmp_path / "t.pt")
    data = (tmp_path / "t.pt").read_bytes()
    (tmp_path / "t.pt").write_bytes(data.replace(b"M\xe8\x03\x85", b"M\xe9\x03\x85"))
    with pytest.raises(InspectError, match="Bad CRC-32"):
        inspect(tmp_path / "t.pt")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (b"M\xe8\x03\x85", b"M\xe9\x03\x85", "1 tensors reach beyond their storages"),
        (b"M\xe8\x03N", b"M\xe9\x03N", "1 storages are shorter than their tensors need"),
    ],
)
def test_what_a_stream_claims_beyond_its_storages_is_told(tmp_path, old, new, fault):
    path = tmp_path / "t.pt"
    torch.save({"weight": torch.zeros(1000)}, path, _use_new_zipfile_serialization=False)
    data = path.read_bytes()
    assert inspect(path).faults == []
    assert data.count(old) == 1
    path.write_bytes(data.replace(old, new))
    assert inspect(path).faults[0].startswith(fault)
