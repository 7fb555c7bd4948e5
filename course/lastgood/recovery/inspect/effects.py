"""What a resume does without a component, in a sentence, and the lesson that teaches it."""

from __future__ import annotations

LESSONS = {
    "08": "course/lessons/08_what_the_optimizer_remembers.ipynb",
    "17": "course/lessons/17_warm_up_decay_and_clipping.ipynb",
    "18": "course/lessons/18_what_a_checkpoint_has_to_hold.ipynb",
}
EFFECTS = {
    "parameters": ("The run is back at its random start, and the loss jumps up.", "18"),
    "moments": ("The optimizer starts cold: its first updates are not those of an unbroken run.", "08"),
    "counts": ("Adam's bias correction starts again, as if the moments were new.", "08"),
    "step": ("A schedule that follows the step starts its warm-up again.", "17"),
    "position": ("The schedule begins anew, with its warm-up and the rates of the run's start.", "17"),
    "loader": ("Some data is read twice, other data late or never.", "18"),
    "Python RNG": ("What draws from Python's random goes on with other numbers.", "18"),
    "NumPy RNG": ("What draws from NumPy goes on with other numbers.", "18"),
    "torch RNG": ("Dropout goes on with other numbers: a healthy run, but a different one.", "18"),
}
