#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""capture_signatures.py: the signatures of the PyTorch installed here against
the lines "function" and "method" of src/oplib/*.ops.

    python3 scripts/capture_signatures.py
    python3 scripts/capture_signatures.py --functional \\
        > lua/dt/functional/signatures.lua
    build/dtrepl -n 1 -e 'print(table.concat(require("repl.pages").calls(), "\\n"))' |
        python3 scripts/capture_signatures.py --pages > lua/repl/help/signatures.lua

Functions of torch with several signatures list them in their error; each is
called wrongly, without arguments or with a dozen strings, and what it lists is
printed where the texts say otherwise.  Functions with a single signature list
none and have no line.
--functional writes the signatures of the functions of torch.nn.functional
that are written in Python; --pages those of the names with a help page, which
it reads as lines "name, tab, how Python calls it".
"""
import glob
import importlib
import inspect
import re
import sys
import textwrap
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


PAGES_HEAD = """-- SPDX-License-Identifier: MIT
-- repl/help/signatures.lua: what names with a help page take: facts of PyTorch
-- %s, made by scripts/capture_signatures.py --pages.

return [[
"""
# Modules whose names help pages call without a prefix.
BARE = """torch.distributed.device_mesh torch.distributed.tensor
    torch.distributed.tensor.parallel torch.distributed.tensor.experimental
    torch.distributed.fsdp torch.nn.attention torch.utils.data
    torch.utils.checkpoint torch.distributed.checkpoint.state_dict
    torch.autograd torch.nn.utils.parametrize spmd_types""".split()
# What stands before the name: where its classes and functions are.
OWNERS = {
    "nn": ["torch.nn"], "F": ["torch.nn.functional"],
    "dist": ["torch.distributed"], "dcp": ["torch.distributed.checkpoint"],
    "spmd": ["spmd_types"], "mesh": ["torch.distributed.device_mesh.DeviceMesh"],
    "x": ["torch.distributed.tensor.DTensor", "torch.Tensor"],
    "module": ["torch.nn.Module", "torch.distributed.fsdp.FSDPModule"],
    "optimizer": ["torch.optim.Optimizer"], "opt": ["torch.optim.Optimizer"],
    "DTensor": ["torch.distributed.tensor.DTensor"],
    "parametrize": ["torch.nn.utils.parametrize"]}


def reached(path):
    """What a dotted path leads to, or None."""
    parts = path.split(".")
    for i in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:i]))
        except ImportError:
            continue
        for part in parts[i:]:
            found = getattr(found, part, None)
        return found


def candidates(page, head):
    word = head.split(".")[-1]
    if page.startswith("torch.") and page.endswith("." + word):
        yield page
    first, _, rest = head.partition(".")
    for owner in OWNERS.get(first, []) if rest else BARE:
        yield f"{owner}.{rest or head}"
    if head.startswith("torch."):
        yield head


def default_text(value):
    if inspect.isfunction(value) or inspect.isclass(value):
        return value.__name__
    text = re.sub(r"<(?:RedOpType|\w+)\.(\w+): [^>]*>", r"\1", repr(value))
    text = re.sub(r"^(\w+)\(\w+=[^()]*\)$", r"\1()", text)       # a dataclass
    return "..." if "<" in text else text


def takes(fn, bound):
    """Its parameters as text; None where PyTorch does not say."""
    try:
        found = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):
        return None
    if bound and found and found[0].name in ("self", "cls"):
        found = found[1:]
    kinds = [p.kind for p in found]
    if not found or kinds[0] == inspect.Parameter.VAR_POSITIONAL and len(found) < 3:
        return "" if not found else None
    words, star = [], False
    for p in found:
        if p.name.startswith("_") and p.default is not p.empty:
            continue                    # PyTorch's own business
        if p.kind == p.KEYWORD_ONLY and not star:
            words.append("*")
        star = star or p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        mark = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        words.append(mark + p.name if p.default is p.empty
                     else f"{p.name}={default_text(p.default)}")
    return ", ".join(words)


def pages():
    print(PAGES_HEAD % ".".join(torch.__version__.split(".")[:2]), end="")
    for line in sys.stdin:
        page, call = line.rstrip("\n").split("\t")
        head = re.match(r"[\w.]+(?=\()", call)
        same = head and head[0].split(".")[-1] == re.split(r"[.:]", page)[-1]
        for path in candidates(page, head[0]) if same else []:
            fn = reached(path)
            bound = not inspect.isclass(fn) and head[0].split(".")[0] in (
                "x", "module", "optimizer", "opt", "mesh")
            text = takes(fn, bound) if callable(fn) else None
            if text is not None:
                print("\n  ".join(textwrap.wrap(
                    f"{page}({text})", 78, break_long_words=False,
                    break_on_hyphens=False)))
                break
    print("]]")


def main():
    warnings.simplefilter("ignore")
    if "--pages" in sys.argv[1:]:
        return pages()
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
