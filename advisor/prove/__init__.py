"""Measuring on a machine: experiments, what they show, and what others have measured already.

torch is imported only by `torch_machine` and `torch_step`; everything else judges recorded times.
"""
