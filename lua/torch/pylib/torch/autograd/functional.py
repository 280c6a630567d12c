# SPDX-License-Identifier: MIT
"""torch.autograd.functional: derivatives of functions, by backward passes.

What needs gradients of gradients (hessian, hvp, vhp) is refused by name, and
so is create_graph.  jvp is the Jacobian times v here, not a second backward
pass: equal but for rounding.
"""
import _absent
import torch


def _refuse(name):
    raise _absent.error(
        f"torch.autograd.functional.{name} needs gradients of gradients, "
        "which are not part of dtrepl")


def _as_tuple(given, what, name):
    single = not isinstance(given, tuple)
    values = (given,) if single else given
    for i, v in enumerate(values):
        if not isinstance(v, torch.Tensor):
            which = (f"the given {what} has" if single
                     else f"the value at index {i} has")
            raise TypeError(f"The {what} given to {name} must be either a "
                            f"Tensor or a tuple of Tensors but {which} type "
                            f"{type(v)}.")
    return single, values


def _run(func, inputs, name, create_graph):
    if create_graph:
        _refuse(f"{name}(create_graph=True)")
    one_in, given = _as_tuple(inputs, "inputs", name)
    leaves = tuple(v.detach().view_as(v).requires_grad_(True) for v in given)
    with torch.enable_grad():
        made = func(*leaves)
    one_out, outputs = _as_tuple(made, "outputs of the user-provided function",
                                 name)
    return one_in, leaves, one_out, outputs


def _gradients(output, leaves, grads):
    if not output.requires_grad:
        return [torch.zeros_like(v) for v in leaves]
    found = torch.autograd.grad((output,), leaves, grads, retain_graph=True,
                                allow_unused=True)
    return [torch.zeros_like(v) if g is None else g
            for g, v in zip(found, leaves)]


def _rows(output, leaves):
    """The gradients of every element, stacked: one Jacobian per leaf."""
    rows = []
    for i in range(output.numel()):
        pick = torch.zeros_like(output).reshape(-1)
        pick[i] = 1
        rows.append(_gradients(output, leaves,
                               (pick.reshape(output.shape),)))
    return tuple(torch.stack([row[k] for row in rows]).reshape(
        output.shape + v.shape)
        for k, v in enumerate(leaves))


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False,
             strategy="reverse-mode"):
    one_in, leaves, one_out, outputs = _run(func, inputs, "jacobian",
                                            create_graph)
    found = [_rows(output, leaves) for output in outputs]
    found = tuple(row[0] if one_in else row for row in found)
    return found[0] if one_out else found


def _vector(v, like, single, name):
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the user-provided function "
                "returns a single Tensor with a single element."
                if name == "vjp" else
                "The vector v can only be None if the input to the "
                "user-provided function is a single Tensor with a single "
                "element.")
        return (torch.ones_like(like[0]),)
    values = v if isinstance(v, tuple) else (v,)
    if len(values) != len(like):
        if single:
            raise RuntimeError("The given v should contain a single Tensor.")
        raise RuntimeError(f"v is a tuple of invalid length: should be "
                           f"{len(like)} but got {len(values)}.")
    for i, (a, b) in enumerate(zip(values, like)):
        if a.shape != b.shape:
            where = "" if single else f"Entry {i} in "
            raise RuntimeError(f"{where}v has invalid size: should be "
                               f"{b.size()} but got {a.size()}.")
    return values


def _plain(outputs, single):
    out = tuple(o.detach() for o in outputs)
    return out[0] if single else out


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    one_in, leaves, one_out, outputs = _run(func, inputs, "vjp", create_graph)
    totals = [torch.zeros_like(x) for x in leaves]
    for output, weight in zip(outputs, _vector(v, outputs, one_out, "vjp")):
        for total, g in zip(totals, _gradients(output, leaves, (weight,))):
            total += g
    found = tuple(totals)
    return _plain(outputs, one_out), found[0] if one_in else found


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    one_in, leaves, one_out, outputs = _run(func, inputs, "jvp", create_graph)
    weights = _vector(v, leaves, one_in, "jvp")
    found = []
    for output in outputs:
        total = torch.zeros_like(output).detach()
        for rows, weight in zip(_rows(output, leaves), weights):
            whole = rows.reshape(output.numel(), -1) @ weight.reshape(-1)
            total = total + whole.reshape(output.shape)
        found.append(total)
    found = tuple(found)
    return _plain(outputs, one_out), found[0] if one_out else found


def hessian(func, inputs, *args, **settings):
    _refuse("hessian")


def hvp(func, inputs, *args, **settings):
    _refuse("hvp")


def vhp(func, inputs, *args, **settings):
    _refuse("vhp")
