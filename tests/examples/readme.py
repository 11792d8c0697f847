"""The commands of a README and the output that it promises: an `sh` fence, and the `text` fence after it."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

FENCES = re.compile(r"^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """One fence with commands, which run in the README's folder."""

    commands: str
    output: str

    @property
    def needs_data(self) -> bool:
        return "$DATALOG_DATA" in self.commands

    def check(self, folder: Path, search_path: str) -> None:
        """Run the commands: they must succeed, and print what the README says."""
        environment = os.environ | {"PATH": search_path, "LC_ALL": "C"}
        done = subprocess.run(["sh", "-ec", self.commands], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
        said = f"{self.commands}{done.stderr}"  # a command that fails within a pipe is seen by what it did not print
        assert done.returncode == 0, said
        assert done.stdout == self.output, said


def blocks_of(readme: Path) -> list[Block]:
    return [Block(match[1], match[2] or "") for match in FENCES.finditer(readme.read_text(encoding="utf-8"))]
