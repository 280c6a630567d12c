#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""capture_signatures.py: the signatures of the PyTorch installed here against
the lines "function" and "method" of src/oplib/*.ops.

    python3 scripts/capture_signatures.py
    python3 scripts/capture_signatures.py --functional \\
        > lua/dt/functional/signatures.lua

Functions of torch with several signatures list them in their error; each is
called wrongly, without arguments or with a dozen strings, and what it lists is
printed where the texts say otherwise.  Functions with a single signature list
none and have no line.
--functional writes the signatures of the functions of torch.nn.functional
that are written in Python.
"""
import glob
import inspect
import re
import sys
import warnings

import torch


def from_texts():
    """{"add" or "Tensor.add": its signatures} of src/oplib/*.ops."""
    found, lines = {}, []
    for path in sorted(glob.glob("src/oplib/*.ops")):
        with open(path) as f:
            for line in f.read().split("\n"):
                if line.startswith(" " * 8):
                    lines[-1] += " " + line.strip()
                else:
                    lines.append(line)
    for line in lines:
        word, _, rest = line.strip().partition(" ")
        if line[:1].isalpha():
            name = rest
        elif line.startswith("  ") and word in ("function", "method"):
            key = "Tensor." + name if word == "method" else name
            found.setdefault(key, []).append(rest)
    return found


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


def show(name, lines, texts):
    if texts.pop(name, None) == lines:
        return
    base = name.removeprefix("Tensor.")
    word = "function" if base == name else "method"
    print(f"operator {base}")
    for line in lines:
        print(f"  {word} {line}")


LUA_HEAD = """-- SPDX-License-Identifier: MIT
-- dt/functional/signatures.lua: what the functions of torch.nn.functional that
-- are written in Python take: facts of PyTorch 2.13, made by
-- scripts/capture_signatures.py --functional.  Of each the name in its errors
-- and its parameters.

return {"""


def parameters(fn):
    words, star = [], False
    for p in inspect.signature(fn).parameters.values():
        if p.kind == p.KEYWORD_ONLY and not star:
            words.append("*")
            star = True
        words.append(p.name if p.default is p.empty
                     else f"{p.name}={p.default!r}")
    return words


def functional():
    import torch.nn.functional as F
    print(LUA_HEAD)
    for name in sorted(vars(F)):
        fn = getattr(F, name)
        if (name.startswith("_") or not inspect.isfunction(fn)
                or not fn.__module__.startswith(("torch.nn.functional",
                                                 "torch._jit_internal"))
                or "torch_function" in name):
            continue
        said = fn.__name__
        if list(inspect.signature(fn).parameters) == ["args", "kwargs"]:
            said = "_" + name           # by return_indices one of two
            fn = getattr(F, name + "_with_indices")
        elif fn.__module__ != "torch.nn.functional":
            continue
        words, lines = parameters(fn), [""]
        for i, word in enumerate(words):
            word += ", " * (i < len(words) - 1)
            if len(lines[-1]) + len(word) > 66:
                lines.append("")
            lines[-1] += word
        text = '"\n    .. "'.join(lines)
        print(f'  {name} = {{"{said}",\n    "{text}"}},')
    print("}")


def main():
    warnings.simplefilter("ignore")
    if "--functional" in sys.argv[1:]:
        return functional()
    names = torch._C._VariableFunctions
    texts = from_texts()
    x = torch.ones(2)
    for name in sorted(dir(torch._C.TensorBase)):
        plain = getattr(torch._C.TensorBase, name)
        if (name.startswith("_") or not callable(plain)
                or getattr(torch.Tensor, name) is not plain):
            continue
        if lines := listed(getattr(x.clone(), name)):
            show("Tensor." + name, lines, texts)
    for name in sorted(dir(names)):
        if name.startswith("_") or getattr(torch, name, None) is not getattr(
                names, name):
            continue
        if lines := listed(getattr(names, name)):
            show(name, lines, texts)
    for name in texts:
        print(f"# {name}: PyTorch lists no signatures")


if __name__ == "__main__":
    main()
