"""A backend has a compiler: none of its own here, since Triton's AMD backend compiles for the simulated card, too."""

from triton.backends.amd import compiler as amd


class NoCompiler(amd.HIPBackend):
    @staticmethod
    def supports_target(target: object) -> bool:
        return False
