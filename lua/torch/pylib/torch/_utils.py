# SPDX-License-Identifier: MIT
"""torch._utils: several tensors as one flat buffer, and back: views of it."""
import torch


def _flatten_dense_tensors(tensors):
    return torch.cat([t.contiguous().view(-1) for t in tensors])


def _unflatten_dense_tensors(flat, tensors):
    out, at = [], 0
    for t in tensors:
        n = t.numel()
        out.append(flat.narrow(0, at, n).view(t.shape))
        at += n
    return tuple(out)


def _take_tensors(tensors, size_limit):
    """Tensors of one dtype, in chunks of so many bytes."""
    chunks = {}
    for t in tensors:
        size = t.numel() * t.element_size()
        chunk, total = chunks.get(t.dtype, ([], 0))
        if chunk and total + size > size_limit:
            yield chunk
            chunk, total = [], 0
        chunks[t.dtype] = (chunk + [t], total + size)
    for chunk, _ in chunks.values():
        if chunk:
            yield chunk


def _get_available_device_type():
    """None: every rank computes on its CPU."""
    return None


def _get_device_module(device_type):
    module = getattr(torch, device_type, None)
    if module is None:
        raise RuntimeError(f"Device '{device_type}' does not have a corresponding "
                           f"module registered as 'torch.{device_type}'.")
    return module
