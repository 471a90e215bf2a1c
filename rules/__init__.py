"""The rule pack: one rule a module, found by name."""
