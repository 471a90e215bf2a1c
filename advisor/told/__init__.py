"""Judgements of what a text tells that several rules share, or that fill a module of their own."""
