"""Grades a notebook without believing a word of it.

A graded cell holds one call, `check.causal_mask(causal_mask)`, and a check is a pair. Its first half
measures, in the notebook's kernel, which is behind walls and belongs to the learner. Its second half judges
what was measured, here, in a process that never runs a line of the learner's. So whoever lies in the kernel
can only answer, rightly or wrongly.

    calls    what a graded cell asks for, read from the instructor's own text
    execute  the preprocessor: runs a notebook, sends checks to the kernel and answers to the judge
    court    asks the judge's process, and stops it when it takes too long
    warm     for who grades a class: one court for many notebooks, and warm kernels
    bench    the judge's process: draws, has functions tried out, judges
    walls    where functions are killed and resumed: each process behind walls of its own
"""
