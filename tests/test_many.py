from __future__ import annotations

from types import MappingProxyType

import pytest

from advisor.many import each


def square(number: int) -> int:
    return number * number


def viewed(number: int) -> MappingProxyType[str, int]:
    return MappingProxyType({"number": number})


@pytest.mark.parametrize("processes", [None, 1, 2, 3])
def test_order_and_results_are_the_same_for_any_number_of_processes(processes: int | None) -> None:
    assert list(each(square, range(500), processes)) == [n * n for n in range(500)]


def test_read_only_views_come_back_from_other_processes() -> None:
    assert [dict(one) for one in each(viewed, range(3), 2)] == [{"number": n} for n in range(3)]


def test_an_error_in_another_process_comes_back() -> None:
    with pytest.raises(ZeroDivisionError):
        list(each(divided, [1, 0], 2))


def divided(number: int) -> float:
    return 1 / number
