"""The compiled library: found, never trusted unless it is what was compiled from these sources on
this machine, and what happens where it cannot be compiled."""

import hashlib
import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch

from allyouneed.engine.choice import choose
from allyouneed.engine.native import build, why_not
from allyouneed.engine.native import library as library_module
from allyouneed.engine.native.build import NoCompiler, compile_variant, intact, library_name
from allyouneed.engine.native.library import Library, NoLibrary, cache_folder, find_library
from allyouneed.errors import UsageError
from allyouneed.model_folder.folder import open_model_folder

BEST = build.best_variant(build.features())


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: Library) -> Iterator[Path]:
    """An empty cache, nothing installed, and the search for a library begun anew."""
    monkeypatch.setenv("ALLYOUNEED_CACHE", str(tmp_path))
    monkeypatch.setattr(library_module, "installed_folder", lambda: tmp_path / "installed")
    find_library.cache_clear()
    yield cache_folder()
    find_library.cache_clear()


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch, library: Library) -> list[Path]:
    """Compiling takes what is compiled already; the list says what was."""
    done: list[Path] = []

    def compile_variant(variant: str, folder: Path, sources: build.Sources) -> Path:
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
    """Makes a compiler of a shell script, in which $out is the file to be written."""

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
    compiler('echo "$@" > "$out"')
    path = compile_variant("any", tmp_path / "a" / "folder")
    assert path.name == library_name("any")
    assert intact(path)
    assert sorted(path.parent.iterdir()) == [path.with_suffix(".sha256"), path]
    words = path.read_text().split()
    assert "-static-libstdc++" in words
    assert '-DVARIANT="any"' in words


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
    with pytest.raises(NoLibrary, match="no home directory for compiled files; name a folder in"):
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
    assert cache_folder() == Path(folder)
