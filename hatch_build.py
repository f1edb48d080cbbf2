"""Compiles the native engine into the wheel, where there is a compiler; else the wheel is plain
Python, and the engine is compiled when it is first used, or torch runs instead."""

import importlib.util
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NATIVE = Path(__file__).parent / "src" / "allyouneed" / "engine" / "native"


class CompileEngine(BuildHookInterface):  # type: ignore[misc]  # hatchling is untyped
    """A wheel holds every variant for its processors, an editable install this one's best."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before the wheel is put together; `version` is "standard" or "editable"."""
        spec = importlib.util.spec_from_file_location("build", NATIVE / "build.py")
        assert spec
        assert spec.loader
        build = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(build)
        editable = version == "editable"
        wanted = [build.best_variant(build.features())] if editable else list(build.variants())
        compiled = NATIVE / "compiled"
        kept, current = set(), set()
        for sources in (build.ENGINE, build.KERNELS):
            current |= {build.library_name(variant, sources) for variant in build.variants()}
            try:
                paths = [
                    path
                    if build.intact(path := compiled / build.library_name(variant, sources))
                    else build.compile_variant(variant, compiled, sources)
                    for variant in wanted
                ]
            except (build.NoCompiler, OSError) as error:
                self.app.display_warning(f"the native {sources.what} is left out: {error}")
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
