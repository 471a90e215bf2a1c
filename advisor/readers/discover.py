"""Paths as given on the command line, to files and their text.

Folders are walked without following links, so nothing outside them is read; what git ignores is
left out. Nothing but regular files is ever opened, and none beyond a size: a device or a pipe
cannot hang the program. Each path that cannot be read is a finding, and the others are read.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from advisor.finding import Finding
from advisor.problems import file_problem
from advisor.readers import READERS, decode_text, is_ours_by_name, may_hold_proposals
from advisor.source import MAX_BYTES, DecodingError, Source

STDIN: Final = "-"

_NEVER: Final = frozenset(
    {
        ".git", ".hg", ".svn", ".jj", ".venv", "venv", "node_modules", "site-packages",
        "__pycache__", ".tox", ".nox", ".eggs", ".mypy_cache", ".pytest_cache", ".ruff_cache",
        ".hypothesis", "build", "dist", "_build", "target",
    }
)  # fmt: skip
"""Folders that hold what tools made; a folder that the user names is walked all the same."""
_GIT_SECONDS: Final = 60
_QUICK_BYTES: Final = 500
"""Of a document, that take as long as another file."""
_KINDS: Final = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


class Found(NamedTuple):
    """One file of those asked for."""

    path: str
    """As given, joined for folders, with forward slashes."""
    content: Source | Finding
    """Its text, or why it cannot be read."""
    named: bool
    """Whether the user named this very file."""


class Candidate(NamedTuple):
    """A file to read, or a finding about a path."""

    path: str
    named: bool
    problem: Finding | None = None
    name: str = ""
    """What it is called, where that is not its path."""


def _nothing(_path: str) -> bool:
    return False


def discover(
    paths: Iterable[str], excludes: Callable[[str], bool] = _nothing, stdin: str = STDIN
) -> Iterator[Found]:
    """Read the files of paths, each once, in the order given; those of a folder are sorted.

    A path is a file, a folder, or "-" for standard input. Files in folders that cannot hold a
    proposal are left out, and files that `excludes` is true of. `stdin` is the name of the file
    that standard input stands for.
    """
    for candidate in candidates(paths, excludes, stdin):
        found = load(candidate)
        if found is not None:
            yield found


def candidates(
    paths: Iterable[str], excludes: Callable[[str], bool] = _nothing, stdin: str = STDIN
) -> Iterator[Candidate]:
    """The files that `discover` reads, none of them opened yet."""
    asked = tuple(paths)
    named = {os.path.normpath(path) for path in asked}
    seen: set[str] = set()
    for given in asked:
        for candidate in _candidates(given):
            same = os.path.normpath(candidate.path)
            if same in seen:
                continue
            seen.add(same)
            name = stdin if candidate.path == STDIN else candidate.path
            if name != STDIN and excludes(name):
                continue
            yield candidate._replace(named=candidate.named or same in named, name=name)


def load(candidate: Candidate) -> Found | None:
    """Read one file; None for a file of a folder that cannot hold a proposal."""
    name = candidate.name or candidate.path
    content = candidate.problem or _load(candidate, name)
    return None if content is None else Found(_printable(name), content, candidate.named)


def weight_of(candidate: Candidate) -> float:
    """How long a file takes to read and judge, 1 for one of code or settings.

    Every sentence of a document is read; of most other files one search tells that they hold
    nothing.
    """
    if candidate.problem is not None or not is_ours_by_name(candidate.path, "markdown"):
        return 1.0
    try:
        size = os.stat(candidate.path).st_size  # noqa: PTH116
    except (OSError, ValueError):
        return 1.0
    return 1.0 + min(size, MAX_BYTES) / _QUICK_BYTES


def _candidates(given: str) -> Iterator[Candidate]:
    """The files that a path stands for."""
    if given == STDIN:
        yield Candidate(given, named=True)
        return
    try:
        mode = os.stat(given).st_mode  # noqa: PTH116 - Path would drop a leading "./"
    except (OSError, ValueError) as error:
        yield _refused(given, _reason(error))
        return
    if not stat.S_ISDIR(mode):
        yield Candidate(_slashes(given), named=True)
        return
    try:
        names = _names_in(given)
    except OSError as error:
        yield _refused(given, f"{_reason(error)} (a folder)")
        return
    any_file = False
    for name in names:
        if isinstance(name, OSError):
            yield _refused(str(name.filename), f"{_reason(name)} (a folder)")
        else:
            any_file = True
            yield Candidate(_slashes(str(Path(given, name))), named=False)
    if not any_file:
        suffixes = " ".join(_suffixes())
        yield Candidate(
            _slashes(given),
            named=True,
            problem=file_problem(
                "E914",
                _printable(_slashes(given)),
                "the folder holds no file that rooflint reads",
                instead=f"files that end in {suffixes} are read, those that git ignores are not",
            ),
        )


def _names_in(folder: str) -> list[str | OSError]:
    """Names of files below a folder that a reader is for, sorted, and folders that refuse."""
    os.scandir(folder).close()  # a folder that may not be read fails here
    listed = _listed_by_git(folder)
    found = _walked(folder) if listed is None else listed
    return sorted(found, key=lambda name: str(name.filename if isinstance(name, OSError) else name))


def _listed_by_git(folder: str) -> list[str | OSError] | None:
    """What git tracks or would track below a folder; None outside a work tree."""
    if not any((parent / ".git").exists() for parent in _upwards(folder)):
        return None
    globs = tuple("*" + _in_any_case(suffix) for suffix in _suffixes())
    which = ("-z", "--cached", "--others", "--exclude-standard")
    listed = git_output(folder, "ls-files", *which, "--", *globs)
    ignored = not listed and git_output(folder, "check-ignore", "-q", ".") is not None
    if listed is None or ignored:
        return None  # a folder that git ignores, and that the user named all the same
    names = {os.fsdecode(raw) for raw in listed.split(b"\0") if raw}
    return [name for name in names if _is_wanted(name) and _is_inside(folder, name)]


def _in_any_case(suffix: str) -> str:
    """A glob of a suffix; git's own (icase) finds nothing in a folder that is not tracked yet."""
    return "".join(f"[{sign}{sign.upper()}]" if sign.isalpha() else sign for sign in suffix)


def git_output(folder: str, *arguments: str) -> bytes | None:
    """What git says in a folder; None where it fails, says no, or is not there."""
    import subprocess  # noqa: PLC0415 - only folders need it

    # A repository's own settings could name a program to run; variables another repository.
    safe = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
    outside = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(  # noqa: S603 - only the folder is not ours
            ["git", *safe, "-C", folder, *arguments],  # noqa: S607 - wherever it is installed
            capture_output=True,
            check=True,
            timeout=_GIT_SECONDS,
            env={**outside, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


def _upwards(folder: str) -> Iterator[Path]:
    here = Path(folder).resolve()
    yield here
    yield from here.parents


def _is_wanted(name: str) -> bool:
    return name.lower().endswith(_suffixes()) and _NEVER.isdisjoint(Path(name).parts[:-1])


def _is_inside(folder: str, name: str) -> bool:
    """Whether a listed file is there, and reached through no link."""
    part = Path(folder)
    for piece in Path(name).parts:
        part /= piece
        if part.is_symlink():
            return False
    return part.is_file()


def _walked(folder: str) -> list[str | OSError]:
    """What a walk finds, without what .gitignore files on the way leave out."""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - only outside a work tree

    refused: list[str | OSError] = []
    found: list[str | OSError] = []
    specs: dict[str, tuple[tuple[str, GitIgnoreSpec], ...]] = {}
    for top, folders, names in os.walk(folder, onerror=refused.append):
        inherited = specs.get(str(Path(top).parent), ()) if top != folder else ()
        rules = inherited
        if ".gitignore" in names:
            content = _regular_bytes(str(Path(top, ".gitignore")))
            lines = content.decode("utf-8", "replace").splitlines() if content else []
            rules = (*inherited, (top, GitIgnoreSpec.from_lines(lines)))
        specs[str(Path(top))] = rules
        folders[:] = [
            name
            for name in folders
            if name not in _NEVER
            and not Path(top, name).is_symlink()
            and not _is_ignored(top, f"{name}/", rules)
        ]
        for name in names:
            path = Path(top, name)
            wanted = name.lower().endswith(_suffixes()) and not _is_ignored(top, name, rules)
            if wanted and not path.is_symlink() and path.is_file():
                found.append(str(path.relative_to(folder)))
    return [*found, *refused]


def _is_ignored(top: str, name: str, rules: Iterable[tuple[str, object]]) -> bool:
    """Whether the last .gitignore that speaks of a path leaves it out."""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415

    ignored = False
    for base, spec in rules:
        assert isinstance(spec, GitIgnoreSpec)
        relative = os.path.relpath(top, base)
        inside = name if relative == "." else f"{_slashes(relative)}/{name}"
        said = spec.check_file(inside).include
        ignored = ignored if said is None else said
    return ignored


def _load(candidate: Candidate, name: str) -> Source | Finding | None:
    """A file's text under a name; None for a file of a folder that cannot hold a proposal."""
    shown = _printable(name)
    try:
        if candidate.path == STDIN:
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            data = _regular_bytes(candidate.path)
    except (OSError, ValueError) as error:
        return file_problem("E901", shown, _reason(error))
    if len(data) > MAX_BYTES:
        if not candidate.named:
            return None
        return file_problem(
            "E908",
            shown,
            f"the file is larger than {MAX_BYTES // 2**20} MiB",
            instead="a proposal is a page of text",
        )
    if not candidate.named and not may_hold_proposals(candidate.path, data):
        return None
    try:
        return Source(shown, decode_text(name, data))
    except DecodingError as error:
        return file_problem("E907", shown, str(error), line=error.line)


def _regular_bytes(path: str) -> bytes:
    """Bytes of a regular file, no more than one beyond the limit.

    Raises:
        OSError: where there is no such file, it may not be read, or it is something else.

    """
    # Opening a pipe would wait for its writer; O_NONBLOCK also covers one put there meanwhile.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    _check_regular(os.stat(path).st_mode)  # noqa: PTH116
    handle = os.open(path, flags)
    with os.fdopen(handle, "rb") as stream:
        _check_regular(os.fstat(handle).st_mode)
        return stream.read(MAX_BYTES + 1)


def _check_regular(mode: int) -> None:
    for is_kind, words in _KINDS:
        if is_kind(mode):
            raise OSError(f"this is {words}, not a file; {STDIN} reads standard input")
    if stat.S_ISDIR(mode):
        raise OSError("this is a folder, not a file")


def _suffixes() -> tuple[str, ...]:
    return tuple(suffix for reader in READERS for suffix in reader.suffixes)


def _refused(path: str, reason: str) -> Candidate:
    shown = _slashes(path)
    instead = f"give a file, a folder, or {STDIN} for standard input"
    problem = file_problem("E901", _printable(shown), reason, instead=instead)
    return Candidate(shown, named=True, problem=problem)


def _reason(error: OSError | ValueError) -> str:
    """What the system says, in lower case and without the path."""
    words = getattr(error, "strerror", None) or str(error)
    return words[:1].lower() + words[1:]


def _slashes(path: str) -> str:
    return path if os.sep == "/" else path.replace(os.sep, "/")


def _printable(path: str) -> str:
    """A name that is not UTF-8 in a form that can be printed."""
    return os.fsencode(path).decode("utf-8", "replace")
