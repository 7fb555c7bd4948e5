"""Does training code of any kind resume as if it had not been killed? Found by killing and resuming it.

    audit(module)   the one function; a Report, or an AuditError

In reading order:

    five        what an audit asks of training code: make, advance, save, resume, observe
    adapters    the same, ready for three frameworks
    observing   the components of a run, for `observe`
    loading     the user's module
    process     what runs it; `leaves`: an observation, as digests
    children    those processes, seen from outside
    auditing    which processes, and what is compared; `comparing`: where two observations part
    report      all of that, as data

Nothing is known of the code but its five functions: what should have come out is what an undisturbed run of
the same code gives, bit for bit.
"""

from lastgood.recovery.resuming.auditing import AFTER, BEFORE, PATIENCE, AuditError, audit
from lastgood.recovery.resuming.five import Five
from lastgood.recovery.resuming.report import BROKEN, KEPT, LOST, UNSTABLE, Finding, Report

__all__ = [
    "AFTER",
    "BEFORE",
    "BROKEN",
    "KEPT",
    "LOST",
    "PATIENCE",
    "UNSTABLE",
    "AuditError",
    "Finding",
    "Five",
    "Report",
    "audit",
]
