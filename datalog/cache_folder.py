"""The folder that keeps, between runs, what takes long to make: compiled kernels, tables of the parser. It may be deleted."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path


def cache_folder() -> Path:
    """NUMBA_CACHE_DIR if set, else the user's cache, else a private directory among the temporary files; it can be written."""
    home = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(home) / "leapfrog-datalog")
    return folder if _can_be_ours(folder) else _temporary()


@cache
def _temporary() -> Path:
    import tempfile

    owner = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"leapfrog-datalog-{owner}"
    # What lies in the folder is executed: among the temporary files it must be our own.
    if _can_be_ours(folder) and folder.stat().st_uid == owner:
        return folder
    return Path(tempfile.mkdtemp(prefix="leapfrog-datalog-"))


def _can_be_ours(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.access(folder, os.W_OK)
    except OSError:
        return False
