"""What the loop's check gives in place of earlier answers, so that one mistake costs one exercise."""

from lastgood.recovery.job.answers import last_good, no_progress, what_happened

__all__ = ["last_good", "no_progress", "what_happened"]
