"""The command line as a process: pipes, signals, terminals."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

COMMAND = (sys.executable, "-m", "datalog")
PATIENCE = 120  # seconds; a first run may compile kernels


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "p.dl"
    path.write_text(".decl n(x: number)\n.decl m(x: number)\n.output m\nm(x + 1) :- n(x).\n")
    return path


def start(*arguments: str | Path, cwd: Path | None = None) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
        bufsize=1,
        cwd=cwd,
        encoding="utf-8",
        preexec_fn=heed_interrupts,
    )


def heed_interrupts() -> None:
    """A shell's background jobs ignore interrupts, and so would what is started from one."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def lines_until_commit(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if line == "commit.\n":
            break
    return lines


def on_a_terminal(*arguments: str | Path, cwd: Path) -> tuple[int, str]:
    """Run with standard output and error on a terminal of 80 columns; the status and what the terminal was told."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "dumb", "COLUMNS": "80", "NO_COLOR": "1"}
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, cwd=cwd, env=environment
    )
    os.close(theirs)
    told = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        told += part
    os.close(ours)
    return process.wait(PATIENCE), told.decode().replace("\r\n", "\n")


def test_a_transaction_is_answered_before_the_stream_goes_on(program: Path) -> None:
    with start("run", program, "--stream", "-", "--quiet") as process:
        assert process.stdin
        assert lines_until_commit(process) == ["commit."]
        process.stdin.write("+n(1). +n(2).\ncommit.\n")
        process.stdin.flush()
        assert lines_until_commit(process) == ["+m(2).", "+m(3).", "commit."]
        process.stdin.write("-n(1).\ncommit.\n")
        process.stdin.flush()
        assert lines_until_commit(process) == ["-m(2).", "commit."]
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


def test_an_interrupt_ends_an_evaluation_with_status_130(tmp_path: Path) -> None:
    program = tmp_path / "p.dl"
    program.write_text(
        ".decl n(x: number)\n.decl never(x: number)\n.output never\nnever(a) :- n(a), n(b), n(c), n(d), n(e), a * b * c * d * e = -1.\n"
    )
    with start("run", program, "--stream", "-", "--quiet", "-D", tmp_path / "out") as process:
        assert process.stdin
        assert process.stderr
        assert lines_until_commit(process) == ["commit."]
        process.stdin.write("".join(f"+n({x}).\n" for x in range(1000)) + "commit.\n")
        process.stdin.flush()
        timer = threading.Timer(1.0, process.send_signal, [signal.SIGINT])
        timer.start()
        assert process.wait(PATIENCE) == 130
        assert process.stderr.read() == "interrupted\n"
    assert not (tmp_path / "out").exists()


def test_a_reader_that_leaves_is_no_error(program: Path) -> None:
    program.write_text(".output pair\nn(0).\nn(x + 1) :- n(x), x < 299.\npair(x, y) :- n(x), n(y).\n")
    with start("run", program, "--quiet") as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == "pair (90000 rows)\n"
        process.stdout.close()
        assert process.wait(PATIENCE) == 141
        assert process.stderr.read() == ""


def test_a_terminal_gets_a_drawn_table_and_a_summary(program: Path, tmp_path: Path) -> None:
    program.write_text(program.read_text() + "n(1). n(20).\n")
    status, told = on_a_terminal("run", program, cwd=tmp_path)
    assert status == 0
    assert "m (2 rows)" in told
    assert "─" in told
    assert "21" in told
    assert "2 rows, " in told.splitlines()[-1]
    assert "iterator steps" in told.splitlines()[-1]
    assert "iterator steps" not in on_a_terminal("run", program, "--quiet", cwd=tmp_path)[1]


def test_a_long_table_is_cut_on_a_terminal_and_says_so(program: Path, tmp_path: Path) -> None:
    program.write_text(program.read_text() + "n(0).\nn(x + 1) :- n(x), x < 999.\n")
    _, told = on_a_terminal("run", program, "--quiet", cwd=tmp_path)
    assert "… 900 more rows (use -D to write all)" in told
    assert len(told.splitlines()) < 110


def test_a_script_for_the_repl_comes_through_a_pipe() -> None:
    done = subprocess.run(
        [*COMMAND, "repl"], input="e(1, 2).\n?- e(x, y).\n", capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0
    assert done.stdout == "// e (1 row)\n1 row\nx  y\n-  -\n1  2\n"


def test_what_is_written_is_utf_8_in_any_locale(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text('.decl p(s: symbol)\n.output p\np("größe").\n', encoding="utf-8")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([*COMMAND, "run", "p.dl"], capture_output=True, cwd=tmp_path, env=environment, timeout=PATIENCE, check=False)
    assert done.stdout.decode("utf-8") == "p (1 row)\ns\n-----\ngröße\n"
