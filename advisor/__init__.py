"""rooflint: the linter for LLM-inference optimization proposals."""
