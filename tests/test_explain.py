from __future__ import annotations

import re

import pytest

from advisor import Deployment, predict
from advisor.deployment import find_device
from advisor.explain import LEVER_EXAMPLES, UnknownSubjectError, contents, explain, find_page, terms
from advisor.levers import LEVERS
from advisor.problems import PROBLEMS
from advisor.reports.style import Style, columns
from advisor.rulebook import entries
from advisor.suppress import SUPPRESSION_PROBLEMS

STYLE = Style(width=80)


@pytest.mark.parametrize("code", [*entries(), *PROBLEMS, *SUPPRESSION_PROBLEMS])
def test_every_code_has_a_page(code: str) -> None:
    assert explain(code.lower(), STYLE).startswith(code)


@pytest.mark.parametrize("kind", LEVERS)
def test_every_kind_of_lever_has_a_page_with_its_example(kind: str) -> None:
    page = explain(kind, STYLE)
    assert page.startswith(f"{kind}\n")
    assert LEVER_EXAMPLES[kind] in page
    for machine_kind in LEVERS[kind].machine_kinds:
        found = find_page(machine_kind).title
        assert machine_kind in LEVERS[found].machine_kinds


def test_every_term_and_each_of_its_other_names_has_a_page() -> None:
    assert len(terms()) > 20
    for term in terms():
        for name in (term.name, *term.also):
            assert find_page(name.upper()).title == term.name
        assert len(term.markdown) > 60


def test_terms_point_to_terms() -> None:
    for term in terms():
        for line in re.findall(r"^See: (.*)\.$", term.markdown, re.MULTILINE):
            for name in line.split(", "):
                find_page(name)


@pytest.mark.parametrize(
    ("text", "nearest"),
    [("FLP02", "FLP002"), ("quantise", "quantize"), ("ruflain", None), ("ridge pont", "ridge")],
)
def test_an_unknown_subject_names_the_nearest(text: str, nearest: str | None) -> None:
    with pytest.raises(UnknownSubjectError) as caught:
        explain(text, STYLE)
    assert (nearest is None) or nearest in caught.value.nearest


def test_pages_are_plain_text_that_fits() -> None:
    page = explain("FLP002", STYLE)
    assert "##" not in page
    assert "```" not in page
    headings = ["What it does", "Why is this bad", "Instead", "When this rule is wrong"]
    assert [line for line in page.splitlines() if line in headings] == headings
    assert max(map(columns, page.splitlines())) <= 80
    assert "\x1b[1mWhat it does\x1b[0m" in explain("FLP002", Style(colour=True))


def test_contents_list_every_page() -> None:
    told = contents(STYLE)
    for name in (*entries(), *PROBLEMS, *LEVERS):
        assert re.search(rf"^  {name} ", told, re.MULTILINE), name
    assert all(term.name in " ".join(told.split()) for term in terms())


# Figures that pages state, against the catalog and the model they explain.


def test_ridges_in_the_page_are_those_of_the_devices() -> None:
    page = find_page("ridge").markdown
    for name in ("H100 SXM", "A100 80GB SXM", "H20"):
        _, known = find_device(name)
        ridge, peak = known.ridge("bf16"), known.peak_flops("bf16")
        assert ridge is not None
        assert peak is not None
        row = rf"{peak / 1e12:.0f} TFLOPS / {known.bandwidth_gbs:,.0f} GB/s = +{ridge:.0f} FLOP/B"
        assert re.search(row, page), row


def test_figures_of_the_8b_in_the_pages_are_those_of_the_ledger() -> None:
    estimate = predict(Deployment("Llama-3.1-8B", "H100 SXM", context=4096))
    weights, kv = estimate.bytes.weights / 1e9, estimate.bytes.kv_read / 1e9
    floor = find_page("floor").markdown
    assert f"{weights:.1f} GB of\nweights and {kv:.2f} GB of KV cache" in floor
    assert f"{weights + kv:.1f} GB / 3,350 GB/s = {estimate.floor_ms:.1f} ms" in floor
    crossover = find_page("crossover batch").markdown
    assert f"bf16 {estimate.crossover_batch:.0f} " in crossover
    int4 = predict(Deployment("Llama-3.1-8B", "H100 SXM", weights="int4-g128"))
    assert f"int4-g128 with 16-bit math {int4.crossover_batch:.0f}\n" in crossover


def test_figures_of_mixtral_in_the_pages_are_those_of_the_ledger() -> None:
    one, eight = (
        predict(Deployment("Mixtral-8x7B", batch=batch)).bytes.weights / 1e9 for batch in (1, 8)
    )
    page = find_page("streamed bytes").markdown
    assert f"streams {one:.1f} at batch 1, {eight:.0f} at batch 8" in page
