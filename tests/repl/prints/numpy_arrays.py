# SPDX-License-Identifier: MIT
# numpy: arrays over the engine's tensors, their types, results and texts (2.4.6).
import numpy as np
import torch
a = np.array([[1, 2, 3], [4, 5, 6]])
b = np.array([0.5, 1.5, -2.0], dtype=np.float32)
print(a, a.dtype, a.shape, a.ndim, a.size, a.T, a.nbytes)
print(repr(a), repr(b), [a[0, 1]], b[0], [b[1]], a[1], a[:, 1], a[::-1], a[:, ::-2], a[a > 2], a[[1, 0]], a[..., 0], a[None].shape)
print(a + 1, a * 2.5, a / 2, a // 2, a % 2, a ** 2, 10 - a, 1 / a, -a, a + b, (a + b).dtype, b * 2, (b * 2).dtype, b + np.float64(1), a @ a.T, a == 2, a > b)
print(a.sum(), a.sum(0), a.sum(axis=1, keepdims=True), a.mean(), a.mean(1), a.std(), b.mean(), [b.mean()], a.max(), a.argmax(), a.min(1), a.cumsum(), a.prod(), (a > 3).any(), (a > 3).all(1))
print(np.zeros((2, 2)), np.ones(3, dtype=int), np.full((2,), 7), np.arange(5), np.arange(1, 2, 0.25), np.linspace(0, 1, 5), np.eye(2))
print(np.concatenate([a, a]), np.stack([b, b], 1), np.vstack([b, b]), np.hstack([b, b]), np.split(np.arange(6), 3), np.array_split(np.arange(7), 3))
print(np.sqrt(a), np.exp(b), np.abs(b), np.log(a), np.sin(0.5), np.where(a > 2, a, 0), np.where(a > 4), np.clip(a, 2, 4), np.maximum(a, 3), np.round(np.array([1.2345, 2.5]), 2), np.floor(b))
print(np.allclose(b, b + 1e-9), np.array_equal(a, a), np.isclose(b, 0.5), np.isnan(np.array([np.nan, 1])), np.unique([3, 1, 3]), np.sort([3, 1, 2]), np.argsort([3, 1, 2]), np.median(a), np.percentile(a, 50), np.linalg.norm(b), np.dot(b, b), np.outer([1, 2], [3, 4]))
t = torch.arange(4.0)
n = t.numpy(); n[0] = 9; print(t, n, type(n), n.dtype, isinstance(n, np.ndarray))
u = torch.from_numpy(a); a[0, 0] = -1; print(u, u.dtype, torch.tensor(b), torch.as_tensor(b).dtype, torch.tensor([np.float32(1.5), 2]), torch.tensor(np.int64(3)), torch.Tensor(b))
print(isinstance(a, torch.Tensor), torch.is_tensor(a), np.float32(0.1) + 1, [np.float32(0.1) + 1], np.int64(7) // 2, [np.int64(7) / 2], np.float64(1) < 2, [np.float64(1) < 2], float(b[0]), int(a[0, 1]), f"{b[0]:.3f} {a.mean():.2f}")
print(np.dtype("float32"), repr(np.dtype(float)), np.float32, b.dtype == np.float32, a.dtype.kind, np.issubdtype(a.dtype, np.integer), np.finfo(np.float32).eps, np.iinfo(np.int32).max, np.pi)
x = np.zeros((3, 4)); x[1] = 2; x[:, 0] = [1, 2, 3]; x[x == 0] = 7; x += 1; x *= 2; print(x, x.reshape(2, 6), x.ravel()[:3], x.astype(int), x.tolist()[0], x.flatten().shape)
for row in a: print(row, len(row))
for bad in (lambda: np.array([1, 2]) + np.array([1, 2, 3]), lambda: a.reshape(4, 4), lambda: bool(a), lambda: np.array([1, 2]).__iadd__(0.5), lambda: np.split(a, 2, 1)):
    try: bad()
    except Exception as e: print(type(e).__name__, e)
print(np.mean([1, 2, 4]), np.sum([[1, 2], [3, 4]], axis=0), np.prod((2, 3)), np.max([1, 5]), np.std([1., 2.]), np.array([True, False]) & True, np.array(3), np.array([]), np.array([], dtype=np.float32), [np.array([])], np.array([[1., 2.], [3., 4.]], dtype=np.float16), np.array([1, 2.5]), [np.array([1, 2], dtype=np.uint8)])
np.testing.assert_allclose(b, b)
try: np.testing.assert_allclose(b, b + 1)
except AssertionError as e: print("differ")
print(np.random.RandomState(0).randn(2, 3).astype(np.float32), np.array([1, 2], dtype=np.uint16).astype(np.int64), sum(a[0]), max(b), sorted(b.tolist()), np.cumsum(b), np.diff(b), np.tile([1, 2], 2), np.repeat([1, 2], 2), np.expand_dims(b, 0).shape, np.transpose(a).shape, np.meshgrid([1, 2], [3, 4])[0], np.bincount([0, 1, 1]), np.einsum("ij,kj->ik", a, a))
# numbers of numpy in the functions of math, and what is left without some
import math
t = np.arange(3)
print(math.cos(np.float64(0.5)), math.sqrt(t[1]), math.factorial(t[2]), math.floor(np.float32(1.5)), math.gcd(t[2], 4))
print(np.delete(t, 1), np.delete(t, [0, -1]), np.delete(np.arange(6).reshape(2, 3), 1, axis=1), np.delete(t, slice(1, 3)), np.delete(t, np.array([0, 1])))
try:
    np.delete(t, 9)
except IndexError as e:
    print(e)
