# SPDX-License-Identifier: MIT
"""torch.autograd.functional: derivatives of functions, by backward passes.

jvp is the Jacobian times v here, not a second backward pass, and both products
with a Hessian are the gradient of the gradient times v: equal but for rounding.
"""
import torch


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
    one_in, given = _as_tuple(inputs, "inputs", name)
    leaves = tuple(
        v.view_as(v) if create_graph and v.requires_grad
        else v.detach().view_as(v).requires_grad_(True) for v in given)
    with torch.enable_grad():
        made = func(*leaves)
    one_out, outputs = _as_tuple(made, "outputs of the user-provided function",
                                 name)
    return one_in, leaves, one_out, outputs


def _gradients(output, leaves, grads, create_graph=False):
    if not output.requires_grad:
        return [torch.zeros_like(v) for v in leaves]
    found = torch.autograd.grad((output,), leaves, grads, retain_graph=True,
                                create_graph=create_graph, allow_unused=True)
    return [torch.zeros_like(v) if g is None else g
            for g, v in zip(found, leaves)]


def _rows(output, leaves, create_graph=False):
    """The gradients of every element, stacked: one Jacobian per leaf."""
    rows = []
    for i in range(output.numel()):
        pick = torch.zeros_like(output).reshape(-1)
        pick[i] = 1
        rows.append(_gradients(output, leaves,
                               (pick.reshape(output.shape),), create_graph))
    return tuple(torch.stack([row[k] for row in rows]).reshape(
        output.shape + v.shape)
        for k, v in enumerate(leaves))


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False,
             strategy="reverse-mode"):
    one_in, leaves, one_out, outputs = _run(func, inputs, "jacobian",
                                            create_graph)
    found = [_rows(output, leaves, create_graph) for output in outputs]
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


def _plain(outputs, single, create_graph=False):
    out = tuple(outputs if create_graph else (o.detach() for o in outputs))
    return out[0] if single else out


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    one_in, leaves, one_out, outputs = _run(func, inputs, "vjp", create_graph)
    totals = [torch.zeros_like(x) for x in leaves]
    for output, weight in zip(outputs, _vector(v, outputs, one_out, "vjp")):
        more = _gradients(output, leaves, (weight,), create_graph)
        totals = [total + g for total, g in zip(totals, more)]
    found = tuple(totals)
    return (_plain(outputs, one_out, create_graph),
            found[0] if one_in else found)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    one_in, leaves, one_out, outputs = _run(func, inputs, "jvp", create_graph)
    weights = _vector(v, leaves, one_in, "jvp")
    found = []
    for output in outputs:
        total = torch.zeros_like(output).detach()
        for rows, weight in zip(_rows(output, leaves, create_graph), weights):
            whole = rows.reshape(output.numel(), -1) @ weight.reshape(-1)
            total = total + whole.reshape(output.shape)
        found.append(total)
    found = tuple(found)
    return (_plain(outputs, one_out, create_graph),
            found[0] if one_out else found)


def _one_number(outputs, single, name):
    if not single:
        raise RuntimeError(f"The function given to {name} should return a "
                           "single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to "
                           f"{name} should contain a single element")
    return outputs[0]


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False,
            outer_jacobian_strategy="reverse-mode"):
    one_in, given = _as_tuple(inputs, "inputs", "hessian")

    def slope(*leaves):
        made = func(*leaves)
        single, outputs = _as_tuple(
            made, "outputs of the user-provided function", "hessian")
        _one_number(outputs, single, "hessian")
        rows = jacobian(func, leaves, create_graph=True)
        return tuple(row.reshape(v.shape) for row, v in zip(rows, leaves))

    found = jacobian(slope, given, create_graph=create_graph)
    return found[0][0] if one_in else found


def _hessian_times(func, inputs, v, create_graph, name):
    one_in, leaves, one_out, outputs = _run(func, inputs, name, create_graph)
    weights = _vector(v, leaves, one_in, name)
    output = _one_number(outputs, one_out, name)
    slopes = _gradients(output, leaves, None, True)
    total = sum((slope * weight).sum()
                for slope, weight in zip(slopes, weights))
    found = tuple(_gradients(total, leaves, None, create_graph))
    return (_plain(outputs, one_out, create_graph),
            found[0] if one_in else found)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    return _hessian_times(func, inputs, v, create_graph, "hvp")


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    return _hessian_times(func, inputs, v, create_graph, "vhp")
