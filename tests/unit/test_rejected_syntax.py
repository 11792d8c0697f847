"""Each program under `tests/rejected/syntax` is refused with exactly the messages that stand beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from datalog.errors import ProgramError
from datalog.syntax import parse

FOLDER = Path(__file__).parents[1] / "rejected" / "syntax"


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.dl")))
def test_a_malformed_program_is_refused_with_its_messages(name: str) -> None:
    text = (FOLDER / f"{name}.dl").read_text(encoding="utf-8")
    with pytest.raises(ProgramError) as caught:
        parse(text, f"{name}.dl")
    assert f"{caught.value}\n" == (FOLDER / f"{name}.err").read_text(encoding="utf-8")


def test_programs_and_messages_stand_in_pairs() -> None:
    programs, messages = ({path.stem for path in FOLDER.glob(pattern)} for pattern in ("*.dl", "*.err"))
    assert programs == messages
    assert len(programs) >= 12
