"""The step that a text is about, by its own figures: what a token reads, and how long that takes.

Most rules of prose tell what holds for every model and device. Where the text names a model and a
device, a finding shows what that is for these: bytes over bandwidth beside arithmetic over peak.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from advisor.wording import milliseconds, size

if TYPE_CHECKING:
    from advisor.prose.frame import Frame

_USUAL_BITS: Final = 16.0


def step_told(frame: Frame) -> tuple[tuple[str, str], ...]:
    """A fact about one token of one sequence; none where the text names no model or no device.

    Reading takes parameters x bits / 8 over the bandwidth of all devices, arithmetic 2 FLOP for
    each parameter over their dense peak in 16 bits.
    """
    count = frame.active_parameters or frame.parameters
    if count is None or frame.hardware is None or (frame.batch or 1) > 1:
        return ()
    from advisor.catalog.hardware import device  # noqa: PLC0415 - only documents pay for it
    from advisor.said import Floor, bandwidth_of  # noqa: PLC0415 - only documents pay for it

    bandwidth = bandwidth_of(frame)
    peak_flops = device(frame.hardware).peak_flops("bf16")
    if not bandwidth or not peak_flops:
        return ()
    bits = frame.weight_bits or _USUAL_BITS
    read_bytes = count * bits / 8.0
    read_ms = Floor(read_bytes, 0.0, bandwidth).ms
    arithmetic_ms = 2.0 * count / (peak_flops * (frame.devices or 1)) * 1e3
    assumed = "" if frame.weight_bits else " (assumed)"
    told = (
        f"a token reads {size(read_bytes)} of weights in {bits:g} bits{assumed}, which takes"
        f" {milliseconds(read_ms)} ms at {bandwidth:,.0f} GB/s; its arithmetic takes"
        f" {milliseconds(arithmetic_ms)} ms"
    )
    return (("here", told),)
