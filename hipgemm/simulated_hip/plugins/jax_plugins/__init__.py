"""JAX's plug-ins on the simulated card: those installed, and one card as the count that they read from Linux's driver.

`hipgemm simulate` puts the folder above this package on the path, so that JAX imports it in place of its namespace of
plug-ins, which this extends. The plug-in for ROCm asks JAX for the cards of /sys/class/kfd before it loads anything.
"""

from pkgutil import extend_path

from jax._src import hardware_utils

__path__ = extend_path(__path__, __name__)


def _counted(stop_at: int | None = None) -> int:
    return 1


hardware_utils.num_available_amd_gpus = _counted
