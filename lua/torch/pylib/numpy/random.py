# SPDX-License-Identifier: MIT
# numpy/random.py: NumPy's numbers: RandomState (MT19937, what np.random.seed
# sets) and default_rng (PCG64).  A program that sets no seed begins with seed 0
# here, so that runs can be repeated.
# Sources: numpy/random/src/{mt19937,legacy,distributions,pcg64} of NumPy 2 (what
# they give was compared); Matsumoto and Nishimura 1998; O'Neill 2014; Lemire
# 2019; Marsaglia and Tsang 2000.
import math as _math
import random as _python_random
import numpy as _np
from numpy._array import _refuse

_M32, _M64, _M128 = (1 << 32) - 1, (1 << 64) - 1, (1 << 128) - 1


def _shaped(size, draw, kind="float64"):
    if size is None:
        return draw()
    shape = (size,) if isinstance(size, int) else tuple(size)
    n = _math.prod(shape)
    return _np.array([draw() for _ in range(n)], dtype=kind).reshape(shape)


def _masked(most, next32, next64):
    """0 to `most`: words under a mask until one fits."""
    if most == 0:
        return 0
    mask, draw = (1 << most.bit_length()) - 1, next32 if most <= _M32 else next64
    while True:
        value = draw() & mask
        if value <= most:
            return value


def _shuffle(x, below):
    for i in range(len(x) - 1, 0, -1):
        j = below(i)
        if j == i:
            continue
        if isinstance(x, _np.ndarray) and x.ndim > 1:
            x[[i, j]] = x[[j, i]].copy()
        else:
            x[i], x[j] = x[j], x[i]


def _permuted(x, shuffle):
    x = _np.arange(x) if isinstance(x, int) else _np.array(x)
    order = list(range(len(x)))
    shuffle(order)
    return x[order]


def _by_weight(p, draws):
    cdf = _np.cumsum(_np.asarray(p, dtype=float))
    return _np.searchsorted(cdf / cdf[-1], draws, side="right")


def _beta(a, b, double):
    """Jöhnk's way, which NumPy takes where neither is above 1."""
    if a <= 0 or b <= 0:
        raise ValueError("a <= 0" if a <= 0 else "b <= 0")
    if a > 1 or b > 1:
        _refuse("beta with a or b above 1")
    while True:
        u, v = double(), double()
        x, y = u ** (1.0 / a), v ** (1.0 / b)
        if x + y <= 1.0 and u + v > 0.0:
            break
    if x + y > 0.0:
        return x / (x + y)
    x, y = _math.log(u) / a, _math.log(v) / b
    most = max(x, y)
    x, y = x - most, y - most
    return _math.exp(x - _math.log(_math.exp(x) + _math.exp(y)))


class RandomState:
    def __init__(self, seed=None):
        self.seed(seed)

    def seed(self, seed=None):
        if seed is None:
            seed = 0
        if not isinstance(seed, int):
            _refuse("a seed of type " + type(seed).__name__)
        if not 0 <= seed <= _M32:
            raise ValueError("Seed must be between 0 and 2**32 - 1")
        words = [seed]
        for i in range(1, 624):
            last = words[-1]
            words.append((1812433253 * (last ^ last >> 30) + i) & _M32)
        self._words = _python_random.Random()
        self._words.setstate((3, tuple(words) + (624,), None))
        self._spare = None

    def get_state(self, legacy=True):
        state = self._words.getstate()[1]
        return ("MT19937", _np.array(state[:-1], dtype=_np.uint32), state[-1],
                int(self._spare is not None), self._spare or 0.0)

    def set_state(self, state):
        words = tuple(state[1].tolist()) + (state[2],)
        self._words.setstate((3, words, None))
        self._spare = state[4] if state[3] else None

    # ---- one number ----

    def _gauss(self):
        if self._spare is not None:
            out, self._spare = self._spare, None
            return out
        r2 = 0.0
        while not 0.0 < r2 < 1.0:
            x1 = 2.0 * self._words.random() - 1.0
            x2 = 2.0 * self._words.random() - 1.0
            r2 = x1 * x1 + x2 * x2
        f = _math.sqrt(-2.0 * _math.log(r2) / r2)
        self._spare = f * x1
        return f * x2

    def _next32(self):
        return self._words.getrandbits(32)

    def _next64(self):
        return self._next32() << 32 | self._next32()

    def _below(self, most):
        return _masked(most, self._next32, self._next64)

    # ---- what programs draw ----

    def random_sample(self, size=None):
        return _shaped(size, self._words.random)

    random = random_sample

    def rand(self, *shape):
        return self.random_sample(shape or None)

    def uniform(self, low=0.0, high=1.0, size=None):
        return _shaped(size, lambda: low + (high - low) * self._words.random())

    def standard_normal(self, size=None):
        return _shaped(size, self._gauss)

    def randn(self, *shape):
        return self.standard_normal(shape or None)

    def normal(self, loc=0.0, scale=1.0, size=None):
        return _shaped(size, lambda: loc + scale * self._gauss())

    def exponential(self, scale=1.0, size=None):
        return _shaped(size, lambda: -scale * _math.log(
            1.0 - self._words.random()))

    def beta(self, a, b, size=None):
        return _shaped(size, lambda: _beta(a, b, self._words.random))

    def randint(self, low, high=None, size=None, dtype=int):
        low, high = (0, low) if high is None else (low, high)
        kind = _np.dtype(dtype)
        if kind.itemsize < 4:
            _refuse("randint of " + kind.name)
        if low >= high:
            raise ValueError("low >= high")
        return _shaped(size, lambda: low + self._below(high - 1 - low), kind)

    def shuffle(self, x):
        _shuffle(x, self._below)

    def permutation(self, x):
        return _permuted(x, self.shuffle)

    def choice(self, a, size=None, replace=True, p=None):
        n = a if isinstance(a, int) else len(a)
        if p is not None:
            if not replace:
                _refuse("choice(replace=False, p=...)")
            at = _by_weight(p, self.random_sample(size))
        elif replace:
            at = self.randint(0, n, size)
        else:
            count = 1 if size is None else size
            if not isinstance(count, int):
                count = _math.prod(count)
            if count > n:
                raise ValueError("Cannot take a larger sample than population "
                                 "when 'replace=False'")
            at = self.permutation(n)[:count]
            at = at[0] if size is None else at.reshape(size)
        return at if isinstance(a, int) else _np.asarray(a)[at]


_shared = RandomState()
seed, get_state, set_state = _shared.seed, _shared.get_state, _shared.set_state
rand, randn, randint, random_sample, random, uniform, normal = (
    _shared.rand, _shared.randn, _shared.randint, _shared.random_sample,
    _shared.random_sample, _shared.uniform, _shared.normal)
beta = _shared.beta
standard_normal, exponential, shuffle, permutation, choice = (
    _shared.standard_normal, _shared.exponential, _shared.shuffle,
    _shared.permutation, _shared.choice)


# ---- PCG64 ----

def _entropy_words(entropy):
    out = []
    while entropy or not out:
        out.append(entropy & _M32)
        entropy >>= 32
    return out


class _Hash:
    def __init__(self, constant, multiplier):
        self.constant, self.multiplier = constant, multiplier

    def mix(self, value):
        value = (value ^ self.constant) & _M32
        self.constant = self.constant * self.multiplier & _M32
        value = value * self.constant & _M32
        return value ^ value >> 16


def _mix_two(x, y):
    out = (0xca01f9dd * x - 0x4973f715 * y) & _M32
    return out ^ out >> 16


class SeedSequence:
    """Spreads the bits of a seed over a pool of four words."""

    def __init__(self, entropy=None, spawn_key=()):
        self.entropy, self.spawn_key, self._spawned = entropy or 0, spawn_key, 0
        words = _entropy_words(self.entropy)
        if spawn_key:
            words += [0] * (4 - len(words))
            for key in spawn_key:
                words += _entropy_words(key)
        one = _Hash(0x43b0d7e5, 0x931e8875)
        pool = [one.mix(words[i] if i < len(words) else 0) for i in range(4)]
        for source in range(4):
            for to in range(4):
                if source != to:
                    pool[to] = _mix_two(pool[to], one.mix(pool[source]))
        for word in words[4:]:
            for to in range(4):
                pool[to] = _mix_two(pool[to], one.mix(word))
        self.pool = pool

    def generate(self, count):
        """`count` words of 32 bits."""
        one = _Hash(0x8b51f9dd, 0x58f38ded)
        return [one.mix(self.pool[i % 4]) for i in range(count)]

    def spawn(self, count):
        first, self._spawned = self._spawned, self._spawned + count
        return [SeedSequence(self.entropy, self.spawn_key + (first + i,))
                for i in range(count)]


_STEP = 0x2360ed051fc65da44385df649fccf645


class _Pcg64:
    def __init__(self, sequence):
        words = sequence.generate(8)
        state, inc = ((words[i + 1] << 96) | (words[i] << 64)
                      | (words[i + 3] << 32) | words[i + 2] for i in (0, 4))
        self.inc = (inc << 1 | 1) & _M128
        self.state = (self.inc + state) * _STEP + self.inc & _M128
        self.half = None

    def next64(self):
        self.state = self.state * _STEP + self.inc & _M128
        turn = self.state >> 122
        value = (self.state >> 64 ^ self.state) & _M64
        return (value >> turn | value << (64 - turn)) & _M64

    def next32(self):
        if self.half is not None:
            out, self.half = self.half, None
            return out
        value = self.next64()
        self.half = value >> 32
        return value & _M32

    def double(self):
        return (self.next64() >> 11) * (1.0 / 9007199254740992.0)

    def below(self, most):
        """0 to `most`: a product's high word, drawn again where it is biased."""
        if most == 0:
            return 0
        bits, draw = (32, self.next32) if most <= _M32 else (64, self.next64)
        count, low = most + 1, (1 << bits) - 1
        if most == low:
            return draw()
        m = draw() * count
        if m & low < count:
            least = (low - most) % count
            while m & low < least:
                m = draw() * count
        return m >> bits


class Generator:
    def __init__(self, sequence):
        self._sequence, self._words = sequence, _Pcg64(sequence)

    def random(self, size=None, dtype=float):
        if _np.dtype(dtype).name != "float64":
            _refuse("Generator.random of another type than float64")
        return _shaped(size, self._words.double)

    def uniform(self, low=0.0, high=1.0, size=None):
        return _shaped(size, lambda: low + (high - low) * self._words.double())

    def beta(self, a, b, size=None):
        return _shaped(size, lambda: _beta(a, b, self._words.double))

    def integers(self, low, high=None, size=None, dtype=int, endpoint=False):
        low, high = (0, low) if high is None else (low, high)
        kind = _np.dtype(dtype)
        if kind.itemsize < 4:
            _refuse("integers of " + kind.name)
        most = high - low - (0 if endpoint else 1)
        if most < 0:
            raise ValueError("low > high" if endpoint else "low >= high")
        return _shaped(size, lambda: low + self._words.below(most), kind)

    def shuffle(self, x):
        _shuffle(x, lambda most: _masked(most, self._words.next32,
                                         self._words.next64))

    def permutation(self, x):
        return _permuted(x, self.shuffle)

    def choice(self, a, size=None, replace=True, p=None):
        if not replace:
            _refuse("Generator.choice(replace=False)")
        n = a if isinstance(a, int) else len(a)
        if p is not None:
            at = _by_weight(p, self.random(size))
        else:
            at = self.integers(0, n, size)
        return at if isinstance(a, int) else _np.asarray(a)[at]

    def spawn(self, count):
        return [Generator(s) for s in self._sequence.spawn(count)]


def default_rng(seed=None):
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, SeedSequence):
        return Generator(seed)
    if seed is not None and not isinstance(seed, int):
        _refuse("default_rng(%s)" % type(seed).__name__)
    return Generator(SeedSequence(seed))
