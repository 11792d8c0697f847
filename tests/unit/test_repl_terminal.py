"""The REPL on a terminal: keys, history, completion, interrupts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput
from pygments.token import Comment, Error, Keyword, Name, String

from datalog.highlight import DatalogLexer
from datalog.prompt import Names, history, talk
from datalog.repl import Session

ENTER, CONTROL_C, CONTROL_D, UP = "\r", "\x03", "\x04", "\x1b[A"


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PipeInput]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


@pytest.fixture
def session() -> Session:
    session = Session(None, Path())
    assert session.execute("edge(1, 2). edge(2, 3). path(x, y) :- edge(x, y).")
    return session


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """What was printed below the greeting and the session's preparation."""
    return capsys.readouterr().out.partition("leaves\n")[2]


def test_enter_hands_over_what_is_complete_and_else_goes_to_a_new_line(
    keys: PipeInput, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    keys.send_text(f"?- path(x,{ENTER}y).{ENTER}{CONTROL_D}")
    assert talk(session) == 0
    assert said(capsys) == "2 rows\nx  y\n-  -\n1  2\n2  3\n"


def test_an_empty_line_hands_over_what_is_not_complete(keys: PipeInput, session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    keys.send_text(f"path(x{ENTER}{ENTER}:quit{ENTER}")
    assert talk(session) == 0
    assert capsys.readouterr().err.startswith("<input>:1:7: error: ")


def test_control_c_drops_what_is_typed(keys: PipeInput, session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    keys.send_text(f"edge(8, 8). nonsense{CONTROL_C}?- edge(8, x).{ENTER}{CONTROL_D}")
    assert talk(session) == 0
    assert said(capsys) == "0 rows\n"


def test_control_c_ends_an_evaluation_and_not_the_session(
    keys: PipeInput, session: Session, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(session.database, "query_with_names", interrupted)
    keys.send_text(f"?- edge(x, y).{ENTER}:rules{ENTER}{CONTROL_D}")
    assert talk(session) == 0
    assert said(capsys) == "interrupted; nothing of this has changed anything\npath(x, y) :- edge(x, y).\n"


def test_history_outlives_the_session(keys: PipeInput, session: Session, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    keys.send_text(f"?- edge(x, 3).{ENTER}{CONTROL_D}")
    talk(session)
    capsys.readouterr()
    keys.send_text(f"{UP}{ENTER}{CONTROL_D}")
    talk(session)
    assert said(capsys) == "1 row\nx\n-\n2\n"
    assert (tmp_path / "leapfrog-datalog" / "history").is_file()


def test_history_that_cannot_be_kept_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert isinstance(history(), InMemoryHistory)


def test_names_of_predicates_and_commands_are_completed(session: Session) -> None:
    def completed(text: str) -> list[str]:
        return [one.text for one in Names(session).get_completions(Document(text), CompleteEvent())]

    assert completed("?- edge(x, y), pa") == ["path"]
    assert completed(":l") == [":list", ":load"]
    assert completed("?- ") == []
    assert session.execute("parents(1).")
    assert completed("?- pa") == ["parents", "path"]


def test_words_have_their_colours() -> None:
    text = '.decl p(x: number) /* a */\np("s. //", 1) :- !q(_), x <= 0xff. commit.\n:list\n'
    tokens = list(DatalogLexer().get_tokens(text))
    assert not [text for kind, text in tokens if kind in Error]
    assert (Keyword.Declaration, ".decl") in tokens
    assert (Name.Function, "p") in tokens
    assert (String, '"s. //"') in tokens
    assert (Keyword, "commit") in tokens
    assert (Keyword.Namespace, ":list") in tokens
    assert any(kind in Comment for kind, _ in tokens)
