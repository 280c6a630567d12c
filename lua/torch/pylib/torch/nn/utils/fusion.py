# SPDX-License-Identifier: MIT
"""torch.nn.utils.fusion: one layer that does what a layer and a batch norm
after it do in evaluation."""
import copy

import torch

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval",
           "fuse_linear_bn_weights"]


def _fused(weight, bias, dim, mean, var, eps, bn_weight, bn_bias):
    """The weight and the bias; `dim` is that of the weight's outputs."""
    scale = torch.rsqrt(var + eps)
    if bn_weight is not None:
        scale = scale * bn_weight
    shape = [1] * weight.dim()
    shape[dim] = -1
    shift = ((0 if bias is None else bias) - mean) * scale
    if bn_bias is not None:
        shift = shift + bn_bias
    return tuple(torch.nn.Parameter(t.to(weight.dtype), weight.requires_grad)
                 for t in (weight * scale.reshape(shape), shift))


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b,
                         transpose=False):
    return _fused(conv_w, conv_b, 1 if transpose else 0, bn_rm, bn_rv, bn_eps,
                  bn_w, bn_b)


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w,
                           bn_b):
    return _fused(linear_w, linear_b, 0, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def _fuse(layer, bn, weights, **more):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be "
                             "None")
    made = copy.deepcopy(layer)
    made.weight, made.bias = weights(made.weight, made.bias, bn.running_mean,
                                     bn.running_var, bn.eps, bn.weight,
                                     bn.bias, **more)
    return made


def fuse_conv_bn_eval(conv, bn, transpose=False):
    return _fuse(conv, bn, fuse_conv_bn_weights, transpose=transpose)


def fuse_linear_bn_eval(linear, bn):
    if not (linear.training or bn.training) and \
            bn.num_features not in (1, linear.out_features):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or "
            "bn.num_features == 1, got linear.out_features="
            f"{linear.out_features} and bn.num_features={bn.num_features}")
    return _fuse(linear, bn, fuse_linear_bn_weights)
