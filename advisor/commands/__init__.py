"""What each command does with its options: one module a command, and what several of them share.

`advisor.cli` declares the commands; a module here is imported when its command is asked for.
"""
