"""Python files: proposals in annotations and literals, and levers in plain code.

    syntax.py     text to a tree, also of notebooks and files with conflict markers; places
    comments.py   comments that say "rooflint:", and what each is about
    directives.py `# rooflint: model=... batch=1`, `Annotated[..., "rooflint: ..."]`
    literals.py   a dict or dataclass that is a proposal
    nodes.py      values as nodes of the dialect
    values.py     what an expression is known to be without running it
    seen.py       what a file does, as it is gathered
    declared.py   parsers, fields and options with their defaults, dicts that are changed
    branches.py   which branch a test takes
    expressions.py expressions as values
    flow.py       statements in order: names, branches, calls
    survey.py     one walk over the tree for everything else
    marks.py      which scripts are worth parsing, by their bytes
    calls.py      calls and attributes that set up a lever, by the tables below
    idioms.py     levers made by hand: students, drafts
    tensors.py    code on tensors: masks, slices, SVD
    commands.py   command lines in lists and strings
    embedded.py   YAML in a script's texts
    recognise.py  all of it, as levers with their places and the facts of their context
    reader.py     a file as proposals
    tables/       libraries as data: qualified call name to lever, argument to field

Nothing of a file is imported or run.
"""
