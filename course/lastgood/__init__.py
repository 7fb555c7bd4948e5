"""Lastgood: the last good checkpoint, and how a training run gets back to it."""
