"""What frameworks save and bring back by default, found by killing and resuming: `make frameworks`.

    runs     a small run on each, with the five functions that `lastgood audit` asks for
    results  what the audits found, with versions and date (results.json)
    table    the table of lesson 18, made from it

The runs are examples of what a user writes for their own code, too.
"""
