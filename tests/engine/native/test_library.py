"""The compiled library: found, never trusted unless it is what was compiled from these sources on
this machine, and what happens where it cannot be compiled."""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch

from allyouneed.engine.choice import choose
from allyouneed.engine.native import build, why_not
from allyouneed.engine.native import library as library_module
from allyouneed.engine.native.build import NoCompiler, compile_variant, intact, library_name
from allyouneed.engine.native.library import Library, NoLibrary, find_library
from allyouneed.engine.native.library_cache import MOST, remove_unused
from allyouneed.errors import UsageError
from allyouneed.model_folder.folder import open_model_folder
from allyouneed.model_folder.places import cache_home

BEST = build.best_variant(build.features())


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: Library) -> Iterator[Path]:
    """An empty cache, nothing installed, and the search for a library begun anew."""
    monkeypatch.setenv("ALLYOUNEED_CACHE", str(tmp_path))
    monkeypatch.setattr(library_module, "installed_folder", lambda: tmp_path / "installed")
    find_library.cache_clear()
    yield cache_home()
    find_library.cache_clear()


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch, library: Library) -> list[Path]:
    """Compiling takes what is compiled already; the list says what was."""
    done: list[Path] = []

    def compile_variant(
        variant: str, folder: Path, sources: build.Sources, compiler: list[str]
    ) -> Path:
        done.append(put(library.path, folder))
        return done[-1]

    monkeypatch.setattr(library_module, "compile_variant", compile_variant)
    return done


def put(content: Path, folder: Path) -> Path:
    """A library with this content, under the name of the best variant, with its digest."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / library_name(BEST)
    target.unlink(missing_ok=True)  # what is open stays as it is
    shutil.copy(content, target)
    target.chmod(0o755)
    target.with_suffix(".sha256").write_text(hashlib.sha256(target.read_bytes()).hexdigest())
    return target


def test_compiled_once_and_then_taken_from_the_cache(cache: Path, compiled: list[Path]) -> None:
    first = find_library()
    assert first.note == f"compiled the engine for this machine: {cache / library_name(BEST)}"
    find_library.cache_clear()
    second = find_library()
    assert (second.path, second.note) == (first.path, None)
    assert compiled == [first.path]


def test_whoever_waits_for_the_compiler_is_told_before(
    cache: Path, compiler: Callable[[str], None], caplog: pytest.LogCaptureFixture
) -> None:
    compiler('echo "$@" > "$out"')
    told: list[str] = []
    with pytest.MonkeyPatch.context() as patch:

        def run(*_: object, **__: object) -> None:
            told.extend(caplog.messages)
            raise NoCompiler("it is told by now")

        patch.setattr(build.subprocess, "run", run)
        with pytest.raises(NoLibrary):
            find_library()
    assert len(told) == 1
    assert re.fullmatch(
        r"allyouneed compiles its engine for this machine with \S+/fake-c\+\+; this happens once "
        "and takes about half a minute",
        told[0],
    )


def test_the_notice_goes_to_standard_error_where_nobody_set_up_a_log(
    tmp_path: Path, compiler: Callable[[str], None]
) -> None:
    compiler('echo "$@" > "$out"')
    code = """
from allyouneed.engine.native import library
library.installed_folder = library.cache_home
try:
    library.find_library()
except library.NoLibrary:
    pass
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "ALLYOUNEED_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == ""
    assert done.stderr.count("allyouneed compiles its engine for this machine with") == 1


@pytest.mark.usefixtures("compiled")
def test_nothing_is_said_where_nothing_is_compiled(
    cache: Path, library: Library, caplog: pytest.LogCaptureFixture
) -> None:
    put(library.path, cache)
    find_library()
    assert not caplog.messages


@pytest.mark.usefixtures("compiled")
def test_a_new_library_replaces_those_unused_for_longest(cache: Path) -> None:
    old = [kept(cache / f"avx2-{number:016x}.so", days=1 + number) for number in range(20)]
    path = find_library().path
    left = sorted(cache.iterdir())
    assert left == sorted(
        file for one in [path, *old[: MOST - 1]] for file in (one, one.with_suffix(".sha256"))
    )


@pytest.mark.usefixtures("compiled")
def test_a_library_that_is_used_stays(cache: Path, library: Library) -> None:
    used = put(library.path, cache)
    os.utime(used, (0, 0))
    find_library()
    assert time.time() - used.stat().st_mtime < 60


def kept(library: Path, days: float) -> Path:
    """A library with its digest, last used so many days ago."""
    library.parent.mkdir(parents=True, exist_ok=True)
    for path in (library, library.with_suffix(".sha256")):
        path.write_text("")
        os.utime(path, (time.time() - 86400 * days,) * 2)
    return library


def test_what_is_in_use_or_foreign_is_never_removed(tmp_path: Path) -> None:
    used = [kept(tmp_path / f"any-{number:016x}.so", days=0.01) for number in range(MOST + 8)]
    foreign = [tmp_path / name for name in ("packed.so", "any-1.so", "notes.sha256", ".hidden.txt")]
    for path in foreign:
        kept(path, days=99)
    (tmp_path / "packed").mkdir()
    before = sorted(tmp_path.iterdir())
    remove_unused(tmp_path)
    assert sorted(tmp_path.iterdir()) == before
    assert len(before) > 2 * len(used)


def test_what_killed_compilers_left_is_removed_after_a_day(tmp_path: Path) -> None:
    for name, days in ((".avx512-5x9dao9v.so", 1.1), (".avx512-4v702gp9.so", 0.5)):
        kept(tmp_path / name, days)
        (tmp_path / name).with_suffix(".sha256").unlink()
    remove_unused(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".avx512-4v702gp9.so"]


def test_what_cannot_be_removed_does_not_stop_the_engine(
    cache: Path, compiled: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        kept(cache / f"avx2-{number:016x}.so", days=9)

    remove, tried = Path.unlink, []

    def unlink(path: Path, missing_ok: bool = False) -> None:
        if path.name.startswith("avx2"):
            tried.append(path)
            raise PermissionError(13, "it is open", str(path))
        remove(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", unlink)
    assert find_library().path == cache / library_name(BEST)
    assert compiled
    assert tried


def test_what_is_installed_comes_first(cache: Path, compiled: list[Path], library: Library) -> None:
    put(library.path, cache)
    installed = put(library.path, library_module.installed_folder())
    assert find_library().path == installed
    assert not compiled


def cut(path: Path) -> None:
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content[: len(content) // 2])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.unlink()
    path.write_bytes(content)


def lose_digest(path: Path) -> None:
    path.with_suffix(".sha256").unlink()


def open_to_all(path: Path) -> None:
    path.chmod(0o777)


def give_away(path: Path) -> None:
    if os.getuid():
        pytest.skip("only root can give a file away")
    os.chown(path, 12345, 12345)


def make_foreign(path: Path) -> None:
    """Intact, but for another machine."""
    content = bytearray(path.read_bytes())
    content[18] ^= 0xFF  # e_machine of an ELF file
    foreign = path.parent / "foreign"
    foreign.write_bytes(content)
    put(foreign, path.parent)


@pytest.mark.parametrize("damage", [cut, flip, lose_digest, open_to_all, give_away, make_foreign])
def test_what_cannot_be_trusted_is_compiled_anew(
    damage: Callable[[Path], None], cache: Path, compiled: list[Path], library: Library
) -> None:
    damage(put(library.path, cache))
    assert find_library().note
    assert compiled == [cache / library_name(BEST)]


def test_a_library_that_is_no_engine_is_refused_and_compiled_anew(
    cache: Path, compiled: list[Path]
) -> None:
    """This process has it open under its name, so it is the next one that can use the new one."""
    put(Path(torch._C.__file__), cache)
    with pytest.raises(NoLibrary, match=r"is not the engine's library: .*aya_interface"):
        find_library()
    assert compiled == [cache / library_name(BEST)]
    assert b"aya_interface" in compiled[0].read_bytes()


def test_an_installed_library_for_another_machine_leaves_the_cached_one(
    cache: Path, compiled: list[Path], library: Library
) -> None:
    cached = put(library.path, cache)
    make_foreign(put(library.path, library_module.installed_folder()))
    assert find_library().path == cached
    assert not compiled


def test_another_interface_is_refused(
    cache: Path, compiled: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build.Sources, "interface", lambda sources: "another")
    with pytest.raises(NoLibrary, match=r"has interface [0-9a-f]{16} instead of another"):
        find_library()


@pytest.fixture
def copied(tmp_path: Path) -> ModuleType:
    """build.py and the engine's sources, elsewhere."""
    shutil.copytree(build.SOURCE, tmp_path / "source")
    path = shutil.copy(str(build.__file__), tmp_path)
    spec = importlib.util.spec_from_file_location("copied_build", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_names_tell_sources_flags_and_processors_apart(
    copied: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    variants = copied.variants()
    names = {copied.library_name(variant) for variant in variants}
    assert names == {library_name(variant) for variant in build.variants()}
    assert len(names) == len(variants)
    team = copied.SOURCE / "team.h"
    team.write_text(team.read_text() + "\n")
    names.add(copied.library_name(BEST))
    monkeypatch.setattr(copied, "FLAGS", (*copied.FLAGS, "-g"))
    names.add(copied.library_name(BEST))
    monkeypatch.setattr(copied, "processor", lambda: "riscv64")
    monkeypatch.setattr(copied, "variants", lambda kind: variants)
    names.add(copied.library_name(BEST))
    assert len(names) == len(variants) + 3


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes a compiler of a shell script, in which $out is the file to be written: an object, then
    a library."""

    def make(script: str) -> None:
        path = tmp_path / "bin" / "fake-c++"
        path.parent.mkdir()
        last = 'for word in "$@"; do out=$word; done'
        path.write_text(f"#!/bin/sh\n{last}\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("CXX", str(path))

    return make


def test_what_is_compiled_appears_at_once_and_whole(
    tmp_path: Path, compiler: Callable[[str], None]
) -> None:
    compiler(f'echo "$@" >> {tmp_path}/calls; touch "$out"')
    path = compile_variant(BEST, tmp_path / "a" / "folder")
    assert path.name == library_name(BEST)
    assert intact(path)
    assert sorted(path.parent.iterdir()) == [path.with_suffix(".sha256"), path]
    compiling, linking = (call.split() for call in (tmp_path / "calls").read_text().splitlines())
    own = {f'-DVARIANT="{BEST}"', *build.variants()[BEST]}
    assert own <= {*compiling}
    assert not own & {*linking}
    assert compiling[-1] in linking
    assert "-static-libstdc++" in linking


def test_static_libraries_are_not_needed(tmp_path: Path, compiler: Callable[[str], None]) -> None:
    compiler('case "$*" in *-static*) exit 1;; esac; echo "$@" > "$out"')
    assert "-static" not in compile_variant("any", tmp_path).read_text()


def test_a_compiler_that_fails(
    cache: Path, compiler: Callable[[str], None], tmp_path: Path
) -> None:
    compiler('echo half > "$out"; echo "what is dpbusd?" >&2; exit 1')
    with pytest.raises(NoLibrary, match=r"not compiled and .*c\+\+ failed: what is dpbusd\?"):
        find_library()
    assert not list(cache.iterdir())


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 3", "it ended with status 3 and said nothing"),
        ("printf 'In file a.h:\\na.h:7: error: no b\\n' >&2; exit 1", "a.h:7: error: no b"),
    ],
)
@pytest.mark.usefixtures("cache")
def test_why_a_compiler_failed_is_told(
    script: str, reason: str, compiler: Callable[[str], None]
) -> None:
    compiler(script)
    with pytest.raises(NoLibrary, match=rf"c\+\+ failed: {reason}$"):
        find_library()


def test_a_compiler_that_makes_no_library(cache: Path, compiler: Callable[[str], None]) -> None:
    compiler('echo nonsense > "$out"')
    with pytest.raises(NoLibrary, match="the native engine is not compiled and"):
        find_library()


def test_a_cache_that_cannot_be_written(
    compiler: Callable[[str], None], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler('echo "$@" > "$out"')
    cache.write_text("a file stands where the folder should be")
    with pytest.raises(NoLibrary, match="not compiled and"):
        find_library()


def test_without_a_home_directory(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.delenv("ALLYOUNEED_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", home)
    with pytest.raises(NoLibrary, match="no home directory for the cache; name a folder in"):
        find_library()


@pytest.fixture
def no_compiler(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", "")
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: name != "ziglang" and find_spec(name)
    )


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_another_engine_runs_and_says_so(model_folder: Path) -> None:
    with pytest.raises(NoCompiler, match=r"there is no C\+\+ compiler"):
        build.find_compiler()
    folder = open_model_folder(model_folder)
    reason = why_not(folder.config)
    assert reason == (
        "the native engine is not compiled and there is no C++ compiler (c++, g++ or clang++, or: "
        "pip install ziglang)"
    )
    chosen = choose("auto", folder)
    assert chosen.engine.name == "core"
    assert chosen.notes == (
        f"the native engine cannot run ({reason}); core runs instead, with torch",
    )
    with pytest.raises(UsageError, match=r"engine='cpu-float32' cannot run here: .* no C\+\+"):
        choose("cpu-float32", folder)


@pytest.mark.usefixtures("cache")
def test_a_variant_that_does_not_exist_is_an_error_of_the_call(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With torch or without, and whatever shows which engine runs."""
    monkeypatch.setenv("ALLYOUNEED_CPU", "bogus")
    folder = open_model_folder(model_folder)
    wrong = r"^ALLYOUNEED_CPU='bogus' is no variant .*; choose from .*any, or unset it$"
    for name in ("auto", "cpu-float32", "cpu-int8"):
        with pytest.raises(UsageError, match=wrong):
            choose(name, folder)
    with pytest.raises(UsageError, match=wrong):
        why_not(folder.config)
    assert choose("core", folder).engine.name == "core"


@pytest.mark.parametrize(
    ("variables", "system", "folder"),
    [
        ({"ALLYOUNEED_CACHE": "/a", "XDG_CACHE_HOME": "/x"}, "linux", "/a/allyouneed"),
        ({"XDG_CACHE_HOME": "/x"}, "linux", "/x/allyouneed"),
        ({}, "linux", "/home/me/.cache/allyouneed"),
        ({}, "darwin", "/home/me/Library/Caches/allyouneed"),
    ],
)
def test_where_the_cache_is(
    variables: dict[str, str], system: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ALLYOUNEED_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/me"))
    monkeypatch.setattr("sys.platform", system)
    assert cache_home() == Path(folder)
