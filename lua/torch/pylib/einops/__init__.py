# SPDX-License-Identifier: MIT
"""einops over tensors: shapes by names of their axes.

Every call is one chain of operators: reshape into the named axes, permute,
reduce, unsqueeze and expand for new axes, reshape into the result.
"""
import string

import torch
from einops.patterns import (ELLIPSIS, EinopsError, Pattern, REDUCTIONS,
                             sizes_of, split_pattern)

__all__ = ["rearrange", "reduce", "repeat", "parse_shape", "asnumpy",
           "EinopsError", "einsum", "pack", "unpack"]
__version__ = "0.8.2"


def _reduce_axes(x, how, axes):
    if callable(how):
        return how(x, tuple(axes))
    if how == "mean" and not (x.is_floating_point() or x.is_complex()):
        raise NotImplementedError(
            "reduce_mean is not available for non-floating tensors")
    if how in ("min", "max"):
        return getattr(x, "a" + how)(dim=tuple(axes))
    if how in ("sum", "mean"):
        return getattr(x, how)(dim=tuple(axes))
    for axis in sorted(axes, reverse=True):
        x = getattr(x, how)(dim=axis)
    return x


def _transform(x, pattern, how, lengths):
    left, right = split_pattern(pattern, how, lengths, x.ndim)
    sizes = sizes_of(left, list(x.shape), lengths)
    old = [axis for group in left for axis in group]
    new = [axis for group in right for axis in group]
    kept = [axis for axis in new if axis in old]
    gone = [axis for axis in old if axis not in new]
    if any(len(group) != 1 for group in left):
        x = x.reshape([sizes[axis] for axis in old])
    order = [old.index(axis) for axis in kept + gone]
    if order != sorted(order):
        x = x.permute(order)
    if gone:
        x = _reduce_axes(x, how, list(range(len(kept), len(old))))
    if len(kept) < len(new):
        for place, axis in enumerate(new):
            if axis not in old:
                x = torch.unsqueeze(x, place)
        x = x.expand([-1 if axis in old else sizes[axis] for axis in new])
    if any(len(group) != 1 for group in right):
        shape = []
        for group in right:
            size = 1
            for axis in group:
                size *= sizes[axis]
            shape.append(size)
        x = x.reshape(shape)
    return x


def reduce(tensor, pattern, reduction, **axes_lengths):
    is_list, shape = isinstance(tensor, list), None
    try:
        if is_list:
            if len(tensor) == 0:
                raise TypeError("Rearrange/Reduce/Repeat can't be applied to "
                                "an empty list")
            tensor = torch.stack(tensor)
        shape = tuple(tensor.shape)
        return _transform(tensor, pattern, reduction, axes_lengths)
    except EinopsError as e:
        where = f"Input tensor shape: {torch.Size(shape)}. "
        raise EinopsError(
            f' Error while processing {reduction}-reduction pattern '
            f'"{pattern}".\n {where}'
            f"Additional info: {axes_lengths}.\n {e}") from None


def rearrange(tensor, pattern, **axes_lengths):
    return reduce(tensor, pattern, "rearrange", **axes_lengths)


def repeat(tensor, pattern, **axes_lengths):
    return reduce(tensor, pattern, "repeat", **axes_lengths)


def parse_shape(x, pattern):
    parsed, shape = Pattern(pattern, skip=True), x.shape
    if any(len(group) > 1 for group in parsed.groups if group != ELLIPSIS):
        raise RuntimeError("Can't parse shape with composite axes: "
                           f"{pattern} {shape}")
    groups = parsed.groups
    if ELLIPSIS in groups:
        at, extra = groups.index(ELLIPSIS), len(shape) - len(groups) + 1
        if extra < 0:
            raise RuntimeError("Can't parse shape with this number of "
                               f"dimensions: {pattern} {shape}")
        groups = groups[:at] + [["_"]] * extra + groups[at + 1:]
    elif len(groups) != len(shape):
        raise RuntimeError("Can't parse shape with different number of "
                           f"dimensions: {pattern} {shape}")
    found = {}
    for group, size in zip(groups, shape):
        if len(group) == 0:
            if size != 1:
                raise RuntimeError(
                    f"Length of axis is not 1: {pattern} {shape}")
        elif group[0] in parsed.numbers:
            if parsed.numbers[group[0]] != size:
                raise RuntimeError("Length of anonymous axis does not match: "
                                   f"{pattern} {shape}")
        elif group[0] != "_":
            found[group[0]] = size
    return found


def asnumpy(tensor):
    return tensor.detach().cpu().numpy()


def _einsum_letters(parsed, letters, pattern, right=False):
    text = ""
    for group in parsed.groups:
        if group == ELLIPSIS:
            text += "..."
            continue
        if len(group) == 0:
            raise NotImplementedError(
                "Singleton () axes are not yet supported in einsum.")
        if len(group) > 1:
            raise NotImplementedError(
                "Shape rearrangement is not yet supported in einsum.")
        name = group[0]
        if name in parsed.numbers:
            raise NotImplementedError(
                "Anonymous axes are not yet supported in einsum.")
        if name not in letters:
            if right:
                raise EinopsError(f"Unknown axis {name} on right side of "
                                  f"einsum {pattern}.")
            if len(letters) >= len(string.ascii_letters):
                raise RuntimeError("Too many axes in einsum.")
            letters[name] = string.ascii_letters[len(letters)]
        text += letters[name]
    return text


def einsum(*tensors_and_pattern):
    if len(tensors_and_pattern) <= 1:
        raise ValueError(
            "`einops.einsum` takes at minimum two arguments: the tensors "
            "(at least one), followed by the pattern.")
    *tensors, pattern = tensors_and_pattern
    if not isinstance(pattern, str):
        raise ValueError("The last argument passed to `einops.einsum` must be "
                         "a string, representing the einsum pattern.")
    if "->" not in pattern:
        raise ValueError("Einsum pattern must contain '->'.")
    lefts, right = pattern.split("->")
    letters = {}
    text = ",".join(_einsum_letters(Pattern(part, skip=True, again=True),
                                    letters, pattern)
                    for part in lefts.split(","))
    text += "->" + _einsum_letters(Pattern(right, skip=True), letters, pattern,
                                   right=True)
    return torch.einsum(text, *tensors)


def _axes_around(pattern, name):
    axes = pattern.split()
    if len(axes) != len(set(axes)):
        raise EinopsError(f'Duplicates in axes names in {name}(..., '
                          f'"{pattern}")')
    if "*" not in axes:
        raise EinopsError(f'No *-axis in {name}(..., "{pattern}")')
    for axis in axes:
        if axis != "*":
            Pattern.check_name(
                axis, f'Invalid axis name {axis} in {name}(..., "{pattern}")')
    return axes.index("*"), len(axes) - axes.index("*") - 1


def pack(tensors, pattern):
    before, after = _axes_around(pattern, "pack")
    flat, shapes = [], []
    for i, tensor in enumerate(tensors):
        shape = tuple(tensor.shape)
        if len(shape) < before + after:
            raise EinopsError(
                f"packed tensor #{i} (enumeration starts with 0) has shape "
                f"{torch.Size(shape)}, while pattern {pattern} assumes at "
                f"least {before + after} axes")
        end = len(shape) - after
        shapes.append(torch.Size(shape[before:end]))
        flat.append(tensor.reshape((*shape[:before], -1, *shape[end:])))
    return torch.cat(flat, dim=before), shapes


def _lengths_of(tensor, packed_shapes, axis, pattern):
    lengths, unknown = [], []
    for i, shape in enumerate(packed_shapes):
        size = 1
        for one in shape:
            size *= one
        if -1 in shape:
            unknown.append(i)
            size = 0
        lengths.append(size)
    if len(unknown) > 1:
        raise EinopsError(f"unpack(..., {pattern}) received more than one -1 "
                          f"in {packed_shapes} and can't infer dimensions")
    if unknown:
        lengths[unknown[0]] = tensor.shape[axis] - sum(lengths)
    return lengths


def unpack(tensor, packed_shapes, pattern):
    before, after = _axes_around(pattern, "unpack")
    shape = tuple(tensor.shape)
    if len(shape) != before + 1 + after:
        raise EinopsError(f"unpack(..., {pattern}) received input of wrong "
                          f"dim with shape {torch.Size(shape)}")
    lengths, start, parts = _lengths_of(tensor, packed_shapes, before,
                                        pattern), 0, []
    try:
        for i, (length, own) in enumerate(zip(lengths, packed_shapes)):
            last = i == len(lengths) - 1
            end = shape[before] if last else start + length
            cut = tensor[(slice(None),) * before + (slice(start, end),)]
            parts.append(cut.reshape((*shape[:before], *own,
                                      *shape[before + 1:])))
            start = end
    except Exception as e:
        raise EinopsError(
            f'Error during unpack(..., "{pattern}"): could not split axis of '
            f"size {shape[before]} into requested {packed_shapes}") from e
    return parts
