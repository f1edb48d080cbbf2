"""The wheels for other systems: one command makes them, for the oldest systems that they name."""

import importlib.util
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from allyouneed.engine.native import build

ROOT = Path(__file__).resolve().parents[2]
# What a manylinux2014 system has.
SYSTEM = {"ld-linux-x86-64.so.2", "libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2"}
ZIG = [sys.executable, "-m", "ziglang", "c++"]


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tool_knows_the_targets_of_the_build() -> None:
    pytest.importorskip("hatchling")
    tags = loaded(ROOT / "tools" / "wheels.py").TAGS
    assert set(tags) == set(loaded(ROOT / "hatch_build.py").TARGETS)


def test_a_build_asks_for_a_compiler_only_where_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("hatchling")
    hook = loaded(ROOT / "hatch_build.py")
    asked = hook.CompileEngine.dependencies
    monkeypatch.delenv("ALLYOUNEED_WHEEL", raising=False)
    monkeypatch.setenv("CXX", sys.executable)  # something that is there
    assert asked(None) == []
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert asked(None) == [hook.ZIG]
    monkeypatch.setenv("ALLYOUNEED_WHEEL", "win_amd64")
    assert asked(None) == [hook.ZIG]
    assert re.fullmatch(r"ziglang==[\d.]+", hook.ZIG)


def test_an_editable_install_compiles_the_best_variant_whatever_is_named_to_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("hatchling")
    monkeypatch.delenv("ALLYOUNEED_WHEEL", raising=False)
    monkeypatch.setenv("ALLYOUNEED_CPU", "bogus")
    hook = loaded(ROOT / "hatch_build.py")
    monkeypatch.setattr(hook, "NATIVE", tmp_path)
    monkeypatch.setattr(hook, "_build", lambda: build)
    (tmp_path / "compiled").mkdir()
    compiled: list[str] = []

    def compile_variant(variant: str, folder: Path, sources: build.Sources) -> Path:
        compiled.append(variant)
        return folder / build.library_name(variant, sources)

    monkeypatch.setattr(build, "compile_variant", compile_variant)
    hook.CompileEngine(str(ROOT), {}, None, None, "", "wheel").initialize("editable", {})
    assert compiled == [build.usable_variants(build.features())[0]] * 2


def test_an_unknown_system_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "wheels.py"), "win95"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "win95: choose from manylinux2014_x86_64" in done.stderr


UNITS = {  # of each variant, what its compiler defines
    "avx512": "__AVX512VNNI__",
    "avxvnni": "__AVXVNNI__",
    "avx2": "__AVX2__",
    "i8mm": "__ARM_FEATURE_MATMUL_INT8",
    "dotprod": "__ARM_FEATURE_DOTPROD",
}


def defined_by(compiler: list[str], variant: str, kind: str) -> set[str]:
    """The macros that tell the processor's units."""
    done = subprocess.run(
        [*compiler, *build.flags_of(variant, kind, compiler), "-E", "-dM", "-x", "c++", "-"],
        input="",
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.split()[1] for line in done.stdout.splitlines()} & {*UNITS.values(), "__AVX__"}


def test_each_variant_has_its_units_on_each_system() -> None:
    pytest.importorskip("hatchling")
    pytest.importorskip("ziglang")
    targets = loaded(ROOT / "hatch_build.py").TARGETS
    for target, kind in targets.values():
        for variant in build.variants(kind):
            found = defined_by([*ZIG, "-target", target], variant, kind)
            assert UNITS.get(variant) in {*found, None}
    assert defined_by([*ZIG, "-target", targets["win_amd64"][0]], "any", "x86_64") == set()


def test_a_compiler_from_pypi_compiles_for_every_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ziglang")
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", "")
    assert "__AVX__" not in defined_by(build.find_compiler(), "any", build.processor())


@pytest.fixture(scope="module")
def portable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The portable variant for manylinux2014, which stands for all variants."""
    pytest.importorskip("ziglang")
    compiler = [*ZIG, "-target", "x86_64-linux-gnu.2.17"]
    folder = tmp_path_factory.mktemp("portable")
    return build.compile_variant("any", folder, compiler=compiler, kind="x86_64")


@pytest.mark.slow
def test_the_linux_library_needs_no_newer_system(portable: Path) -> None:
    """manylinux2014 is glibc 2.17."""
    elffile = pytest.importorskip("elftools.elf.elffile")
    with portable.open("rb") as file:
        elf = elffile.ELFFile(file)
        needed = elf.get_section_by_name(".gnu.version_r")
        wanted = [
            (lib.name, version.name) for lib, all in needed.iter_versions() for version in all
        ]
    assert {name for name, _ in wanted} <= SYSTEM
    versions = [tuple(map(int, name.split("_")[1].split("."))) for _, name in wanted]
    assert max(versions) <= (2, 17)


@pytest.mark.slow
def test_auditwheel_agrees_with_the_tag(portable: Path, tmp_path: Path) -> None:
    """A wheel with the library alone; the tag manylinux2014 means manylinux_2_17."""
    pytest.importorskip("auditwheel")
    inside = f"allyouneed/engine/native/compiled/{portable.name}"
    wheel = tmp_path / "allyouneed-0-py3-none-manylinux2014_x86_64.whl"
    about = {
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-manylinux2014_x86_64\n",
        "METADATA": "Metadata-Version: 2.1\nName: allyouneed\nVersion: 0\n",
        "RECORD": f"{inside},,\n",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(portable, inside)
        for name, content in about.items():
            archive.writestr(f"allyouneed-0.dist-info/{name}", content)
    done = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", str(wheel)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert '"manylinux_2_17_x86_64"' in " ".join(done.stdout.split())
