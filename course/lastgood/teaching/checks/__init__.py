"""What each exercise of a lab is tested by: one module a lab, each holding an object called `check`."""

# MIME type of what `far` shows. It stands here so that whoever judges can read it without importing torch.
ANSWER = "application/vnd.lastgood.answer"
