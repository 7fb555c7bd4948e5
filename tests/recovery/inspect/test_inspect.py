"""What each maker's checkpoint holds and lacks is told, and where it stands."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from lastgood.recovery.inspect import InspectError, inspect

RNGS = {"Python RNG", "NumPy RNG", "torch RNG"}
OPTIMIZER = {"moments", "counts"}
POSITION = {"step", "position"}


@pytest.mark.parametrize(
    ("maker", "writer", "missing"),
    [
        ("both", "torch.save", {"step", "position", "loader"} | RNGS),
        ("weights", "torch.save", {"step", "position", "loader"} | RNGS | OPTIMIZER),
        ("module", "torch.save", {"step", "position", "loader"} | RNGS | OPTIMIZER),
        ("legacy", "torch.save", {"step", "position", "loader"} | RNGS),
        ("safetensors", "safetensors", {"step", "position", "loader"} | RNGS | OPTIMIZER),
        ("sharded", "safetensors", {"step", "position", "loader"} | RNGS | OPTIMIZER),
        ("dcp", "torch.distributed.checkpoint", {"loader", "Python RNG", "NumPy RNG"}),
        ("ours", "lastgood", set()),
        ("trainer", "Hugging Face Trainer", set()),
        ("accelerate", "Hugging Face Accelerate", set()),
        ("lightning", "Lightning", {"loader"} | RNGS),
        ("nanogpt", "nanoGPT", {"loader"} | RNGS),
    ],
)
def test_who_wrote_it_and_what_is_missing(made, maker, writer, missing):
    report = inspect(made(maker))
    assert report.writer == writer
    assert {finding.component for finding in report.missing} == missing
    assert report.faults == []
    assert report.dangers == []
    assert report.status == bool(missing)
    assert all(finding.effect.endswith(".") and finding.lesson for finding in report.missing)


@pytest.mark.parametrize("maker", ["both", "weights", "module", "legacy", "safetensors", "dcp", "lightning"])
def test_parameters_and_buffers_are_counted_as_they_are(made, trained, maker):
    report = inspect(made(maker))
    parameters = list(trained.model.parameters())
    assert report["parameters"].tensors == len(parameters)
    assert report["parameters"].bytes == sum(p.nbytes for p in parameters)
    assert report["parameters"].dtypes == {"float32": len(parameters)}
    assert report["buffers"].tensors == 3
    assert report["buffers"].dtypes == {"float32": 2, "int64": 1}


@pytest.mark.parametrize(
    "maker", ["both", "legacy", "dcp", "trainer", "accelerate", "lightning", "nanogpt", "ours"]
)
def test_moments_and_the_counts_of_each_parameter_are_told_apart(made, maker):
    report = inspect(made(maker))
    assert report["moments"].status == report["counts"].status == "held"
    assert "exp_avg, exp_avg_sq of 6 of 6 parameters" in report["moments"].detail
    assert report["counts"].detail == "For 6 parameters."


@pytest.mark.parametrize(
    ("maker", "component", "detail", "where"),
    [
        ("ours", "step", "3.", "state.pt:step"),
        ("ours", "loader", "seed 1, epoch 0, cursor 24.", "state.pt:loader"),
        ("ours", "horizon", "100.", "state.pt:schedule.horizon"),
        ("ours", "position", "lastgood computes it from the step.", "state.pt:schedule"),
        ("dcp", "step", "3.", "dcp.made:step"),
        ("trainer", "step", "3.", "trainer_state.json:global_step"),
        ("trainer", "position", "last_epoch is 3.", "scheduler.pt"),
        ("trainer", "horizon", "100.", "trainer_state.json:max_steps"),
        ("trainer", "NumPy RNG", "", "rng_state.pth:numpy"),
        ("trainer", "CUDA RNG", "", "rng_state.pth:cuda.0"),
        ("trainer", "loss scaler", "The scale is 65,536.0.", "scaler.pt"),
        ("accelerate", "loader", "_num_yielded 7, _iterator_finished False.", "dl_state_dict.bin"),
        ("accelerate", "horizon", "100.", "scheduler.bin:T_max"),
        ("accelerate", "Python RNG", "", "random_states_0.pkl:random_state"),
        ("lightning", "position", "last_epoch is 3.", "lightning.made:lr_schedulers.0"),
        ("lightning", "step", "3.", "lightning.made:global_step"),
        ("lightning", "loss scaler", "The scale is 65,536.0.", "lightning.made:MixedPrecision"),
        ("nanogpt", "step", "3.", "nanogpt.made:iter_num"),
        ("nanogpt", "position", "nanoGPT computes it from the step.", "nanogpt.made:iter_num"),
        ("nanogpt", "horizon", "100.", "nanogpt.made:config.lr_decay_iters"),
    ],
)
def test_what_is_held_is_told_with_its_place(made, maker, component, detail, where):
    path = made(maker)
    finding = inspect(path / "step-00000003" if maker == "ours" else path)[component]
    assert (finding.status, finding.detail, finding.where[0]) == ("held", detail, where)


def test_trainer_replays_its_data_which_the_files_do_not_show(made):
    finding = inspect(made("trainer"))["loader"]
    assert finding.status == "cannot be told"
    assert "ignore_data_skip" in finding.detail


def test_the_count_of_batches_that_accelerate_keeps_is_not_taken_for_the_step(made):
    folder = made("accelerate")
    finding = inspect(folder)["step"]
    assert (finding.status, finding.where) == ("cannot be told", ["random_states_0.pkl:step"])
    torch.save({"step": 12}, folder / "custom_checkpoint_0.pkl")
    finding = inspect(folder)["step"]
    assert (finding.status, finding.detail) == ("held", "12.")


def test_classes_that_a_file_brings_are_named_and_nothing_is_unpickled(made):
    report = inspect(made("lightning"))
    assert len(report.classes) == 1
    assert report.classes[0].endswith(".Monitor")


def test_what_torch_and_numpy_put_into_files_is_no_foreign_class(made):
    for maker in ("both", "legacy", "dcp", "trainer", "accelerate"):
        report = inspect(made(maker))
        assert (report.classes, report.dangers) == ([], [])


def test_an_rng_state_for_each_rank_is_counted_and_a_gap_is_told(made):
    folder = made("trainer", ranks=3)
    assert inspect(folder)["torch RNG"].detail == "3 states, of 3 ranks."
    (folder / "rng_state_1.pth").unlink()
    report = inspect(folder)
    assert report.faults == ["RNG states of ranks are missing: 1"]
    assert report.status == 1


def test_tied_weights_are_two_tensors_whose_bytes_count_once(tmp_path):
    weight = torch.zeros(10, 4)
    torch.save({"embed.weight": weight, "head.weight": weight.view(10, 4)}, tmp_path / "tied.pt")
    found = inspect(tmp_path / "tied.pt")["parameters"]
    assert (found.tensors, found.bytes) == (2, 160)


def test_an_average_of_the_weights_is_not_taken_for_the_weights(trained, tmp_path):
    state = trained.model.state_dict()
    torch.save({"model": state, "ema": {"shadow": dict(state), "decay": 0.99}}, tmp_path / "ema.pt")
    report = inspect(tmp_path / "ema.pt")
    assert report["EMA"].tensors == report["parameters"].tensors + report["buffers"].tensors


@pytest.mark.parametrize(
    ("optimizer", "status", "detail"),
    [
        (torch.optim.AdamW, "missing", "An optimizer's settings are here, its state is empty."),
        (torch.optim.SGD, "cannot be told", "The optimizer's state is empty. Plain SGD keeps none."),
    ],
)
def test_an_empty_optimizer_is_a_gap_where_it_should_remember(trained, tmp_path, optimizer, status, detail):
    fresh = optimizer(trained.model.parameters(), lr=0.1)
    torch.save({"optimizer": fresh.state_dict()}, tmp_path / "fresh.pt")
    finding = inspect(tmp_path / "fresh.pt")["moments"]
    assert (finding.status, finding.detail) == (status, detail)


def test_settings_that_speak_of_loaders_and_schedules_are_no_positions(tmp_path):
    args = {"dataloader_num_workers": 4, "lr_scheduler_type": "cosine", "sampler": "random"}
    torch.save({"args": args, "config": {"loader": "fast"}}, tmp_path / "settings.pt")
    report = inspect(tmp_path / "settings.pt")
    assert report["loader"].status == report["position"].status == "missing"


class Arguments:
    """Stands for Trainer's TrainingArguments, an object in a file of its own."""

    def __init__(self):
        self.dataloader_num_workers, self.dataloader_drop_last = 4, False
        self.lr_scheduler_kwargs = {"num_cycles": 2}


def test_an_objects_settings_are_no_positions_either(made):
    folder = made("trainer")
    (folder / "scheduler.pt").unlink()
    torch.save(Arguments(), folder / "training_args.bin")
    report = inspect(folder)
    assert report["loader"].status == report["position"].status == "cannot be told"
    assert report.classes == [f"{__name__}.Arguments"]


def test_shared_sizes_stand_in_the_report_as_data(made):
    report = inspect(made("trainer"))
    data = json.loads(json.dumps(report.as_data()))
    assert data["status"] == 0
    assert {file["name"] for file in data["files"]} >= {"model.safetensors", "optimizer.pt"}
    assert data["bytes"] == sum(file["bytes"] for file in data["files"])


def test_torch_is_not_imported(made):
    path = made("both")
    code = (
        "import sys; from lastgood.recovery.inspect import inspect; inspect(sys.argv[1]);"
        "assert not {'torch', 'numpy', 'safetensors'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, timeout=60)


def test_what_is_no_checkpoint_is_said_to_be_none(tmp_path):
    with pytest.raises(InspectError, match="an empty folder"):
        inspect(tmp_path)


def test_numpys_state_is_known_as_numbers_alone(tmp_path):
    _, keys, position, has_gauss, cached = np.random.RandomState(1).get_state()
    torch.save({"rng": [keys.tolist(), position, has_gauss, cached]}, tmp_path / "numbers.pt")
    assert inspect(tmp_path / "numbers.pt")["NumPy RNG"].where == ["numbers.pt:rng"]


def test_momentum_needs_no_count_of_steps(tmp_path):
    model = torch.nn.Linear(2, 2)
    sgd = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model(torch.ones(1, 2)).sum().backward()
    sgd.step()
    torch.save({"model": model.state_dict(), "optimizer": sgd.state_dict()}, tmp_path / "sgd.pt")
    report = inspect(tmp_path / "sgd.pt")
    assert report["moments"].detail == "momentum_buffer of 2 of 2 parameters."
    assert report["counts"].status == "cannot be told"


def test_a_scripts_own_count_of_its_data_is_where_the_loader_stands(trained, tmp_path):
    torch.save({"model": trained.model.state_dict(), "epoch": 1, "samples_seen": 64}, tmp_path / "own.pt")
    finding = inspect(tmp_path / "own.pt")["loader"]
    assert (finding.status, finding.detail) == ("held", "samples_seen 64.")


def test_of_several_whole_checkpoints_in_a_folder_the_last_one_is_described(trained, tmp_path):
    for number, name in enumerate(("step2.pt", "best.pt", "step3.pt")):
        state = {"model": trained.model.state_dict(), "optimizer": trained.optimizer.state_dict()}
        torch.save({**state, "step": number}, tmp_path / name)
        os.utime(tmp_path / name, (0, number))
    report = inspect(tmp_path)
    assert report["step"].where == ["step3.pt:step"]
    assert report["parameters"].tensors == len(list(trained.model.parameters()))
    assert report.notes[0].startswith("3 files each hold a model and its optimizer; this is step3.pt")
