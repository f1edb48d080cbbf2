"""Compiles the native engine into the wheel.

Where no compiler is found, the build asks for `ziglang` from PyPI, which is one; pip ends with an
error if it cannot fetch that. Where the compiler fails, the wheel is plain Python: the engine is
then compiled when it is first used, or torch runs instead.
`tools/wheels.py` makes wheels for other systems by naming one in $ALLYOUNEED_WHEEL.
"""

import importlib.util
import os
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NATIVE = Path(__file__).parent / "src" / "allyouneed" / "engine" / "native"
INSIDE = "allyouneed/engine/native/compiled"
AT_ONCE = min(4, os.cpu_count() or 1)  # compilers; each takes up to 0.8 GB of memory
ZIG = "ziglang==0.17.1"  # makes the wheels for other systems; compiles where nothing else does
TARGETS = {  # of $ALLYOUNEED_WHEEL, which is the wheel's tag: zig's target and kind of processor
    "manylinux2014_x86_64": ("x86_64-linux-gnu.2.17", "x86_64"),
    "manylinux2014_aarch64": ("aarch64-linux-gnu.2.17", "arm64"),
    "macosx_11_0_arm64": ("aarch64-macos.11.0", "arm64"),
    "macosx_10_15_x86_64": ("x86_64-macos.10.15", "x86_64"),
    "win_amd64": ("x86_64-windows-gnu", "x86_64"),
}


class CompileEngine(BuildHookInterface):  # type: ignore[misc]  # hatchling is untyped
    """A wheel holds every variant for its processors, an editable install this one's best."""

    def dependencies(self) -> list[str]:
        """What the build needs beside hatchling: a compiler, if this system has none."""
        build = _build()
        try:
            build.find_compiler()
        except build.NoCompiler:
            return [ZIG]
        return [ZIG] if os.environ.get("ALLYOUNEED_WHEEL") else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before the wheel is put together; `version` is "standard" or "editable"."""
        if tag := os.environ.get("ALLYOUNEED_WHEEL"):
            self._for_another_system(tag, build_data)
        else:
            self._for_this_system(version == "editable", build_data)

    def _for_another_system(self, tag: str, build_data: dict[str, Any]) -> None:
        """The engine in all variants; the kernels of training share torch's OpenMP and are
        compiled by those who train."""
        build = _build()
        target, kind = TARGETS[tag]
        folder = Path(self.root) / "build" / "wheels" / tag
        compiler = [sys.executable, "-m", "ziglang", "c++", "-target", target]

        def library(variant: str) -> Path:
            path = folder / build.library_name(variant, kind=kind)
            if build.intact(path):
                return path
            return build.compile_variant(variant, folder, compiler=compiler, kind=kind)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            for path in pool.map(library, build.variants(kind)):
                for one in (path, path.with_suffix(".sha256")):
                    build_data["force_include"][str(one)] = f"{INSIDE}/{one.name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag}"

    def _for_this_system(self, editable: bool, build_data: dict[str, Any]) -> None:
        build = _build()
        wanted = list(build.variants())
        if editable:
            wanted = build.usable_variants(build.features())[:1]
        compiled = NATIVE / "compiled"

        def library(variant: str, sources: Any) -> Path:
            path = compiled / build.library_name(variant, sources)
            if build.intact(path):
                return path
            return build.compile_variant(variant, compiled, sources)

        kinds = (build.ENGINE, build.KERNELS)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            jobs = [[pool.submit(library, one, sources) for one in wanted] for sources in kinds]
        kept, current = set(), set()
        for sources, waited in zip(kinds, jobs, strict=True):
            current |= {build.library_name(variant, sources) for variant in build.variants()}
            try:
                paths = [job.result() for job in waited]
            except (build.NoCompiler, OSError) as error:
                self.app.display_warning(
                    f"the native {sources.what} is left out: {error}; without it, "
                    "pip install 'allyouneed[torch]' or a wheel is the way"
                )
                continue
            kept |= {path.with_suffix(end) for path in paths for end in (".so", ".sha256")}
        for path in compiled.iterdir() if kept else ():
            if path.with_suffix(".so").name not in current:
                path.unlink()  # of other sources
        if not editable and kept:
            build_data["artifacts"] += [f"/{path.relative_to(self.root)}" for path in kept]
            build_data["pure_python"] = False
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["tag"] = f"py3-none-{platform}"


def _build() -> ModuleType:
    """engine/native/build.py, which needs nothing of the package."""
    spec = importlib.util.spec_from_file_location("build", NATIVE / "build.py")
    assert spec
    assert spec.loader
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    return build
