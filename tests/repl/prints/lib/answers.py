# SPDX-License-Identifier: MIT
"""What a call gives, or raises, as a short text: for the programs beside this
folder, which try each operator on many inputs.  Three digits: beyond them
libraries of mathematics differ."""
import torch


def short(x):
    if isinstance(x, float):
        return "nan" if x != x else f"{x:.3g}" if abs(x) > 1e-12 else "0"
    if isinstance(x, (list, tuple)):
        return "[" + " ".join(short(v) for v in x) + "]"
    return str(x)


def answer(call):
    try:
        x = call()
    except Exception as e:
        return type(e).__name__ + ": " + str(e).split("\n")[0][:90]
    if isinstance(x, torch.Tensor):
        kind = str(x.dtype)[6:]
        return f"{kind}{list(x.shape)}{short(x.tolist())}"
    if isinstance(x, (list, tuple)):
        return "(" + " ".join(answer(lambda: v) for v in x) + ")"
    return short(x)
