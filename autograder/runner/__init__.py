"""Grades a class: some submissions at once, each in one transaction, and on from where a killed run stopped.

Workers run nbgrader's converter on a private gradebook in a private folder, and give back plain data. They
may stand anywhere that an Executor reaches: processes of this machine, a Dask cluster. One writer records
what they give back, so the class's gradebook and folders are never half-written.

    parcel    what was handed in, as plain data
    job       what goes to a worker, and what comes back
    blank     the private gradebook: the lab, and nobody's grades
    private   the same, opened quickly
    work      a worker's part
    ledger    what was graded from which files, and what was being recorded
    call      how a worker is called
    release   a name for the lab and the checks that workers must have
    record    the writer's part: a transaction and two renames
    scratch   where workers keep what is of no use after them
    places    where workers are: here, or in a cluster
    run       the class, from first to last
    screen    the progress bar, and the sum at the end
"""
