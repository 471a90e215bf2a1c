from __future__ import annotations

import os
import socket
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.finding import Finding, Severity
from advisor.readers import may_hold_proposals
from advisor.readers.discover import Found, discover
from advisor.source import MAX_BYTES, Source

OURS = "rooflint: 1\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory outside any repository."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    return tmp_path


def put(*names: str, text: str = OURS) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, "utf-8")


def paths(*given: str) -> list[str]:
    return [found.path for found in discover(given)]


def only(*given: str) -> Finding:
    (found,) = discover(given)
    assert isinstance(found.content, Finding)
    assert found.content.path == found.path
    return found.content


def test_a_folder_gives_its_files_in_order_under_the_name_it_was_given() -> None:
    put("p/b.yml", "p/a.yaml", "p/sub/c.json", "p/UPPER.YAML", "p/notes.log", "p/sub/x.yaml.bak")
    names = ["UPPER.YAML", "a.yaml", "b.yml", "sub/c.json"]
    assert paths("p") == paths("p/") == [f"p/{name}" for name in names]
    assert paths(".") == [f"p/{name}" for name in names]
    absolute = str(Path("p").resolve())
    assert paths(absolute) == [f"{absolute}/{name}" for name in names]


def test_paths_stay_as_given_and_each_file_is_read_once() -> None:
    put("p/a.yaml", "p/b.yaml")
    assert paths("./p/b.yaml", "p") == ["./p/b.yaml", "p/a.yaml"]
    assert paths("p", "./p/b.yaml", "p/../p/a.yaml") == ["p/a.yaml", "p/b.yaml"]


def test_a_named_file_is_known_as_named_wherever_it_is_met() -> None:
    put("p/a.yaml", "p/b.yaml", text="somebody: else\n")
    found = list(discover(["p", "p/b.yaml"]))
    assert found == [Found("p/b.yaml", Source("p/b.yaml", "somebody: else\n"), named=True)]


def test_files_of_a_folder_that_do_not_say_rooflint_are_left_out() -> None:
    put("p/a.yaml")
    put("p/other.yaml", text="services: {}\n")
    put("p/empty.proposal.yaml", text="")
    assert paths("p") == ["p/a.yaml", "p/empty.proposal.yaml"]
    assert may_hold_proposals("a.yaml", "rooflint: 1".encode("utf-16"))
    assert not may_hold_proposals("a.yaml", "services: 1".encode("utf-16"))


LEFT_OUT = (".venv/a.yaml", "node_modules/x/a.yaml", "build/a.yaml", "sub/__pycache__/a.yaml")


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


@pytest.mark.parametrize("in_work_tree", [False, True])
def test_what_git_ignores_is_left_out_inside_and_outside_a_work_tree(in_work_tree: bool) -> None:
    if in_work_tree:
        git("init", "-q")
    put("a.yaml", "sub/b.yaml", "sub/deep/c.yaml", "sub/keep.json", *LEFT_OUT)
    put(
        "ignored/d.yaml", "sub/e.json", "sub/deep/generated.yaml", "only/root.yaml", "x/only/f.yaml"
    )
    put(".gitignore", text="ignored/\n*.json\n/only/\n")
    put("sub/.gitignore", text="!keep.json\ngenerated.yaml\n")
    assert paths(".") == [
        "a.yaml",
        "sub/b.yaml",
        "sub/deep/c.yaml",
        "sub/keep.json",
        "x/only/f.yaml",
    ]
    if in_work_tree:  # outside one, nothing above the given folder is read
        assert paths("sub") == ["sub/b.yaml", "sub/deep/c.yaml", "sub/keep.json"]


def test_a_tracked_file_that_is_gone_is_not_missed() -> None:
    git("init", "-q")
    put("a.yaml", "b.yaml")
    git("add", ".")
    Path("b.yaml").unlink()
    assert paths(".") == ["a.yaml"]


@pytest.mark.parametrize("in_work_tree", [False, True])
def test_an_ignored_folder_that_is_named_is_read(in_work_tree: bool) -> None:
    if in_work_tree:
        git("init", "-q")
    put("build/a.yaml")
    put(".gitignore", text="build/\n")
    assert paths("build") == ["build/a.yaml"]


def test_a_repository_cannot_name_a_program_to_run() -> None:
    git("init", "-q")
    put("a.yaml")
    git("config", "core.fsmonitor", "touch pwned; false")
    git("add", ".")
    Path("pwned").unlink(missing_ok=True)
    assert paths(".") == ["a.yaml"]
    assert not Path("pwned").exists()


def test_links_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    put("outside/secret.yaml", "p/a.yaml")
    Path("p/link.yaml").symlink_to(outside / "secret.yaml")
    Path("p/folder").symlink_to(outside)
    Path("p/loop").symlink_to("loop")
    Path("p/up").symlink_to("..")
    assert paths("p") == ["p/a.yaml"]
    git("init", "-q")
    git("add", ".")
    assert paths("p") == ["p/a.yaml"]
    assert paths("p/link.yaml") == ["p/link.yaml"]  # the user names it


def test_a_missing_file_hides_no_other() -> None:
    put("a.yaml")
    first, second = discover(["gone.yaml", "a.yaml"])
    assert isinstance(first.content, Finding)
    assert (first.content.rule, first.content.severity) == ("E901", Severity.ERROR)
    assert "no such file" in first.content.message
    assert second.content == Source("a.yaml", OURS)


def test_a_folder_without_files_is_told() -> None:
    Path("empty").mkdir()
    finding = only("empty")
    assert (finding.rule, finding.severity) == ("E914", Severity.INFO)
    assert ".yaml .yml .json" in finding.instead


def make_socket(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (os.mkfifo, "pipe"),
        (lambda path: Path(path).symlink_to("/dev/zero"), "device"),
        (make_socket, "socket"),
        (lambda path: Path(path).symlink_to(path), "link"),
    ],
)
def test_what_is_no_file_is_refused_and_never_waited_for(
    make: Callable[[str], None], word: str
) -> None:
    make("odd.yaml")
    finding = only("odd.yaml")
    assert finding.rule == "E901"
    assert word in finding.message
    put("p/a.yaml")
    Path("odd.yaml").rename("p/odd.yaml")
    assert paths("p") == ["p/a.yaml"]


def test_a_file_that_may_not_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    put("a.yaml", "b.yaml")
    Path("a.yaml").chmod(0)
    if os.geteuid() == 0:  # root reads everything: the system's refusal is put in its place

        def refuse(path: str, flags: int) -> int:
            if not stat.S_IMODE(Path(path).stat().st_mode):
                raise PermissionError(13, "Permission denied", path)
            return opened(path, flags)

        opened = os.open
        monkeypatch.setattr(os, "open", refuse)
    first, second = discover(["a.yaml", "b.yaml"])
    assert isinstance(first.content, Finding)
    assert (first.content.rule, first.content.message) == ("E901", "permission denied")
    assert isinstance(second.content, Source)


def test_a_folder_that_may_not_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    put("p/a.yaml", "p/shut/b.yaml", "q/c.yaml")
    listed = os.scandir

    def refuse(path: str) -> object:
        if Path(path).name in {"shut", "q"}:
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = list(discover(["p", "q"]))
    assert [item.path for item in found] == ["p/a.yaml", "p/shut", "q"]
    for item in found[1:]:
        assert isinstance(item.content, Finding)
        assert (item.content.rule, item.content.message) == ("E901", "permission denied (a folder)")


def test_a_file_beyond_the_limit_is_refused_unread() -> None:
    with Path("big.yaml").open("wb") as stream:
        stream.write(OURS.encode())
        stream.truncate(MAX_BYTES * 1000)  # sparse: 8 GB that nobody should read
    assert only("big.yaml").rule == "E908"
    put("p/a.yaml")
    Path("big.yaml").rename("p/big.yaml")
    assert paths("p") == ["p/a.yaml"]


def test_names_that_are_no_text_can_be_shown() -> None:
    try:
        Path(os.fsdecode(b"caf\xe9.yaml")).write_text(OURS, "utf-8")
    except OSError:
        pytest.skip("the file system wants UTF-8 names")
    (found,) = discover(["."])
    assert found.path == "caf\ufffd.yaml"
    assert isinstance(found.content, Source)


@pytest.mark.parametrize("path", ["", "a\0b.yaml", "x" * 5000])
def test_names_that_cannot_be(path: str) -> None:
    assert only(path).rule == "E901"


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("input").open("w+b") as stream:
        stream.write(OURS.encode("utf-16"))
        stream.seek(0)
        monkeypatch.setattr("sys.stdin", type("Stdin", (), {"buffer": stream}))
        assert list(discover(["-"])) == [Found("-", Source("-", OURS), named=True)]
