"""One accelerator or machine: what the roofline needs of it, in its vendor's own figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# A format that a device does not multiply is widened first. Values of the narrower format are
# exact in each of the wider ones named here (fp4 E2M1 in fp8 E4M3, int4 in int8).
_WIDER: Mapping[str, tuple[str, ...]] = {
    "fp32": (),
    "tf32": ("fp32",),
    "fp16": ("bf16", "fp32"),
    "bf16": ("fp16", "fp32"),
    "int8": ("fp16", "bf16", "fp32"),
    "fp8": ("fp16", "bf16", "fp32"),
    "int4": ("int8", "fp16", "bf16", "fp32"),
    "fp4": ("fp8", "fp16", "bf16", "fp32"),
}
_USABLE_SHARE = 0.98
_USABLE_SHARE_INLINE_ECC = 0.93
_WIDE_SOC_GBS = 200.0
"""An SoC above this has a 256-bit bus: a class of its own beside 128-bit ones (at most 137)."""


@dataclass(frozen=True, slots=True, eq=False)
class Device:
    """An accelerator, SoC, CPU socket or wafer. Figures are per `unit`; TFLOPS are dense.

    The fields are those of hardware.yaml, whose header says what each means and how it was
    checked. None is unknown or disputed, never zero.
    """

    id: str
    name: str
    aliases: tuple[str, ...]
    vendor: str
    kind: str
    """gpu, soc (memory shared with the CPU), cpu, tpu, asic, sram (weights live on the chip)."""
    architecture: str
    compute_capability: str | None
    released: str
    """Year and month, "2022-03"."""
    memory_type: str
    memory_gb: float
    """The vendor's label: binary for DRAM, see `memory_bytes`."""
    bandwidth_gbs: float
    tflops_dense: Mapping[str, float | None]
    """By format: fp32 tf32 fp16 bf16 fp8 int8 fp4, and int4 where it is printed."""
    sparse_24_tensor_cores: bool | None
    llc_mb: float | None
    interconnect_gbs: float | None
    """Both directions together, as vendors print it."""
    host_link_gbs: float | None
    """One direction."""
    tdp_w: float | None
    unit: str
    confidence: str
    """high: seen or recomputed; medium: recalled; low: preliminary or conflicting."""
    preliminary: bool
    source: tuple[str, ...]
    """Keys of the table of sources."""
    notes: str
    inline_ecc: bool = False
    """ECC bits take 1/16 of the same memory (GDDR6 server cards)."""
    interconnect_one_way_gbs: float | None = None
    """One direction; half of `interconnect_gbs` unless the vendor prints it otherwise."""
    halved_from_sparse: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    checked_fields: tuple[str, ...] = field(default=())

    @property
    def year(self) -> int:
        """Year of release."""
        return int(self.released[:4])

    @property
    def memory_bytes(self) -> int:
        """Capacity in bytes: DRAM labels are binary (80 GB is 80 * 2^30), SRAM is decimal."""
        scale = 10**9 if self.kind == "sram" else 2**30
        return round(self.memory_gb * scale)

    @property
    def usable_memory_bytes(self) -> int:
        """Capacity to plan with: drivers keep up to 2 %, inline ECC 1/16 more."""
        if self.kind == "sram":
            return self.memory_bytes
        share = _USABLE_SHARE_INLINE_ECC if self.inline_ecc else _USABLE_SHARE
        return round(self.memory_bytes * share)

    def peak_flops(self, dtype: str) -> float | None:
        """Dense peak in FLOP/s of matrix math on `dtype` operands, None where none is known.

        A format that the device lacks runs in the fastest wider one it has: bf16 as fp16 on a
        V100, fp8 as 16-bit on an A100, int4 as int8 on an H100, everything in fp32 on a Pascal
        GeForce. This is the format of the multiplication: int4 weights with 16-bit activations
        multiply in fp16 or bf16, whatever the device has for int4.
        """
        figures = self.tflops_dense
        if (own := figures.get(dtype)) is not None:
            return own * 1e12
        wider = [peak for other in _WIDER[dtype] if (peak := figures.get(other)) is not None]
        return max(wider) * 1e12 if wider else None

    def ridge(self, dtype: str) -> float | None:
        """FLOP per byte at which the peak of `dtype` and the memory bandwidth take equal time."""
        peak = self.peak_flops(dtype)
        return None if peak is None else peak / (self.bandwidth_gbs * 1e9)

    @property
    def halves_wide_accumulation(self) -> bool:
        """Whether accumulating in FP32 halves its FP16 rate (GeForce), the one given here.

        Multipliers of one size do INT8 at twice the FP16 rate; four times means a halved one.
        """
        fp16, int8 = self.tflops_dense.get("fp16"), self.tflops_dense.get("int8")
        return fp16 is not None and int8 is not None and int8 > 3.5 * fp16

    @property
    def generation(self) -> str:
        """The architecture without chip or CPU: "ampere", "hopper", "cdna 3", "m2"."""
        words = self.architecture.split(" (")[0].split(" + ")[0].split(" / ")[0]
        return words.lower()

    @property
    def hardware_class(self) -> str:
        """The group of devices that measured efficiencies are pooled over.

        Vendor and kind of memory decide how close a decode kernel comes to the bus: nvidia-hbm,
        nvidia-gddr, amd-hbm, amd-gddr, intel-hbm, intel-gddr; SoCs by vendor and width of the
        bus: jetson, nvidia-soc, apple-base, apple-pro-max, apple-ultra, strix-halo, amd-soc,
        intel-soc, qualcomm-soc; and cpu, tpu, asic, sram.
        """
        vendor = self.vendor.lower()
        if self.kind == "gpu":
            return f"{vendor}-{'hbm' if self.memory_type.startswith('HBM') else 'gddr'}"
        if self.kind != "soc":
            return self.kind
        if vendor == "apple":
            words = self.name.split()
            wide = "ultra" if "Ultra" in words else "pro-max" if {"Pro", "Max"} & {*words} else ""
            return f"apple-{wide or 'base'}"
        if vendor == "nvidia" and self.name.startswith("Jetson"):
            return "jetson"
        if vendor == "amd" and self.bandwidth_gbs > _WIDE_SOC_GBS:
            return "strix-halo"
        return f"{vendor}-soc"
