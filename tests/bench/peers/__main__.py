"""`python -m tests.bench.peers ENGINE WORKLOAD FOLDER THREADS SECONDS`: one engine at one workload, in this process; figures as JSON.

ENGINE alone prints its version.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
from pathlib import Path
from time import perf_counter, process_time

from tests.bench.peers.changes import CHECKPOINTS, read_changes
from tests.bench.peers.engine import Engine, Task
from tests.bench.peers.engines import engine_class, open_engine
from tests.bench.peers.workloads import WORKLOADS


def main(arguments: list[str]) -> None:
    """Print the figures as one line, the last."""
    if len(arguments) == 1:
        print(engine_class(arguments[0]).version())
        return
    name, workload, place, threads, limit = arguments
    task = Task(next(one for one in WORKLOADS if one.name == workload), Path(place), int(threads))
    engine = open_engine(name, task)
    if task.workload.measure != "wall":
        engine.warm_up()
    start, cpu = perf_counter(), process_time()
    load, evaluation = engine.run()
    figures: dict[str, object] = {"load": load, "evaluation": evaluation, "total": perf_counter() - start, "cpu": process_time() - cpu}
    if task.workload.changes:
        figures |= _stream(engine, float(limit))
    figures |= {"answer": engine.answer(), "peak": peak_bytes(), "compiling": getattr(engine, "compiling", None)}
    engine.close()
    print(json.dumps(figures), flush=True)


def _stream(engine: Engine, limit: float) -> dict[str, object]:
    """Apply transactions, up to the last place where the answer is known that a given number of seconds seems to reach."""
    only_inserts = engine.follows == "inserts only"
    transactions = read_changes(engine.place, only_inserts)
    if not transactions:
        sys.exit("it takes nothing back, and every transaction does")
    places = [*(place for place in CHECKPOINTS if place < len(transactions)), len(transactions)]
    engine.prepare_changes()
    took: list[float] = []
    changed: list[int | None] = []
    for place in places:
        if took and sum(took) / len(took) * place > limit:
            break
        for changes in transactions[len(took) : place]:
            start = perf_counter()
            rows = engine.apply(changes)
            took.append(perf_counter() - start)
            changed.append(rows)
    known = [rows for rows in changed if rows is not None]
    return {
        "transactions": len(took),
        "spent": sum(took),
        "median": statistics.median(took),
        "p99": sorted(took)[-(-99 * len(took) // 100) - 1],
        "changed": sum(known) if len(known) == len(took) else None,
        "given": sum(map(len, transactions[: len(took)])),
        "follows": engine.follows,
    }


def peak_bytes() -> int:
    """The most memory that this process, or one that it waited for, has had."""
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage gives there includes the process that started this one
        own = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    else:
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return 1024 * max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


if __name__ == "__main__":
    main(sys.argv[1:])
