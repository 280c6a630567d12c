# SPDX-License-Identifier: MIT
"""linecache: lines of the program's files."""
import _frames


def getlines(filename, module_globals=None):
    text = _frames.text(filename)
    if text is None:
        try:
            with open(filename) as f:
                text = f.read()
        except OSError:
            return []
    if text and not text.endswith("\n"):
        text += "\n"
    return text.splitlines(keepends=True)


def getline(filename, lineno, module_globals=None):
    lines = getlines(filename, module_globals)
    return lines[lineno - 1] if 1 <= lineno <= len(lines) else ""


def clearcache():
    pass


def checkcache(filename=None):
    pass
