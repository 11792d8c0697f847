"""Components of graphs, against reachability."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from datalog.analysis.components import components


def test_components_come_after_what_they_point_to() -> None:
    graph = {"a": ["b"], "b": ["c", "b"], "c": ["b", "d"], "d": []}
    assert components("abcd", graph) == [("d",), ("b", "c"), ("a",)]


def test_a_long_chain_needs_no_deep_stack() -> None:
    names = [str(number) for number in range(50_000)]
    assert len(components(names, {name: [after] for name, after in pairwise(names)})) == 50_000


def test_successors_that_are_no_nodes_are_ignored() -> None:
    assert components("a", {"a": ["given"]}) == [("a",)]


@given(st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")), max_size=20))
def test_two_nodes_share_a_component_iff_each_reaches_the_other(edges: list[tuple[str, str]]) -> None:
    graph: dict[str, list[str]] = {}
    for start, end in edges:
        graph.setdefault(start, []).append(end)
    reached = {node: {node} for node in "abcdefg"}
    for _ in range(7):
        for start, end in edges:
            reached[start] |= reached[end]
    found = components("abcdefg", graph)
    assert sorted(node for group in found for node in group) == list("abcdefg")
    place = {node: at for at, group in enumerate(found) for node in group}
    for one in "abcdefg":
        for other in "abcdefg":
            assert (place[one] == place[other]) == (other in reached[one] and one in reached[other])
            assert other not in reached[one] or place[other] <= place[one]
