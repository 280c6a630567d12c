# SPDX-License-Identifier: MIT
"""torch.func: what is made of its other functions."""
import torch
from torch.func import jacfwd, jacrev, jvp


def hessian(func, argnums=0):
    return jacfwd(jacrev(func, argnums), argnums)


def stack_module_state(models):
    """The parameters and the buffers of equal models, stacked by name."""
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, "
                           "got 0.")
    if not (all(m.training for m in models)
            or all(not m.training for m in models)):
        raise RuntimeError("stack_module_state: Expected all models to have "
                           "the same training/eval mode.")
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of "
                           "the same class.")

    def stacked(kind):
        all_of = [dict(getattr(m, kind)()) for m in models]
        return {name: _stacked_leaf([of[name] for of in all_of], name)
                for name in all_of[0]}

    return stacked("named_parameters"), stacked("named_buffers")


def _stacked_leaf(tensors, name):
    wanted = {t.requires_grad for t in tensors}
    if len(wanted) > 1:
        raise RuntimeError("Expected "
                           f"{name} from each model to have the same "
                           ".requires_grad")
    out = torch.stack(tensors).detach()
    return out.requires_grad_() if wanted.pop() else out


def linearize(func, *primals):
    """func(*primals), and the function that takes tangents to its change."""
    def change(*tangents):
        return jvp(func, primals, tangents)[1]

    return func(*primals), change


def functionalize(func, *, remove="mutations"):
    """func itself: what it writes in place is not seen in its results."""
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            "functionalize(f, remove='mutations'): valid options for removal "
            'are: "mutations", "mutations_and_views", where '
            '"mutations_and_views" is more general')
    return func
