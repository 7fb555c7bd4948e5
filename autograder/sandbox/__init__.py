"""A learner's notebook runs in a kernel behind walls: bubblewrap, a control group, a small disk in memory.

`nbgrader autograde`, the Formgrader's button and our own commands all run `execute.SandboxedExecute` where
nbgrader has `Execute` (`nbgrader_config.py` says so). In reading order:

    settings   the limits, as traits that nbgrader_config.py sets
    visible    what of this machine can be read from inside
    command    the command line of bubblewrap, and how it is started
    boot       the first lines that run inside: copies the submission, then becomes a kernel
    groups     the control group that holds memory and number of processes
    sockets    a kernel's sockets, held open from outside
    kernel     starts a kernel, watches its limits, kills it
    holder     walls that stand before anything runs behind them
    warm       servers of which a kernel is a fork, for who grades a class
    fork       such a kernel, seen from outside
    forked     the same from inside: it comes to look newly started
    preload    what the server for labs has imported
    manager    that kernel's manager and client, as nbclient uses them
    output     how much a cell has put out
    endings    why a notebook was stopped, in words for its author
    execute    the preprocessor that runs the cells; the judge will stand in its place
    ready      whether the walls can be had on this machine, and what to do where not
    probes     what tries to cross a wall, from inside
    doctor     has them tried, and says which walls held
"""
