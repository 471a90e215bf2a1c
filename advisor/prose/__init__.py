"""Prose about inference speed: from blocks of text to statements with their slots."""
