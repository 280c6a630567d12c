# SPDX-License-Identifier: MIT
"""os: the class of objects that are paths."""


class PathLike:
    """Its subclasses give a text by __fspath__; pathlib's paths are some."""

    def __fspath__(self):
        raise NotImplementedError
