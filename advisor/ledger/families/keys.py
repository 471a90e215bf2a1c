"""One level of a config.json, read key by key: checked, bounded, and remembering what was used.

A reader asks for a *role* ("hidden", "kv_heads"); `SPELLINGS` lists the keys under which the
families write it. Missing, null, negative, absurd or wrongly typed values are refused with the
key's name, and so is a key nobody asked for whose name speaks of the model's structure: counting
on without it would be a guess.
"""

from __future__ import annotations

from collections.abc import Mapping

from advisor.ledger.families.spellings import (
    DEFAULT_LIMIT,
    HARMLESS,
    HARMLESS_KEYS,
    HARMLESS_STARTS,
    LIMITS,
    NOT_PARTS,
    SPELLINGS,
    STRUCTURAL,
)


class UnsupportedModelError(ValueError):
    """A config that cannot be counted: what is wrong, and under which key."""

    def __init__(self, model_type: str, reason: str, key: str | None = None) -> None:
        where = f" (config key {key!r})" if key else ""
        super().__init__(f"model_type {model_type!r}: {reason}{where}")
        self.model_type = model_type
        self.reason = reason
        self.key = key


class Keys:
    """Checked access to one level of a config."""

    __slots__ = ("_defaults", "_raw", "_used", "_where", "model_type")

    def __init__(
        self,
        raw: Mapping[str, object],
        model_type: str,
        *,
        defaults: Mapping[str, object] | None = None,
        where: str = "",
    ) -> None:
        """`defaults` are the family's own values, by role or key; `where` prefixes messages."""
        self._raw = raw
        self.model_type = model_type
        self._defaults = defaults or {}
        self._where = where
        self._used: set[str] = set()

    def error(self, reason: str, key: str | None = None) -> UnsupportedModelError:
        """The refusal, to be raised by the caller."""
        return UnsupportedModelError(self.model_type, reason, key and self._where + key)

    def _find(self, role: str) -> tuple[str, object]:
        """The key in use for a role and its value: given, else the family's default, else None."""
        names = SPELLINGS.get(role, (role,))
        found: tuple[str, object] | None = None
        for name in names:
            if name not in self._raw:
                continue
            self._used.add(name)
            value = self._raw[name]
            if value is None:
                continue
            if found is None:
                found = name, value
            elif found[1] != value and role != "positions":
                raise self.error(f"{found[0]} = {found[1]!r} contradicts {name} = {value!r}", name)
        if found is not None:
            return found
        spelled = (name for name in (role, *names) if name in self._defaults)
        default = next(spelled, None)
        return names[0], None if default is None else self._defaults[default]

    def has(self, role: str) -> bool:
        """Whether the config itself gives a value that is not null."""
        return any(self._raw.get(name) is not None for name in SPELLINGS.get(role, (role,)))

    def present(self, role: str) -> bool:
        """Whether the config mentions it at all, be it as null."""
        return any(name in self._raw for name in SPELLINGS.get(role, (role,)))

    def size(self, role: str, default: int | None = None, *, minimum: int = 1) -> int:
        """A whole number, required unless a default is known; refused outside its bounds."""
        value = self.optional_size(role, minimum=minimum)
        if value is not None:
            return value
        if default is not None:
            return default
        name = SPELLINGS.get(role, (role,))[0]
        state = "is null" if name in self._raw else "is missing"
        raise self.error(f"{name} {state}, and the count depends on it", name)

    def optional_size(self, role: str, *, minimum: int = 1) -> int | None:
        """A whole number, or None where the config gives none or null."""
        key, value = self._find(role)
        return None if value is None else self._whole(value, key, role, minimum)

    def uniform_size(self, role: str, default: int | None = None, *, minimum: int = 1) -> int:
        """A whole number that the config may repeat in a list, once a layer."""
        key, value = self._find(role)
        if isinstance(value, list | tuple) and len({repr(item) for item in value}) == 1:
            return self._whole(value[0], key, role, minimum)
        return self.size(role, default, minimum=minimum)

    def _whole(self, value: object, key: str, role: str, minimum: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(f"{key} must be a whole number, not {_shown(value)}", key)
        limit = LIMITS.get(role, DEFAULT_LIMIT)
        if not minimum <= value <= limit:
            raise self.error(f"{key} = {value} is outside {minimum}..{limit}", key)
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        """True or false; the default where the key is missing or null."""
        name, value = self._find(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.error(f"{name} must be true or false, not {_shown(value)}", name)
        return value

    def number(self, key: str, default: float) -> float:
        """A number that need not be whole (a ratio)."""
        name, value = self._find(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 2**24:
            raise self.error(f"{name} must be a positive number, not {_shown(value)}", name)
        return float(value)

    def word(self, key: str, default: str = "") -> str:
        """A string."""
        name, value = self._find(key)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.error(f"{name} must be a string, not {_shown(value)}", name)
        return value

    def words(self, key: str) -> tuple[str, ...] | None:
        """A list of strings, one a layer; None where there is none."""
        value = self._list(key)
        if value is None:
            return None
        for item in value:
            if not isinstance(item, str):
                raise self.error(f"{key} must list strings, not {_shown(item)}", key)
        return tuple(str(item) for item in value)

    def sizes(self, key: str, *, minimum: int = 0) -> tuple[int, ...] | None:
        """A list of whole numbers; None where there is none."""
        value = self._list(key)
        if value is None:
            return None
        return tuple(self._whole(item, key, key, minimum) for item in value)

    def numbered(self, key: str) -> tuple[int, ...] | None:
        """A list of layer numbers, which may be written as a string ("3,4,5")."""
        name, value = self._find(key)
        if not isinstance(value, str):
            return self.sizes(key)
        parts = [part.strip() for part in value.split(",") if part.strip()]
        if len(parts) > LIMITS["layers"] or not all(p.isdecimal() and len(p) < 6 for p in parts):
            raise self.error(f"{name} must list layers, not {_shown(value)}", name)
        return tuple(int(part) for part in parts)

    def lists(self, key: str) -> list[list[object]] | None:
        """A list of lists; None where there is none."""
        value = self._list(key)
        if value is None:
            return None
        for item in value:
            if not isinstance(item, list):
                raise self.error(f"{key} must list lists, not {_shown(item)}", key)
        return [item for item in value if isinstance(item, list)]

    def _list(self, key: str) -> list[object] | None:
        name, value = self._find(key)
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise self.error(f"{name} must be a list, not {_shown(value)}", name)
        if len(value) > LIMITS["layers"]:
            raise self.error(f"{name} lists {len(value)} entries", name)
        return list(value)

    def mapping(self, key: str) -> Mapping[str, object] | None:
        """A nested object; None where there is none."""
        name, value = self._find(key)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise self.error(f"{name} must be an object, not {_shown(value)}", name)
        return value

    def nested(
        self, key: str, model_type: str, defaults: Mapping[str, object] | None = None
    ) -> Keys:
        """The nested object as keys of its own; an empty one where there is none."""
        return Keys(
            self.mapping(key) or {}, model_type, defaults=defaults, where=f"{self._where}{key}."
        )

    def raw(self, key: str) -> object:
        """A value of any type, for keys that some families write as a number and some as a list."""
        return self._find(key)[1]

    def ignore(self, *keys: str) -> None:
        """Mark keys as understood: they change nothing that is counted here."""
        self._used.update(keys)

    def everything(self) -> Mapping[str, object]:
        """The config itself."""
        return self._raw

    def refuse_unknown(self) -> None:
        """Refuse a key that was not used and speaks of structure, unless it is switched off."""
        for key, value in self._raw.items():
            if key in self._used or key in HARMLESS_KEYS or not _active(value):
                continue
            words = set(key.split("_"))
            harmless = words & HARMLESS or key.startswith(HARMLESS_STARTS)
            if words & STRUCTURAL and not harmless:
                raise self.error(f"unknown structural key {key} = {_shown(value)}", key)

    def refuse_nested(self, *known: str) -> None:
        """Refuse a nested config that nobody reads: it would be a part left out of the counts."""
        for key, value in self._raw.items():
            nested = key.endswith("_config") and isinstance(value, Mapping) and value
            if nested and key not in {*known, *NOT_PARTS}:
                raise self.error(f"unknown nested config {key}", key)


def _active(value: object) -> bool:
    """Whether a value could add or resize tensors: off, empty, real and worded values cannot."""
    if isinstance(value, str | float) or not value:
        return False
    if isinstance(value, list | tuple):
        return any(_active(item) or isinstance(item, str) for item in value)
    return True


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
