"""What a program, by a pragma, and whoever runs it, by a setting, may choose of the language; the setting wins."""

from __future__ import annotations

WORDS = {"dialect": ("any", "souffle"), "overflow": ("error", "wrap")}
