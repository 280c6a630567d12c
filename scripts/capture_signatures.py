#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""capture_signatures.py: src/op/signatures.def from the PyTorch installed here.

    python3 scripts/capture_signatures.py > src/op/signatures.def

Functions of torch with several signatures list them in their error; each is
called wrongly, without arguments or with a dozen strings, and what it lists is
kept.  Functions with a single signature list none and have no row.
"""
import re
import warnings

import torch

HEAD = """/* SPDX-License-Identifier: MIT
** op/signatures.def: the signatures that functions of torch with more than one
** list in their errors, in that order: facts of PyTorch 2.13, made by
** scripts/capture_signatures.py.  X(function, signatures, each ended by '\\n');
** methods are Tensor.<name>.  Sorted by strcmp. */
"""


def listed(fn):
    for args in ([], ["?"] * 12):
        try:
            fn(*args)
        except TypeError as e:
            text = str(e)
        except Exception:
            continue
        else:
            continue
        if "but expected one of:\n" in text:
            lines = text.split("but expected one of:\n")[1].split("\n")
            return [s[3:] for s in lines if s.startswith(" * ")]
        if m := re.search(r", but expected (\(.*\))$", text):
            return [m[1]]
    return None


def show(name, lines):
    text = "\n".join(f'  "{s}\\n"' for s in
                     (s.replace('"', '\\"') for s in lines))
    print(f'X("{name}",\n{text})')


def main():
    warnings.simplefilter("ignore")
    names = torch._C._VariableFunctions
    print(HEAD, end="")
    x = torch.ones(2)
    for name in sorted(dir(torch._C.TensorBase)):
        plain = getattr(torch._C.TensorBase, name)
        if (name.startswith("_") or not callable(plain)
                or getattr(torch.Tensor, name) is not plain):
            continue
        if lines := listed(getattr(x.clone(), name)):
            show("Tensor." + name, lines)
    for name in sorted(dir(names)):
        if name.startswith("_") or getattr(torch, name, None) is not getattr(
                names, name):
            continue
        if lines := listed(getattr(names, name)):
            show(name, lines)


if __name__ == "__main__":
    main()
