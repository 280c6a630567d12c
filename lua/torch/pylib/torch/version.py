# SPDX-License-Identifier: MIT
"""torch.version: the release whose answers are given, as a PyTorch for the CPU
names itself."""
import _dtrepl
import re


def _key(version):
    """What orders versions: numbers, and what comes before a release last."""
    if isinstance(version, tuple):
        version = ".".join([str(x) for x in version])
    found = re.match(r"v?([0-9]+(?:\.[0-9]+)*)(?:[-_.]?(a|b|rc|dev)[a-z]*"
                     r"[-_.]?([0-9]*))?", version)
    if found is None:
        return None
    numbers = [int(x) for x in found.group(1).split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    stage = ["dev", "a", "b", "rc", None].index(found.group(2))
    return tuple(numbers), stage, int(found.group(3) or 0)


class TorchVersion(str):
    """A text that compares as a version: "2.15.0" is above "2.4"."""

    def _ordered(self, other, test, otherwise):
        mine, its = _key(self), _key(other)
        return otherwise(str(self), other) if its is None else test(mine, its)

    def __lt__(self, other):
        return self._ordered(other, lambda a, b: a < b, lambda a, b: a < b)

    def __le__(self, other):
        return self._ordered(other, lambda a, b: a <= b, lambda a, b: a <= b)

    def __gt__(self, other):
        return self._ordered(other, lambda a, b: a > b, lambda a, b: a > b)

    def __ge__(self, other):
        return self._ordered(other, lambda a, b: a >= b, lambda a, b: a >= b)

    def __hash__(self):
        return hash(str(self))


TorchVersion.__module__ = "torch.torch_version"
__version__ = TorchVersion(_dtrepl.release() + ".0+cpu")
cuda = hip = xpu = None
debug = False
