# SPDX-License-Identifier: MIT
"""torch.autograd.gradcheck: gradients of a function against differences.

Every element of every input is moved by eps to both sides (the slow mode; the
fast mode's random directions give the same answer with other words).
gradgradcheck is that of the function that gives the gradients.  Complex
numbers are refused.
"""
import _absent
import torch


class GradcheckError(RuntimeError):
    """The gradients differ."""
    __module__ = "torch.autograd.gradcheck"


def _tuple_of(made):
    return (made,) if isinstance(made, torch.Tensor) else tuple(made)


def _check_inputs(inputs):
    checked = False
    for i, x in enumerate(inputs):
        if not (isinstance(x, torch.Tensor) and x.requires_grad):
            continue
        if x.is_complex():
            raise _absent.error("torch.autograd.gradcheck of complex "
                                "tensors is not part of dtrepl")
        if x.dtype is not torch.float64:
            import warnings
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision "
                "floating point or complex. This check will likely fail if all "
                "the inputs are not of double precision floating point or "
                "complex. ")
        x.retain_grad()
        checked = True
    if not checked:
        raise ValueError("gradcheck expects at least one input tensor to "
                         "require gradient, but none of them have "
                         "requires_grad=True.")


def _outputs_of(func, inputs):
    return [y for y in _tuple_of(func(*inputs)) if isinstance(y, torch.Tensor)
            and y.is_floating_point()]


def _numerical(func, inputs, at, k, eps):
    """d outputs[k] / d inputs[at]: one row for each element of the input."""
    flat = inputs[at].detach().clone()
    rows = torch.zeros(flat.numel(), 0, dtype=flat.dtype)
    columns = []
    given = list(inputs)
    for i in range(flat.numel()):
        made = []
        for step in (-eps, eps):
            moved = flat.clone()
            moved.view(-1)[i] += step
            given[at] = moved
            with torch.no_grad():
                made.append(_outputs_of(func, given)[k].reshape(-1).clone())
        columns.append((made[1] - made[0]) / (2 * eps))
    return torch.stack(columns) if columns else rows


def _analytical(output, x):
    flat = output.reshape(-1)
    columns = []
    for j in range(flat.numel()):
        pick = torch.zeros_like(flat)
        pick[j] = 1
        grad, = torch.autograd.grad((output,), (x,),
                                    (pick.reshape(output.shape),),
                                    retain_graph=True, allow_unused=True)
        columns.append(torch.zeros(x.numel(), dtype=output.dtype)
                       if grad is None else grad.reshape(-1))
    return torch.stack(columns, 1) if columns \
        else torch.zeros(x.numel(), 0, dtype=output.dtype)


def _mismatch(analytical, numerical, k, at):
    return GradcheckError(
        f"Jacobian mismatch for output {k} with respect to input {at},\n"
        f"numerical:{numerical}\nanalytical:{analytical}\n")


def _check(func, inputs, eps, atol, rtol):
    outputs = _outputs_of(func, inputs)
    leaves = [(at, x) for at, x in enumerate(inputs)
              if isinstance(x, torch.Tensor) and x.requires_grad]
    constant = not any(output.requires_grad for output in outputs)
    for k, output in enumerate(outputs):
        if not output.requires_grad and not constant:
            continue
        for at, x in leaves:
            numerical = _numerical(func, inputs, at, k, eps)
            if constant:                # a graph was cut, or there is none
                if torch.any(numerical != 0):
                    raise GradcheckError("Numerical gradient for function "
                                         "expected to be zero")
                continue
            analytical = _analytical(output, x)
            if not torch.allclose(analytical, numerical.to(analytical.dtype),
                                  rtol, atol):
                raise _mismatch(analytical, numerical, k, at)


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3,
              raise_exception=True, nondet_tol=0.0,
              check_undefined_grad=True, check_grad_dtypes=False,
              check_batched_grad=False, check_batched_forward_grad=False,
              check_forward_ad=False, check_backward_ad=True,
              fast_mode=False, masked=None):
    if check_forward_ad or check_batched_grad or check_batched_forward_grad:
        raise _absent.error("torch.autograd.gradcheck with forward mode "
                            "or batched gradients is not part of dtrepl")
    inputs = _tuple_of(inputs)
    try:
        _check_inputs(inputs)
        _check(func, inputs, eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _first_gradients(func, wanted, n):
    """A function of func's inputs and of n gradients of its outputs that
    gives the inputs' gradients, as a graph."""
    def gradients(*given):
        given = [x.detach().requires_grad_()
                 if of is not None and not x.requires_grad else x
                 for x, of in zip(given, wanted)]
        with torch.enable_grad():
            outputs = [y for y in _outputs_of(func, given[:-n])
                       if y.requires_grad]
            leaves = [x for x in given[:-n] if isinstance(x, torch.Tensor)
                      and x.requires_grad]
            grads = torch.autograd.grad(outputs, leaves, given[-n:],
                                        create_graph=True, allow_unused=True)
        return tuple(g for g in grads if g is not None)
    return gradients


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5,
                  rtol=1e-3, gen_non_contig_grad_outputs=False,
                  raise_exception=True, nondet_tol=0.0,
                  check_undefined_grad=True, check_grad_dtypes=False,
                  check_batched_grad=False, check_fwd_over_rev=False,
                  check_rev_over_rev=True, fast_mode=False, masked=False):
    """gradcheck of the function that gives func's gradients.  What the
    gradients of its outputs are is drawn between -1 and 1."""
    if check_fwd_over_rev or gen_non_contig_grad_outputs:
        raise _absent.error("torch.autograd.gradgradcheck with forward mode "
                            "or gaps in memory is not part of dtrepl")
    inputs = _tuple_of(inputs)
    outputs = [y for y in _outputs_of(func, inputs) if y.requires_grad]
    if not outputs:
        raise GradcheckError("gradgradcheck expects at least one output that "
                             "requires a gradient")
    if grad_outputs is None:
        grad_outputs = tuple(
            torch.testing.make_tensor(y.shape, dtype=y.dtype, device=y.device,
                                      low=-1, high=1).requires_grad_()
            for y in outputs)
    given = inputs + _tuple_of(grad_outputs)
    wanted = [x if isinstance(x, torch.Tensor) and x.requires_grad else None
              for x in given]
    return gradcheck(_first_gradients(func, wanted, len(outputs)), given,
                     eps=eps, atol=atol, rtol=rtol,
                     raise_exception=raise_exception)
