"""Why a fact holds, and why one does not.

`explain` finds a proof tree. It is acyclic by construction: in a recursive stratum, premises are taken only among rows with
smaller stamps (METHOD.md, section 6), and every row has a derivation from such premises. `why_not` tries each rule that
could derive the fact, and finds the first literal that fails.

Both read the committed version and change nothing: what a search needs besides is built in a transaction that is aborted.
"""

from __future__ import annotations

from datalog.explain.absence import Attempt, Condition, WhyNot
from datalog.explain.proof import Proof
from datalog.explain.search import explain
from datalog.explain.why_not import why_not

__all__ = ["Attempt", "Condition", "Proof", "WhyNot", "explain", "why_not"]
