# SPDX-License-Identifier: MIT
# numpy.random: RandomState's and default_rng's numbers (2.4.6).
import numpy as np
r = np.random.RandomState(42)
print(r.rand(3)); print(r.randn(5)); print(r.randint(0, 10, size=8)); print(r.permutation(7)); print(r.normal(1, 2, (2, 2)))
print(r.choice(5, 3, replace=False), r.choice([10, 20, 30], 4), r.uniform(-1, 1, 2), r.choice(3, 5, p=[.2, .3, .5]))
x = np.arange(6); r.shuffle(x); print(x); y = [1, 2, 3, 4]; r.shuffle(y); print(y)
z = np.arange(6).reshape(3, 2); r.shuffle(z); print(z); print(r.permutation(z)); print(r.randint(1 << 40, size=2), r.exponential(2.0, 2))
np.random.seed(3); print(np.random.rand(), np.random.randint(5), np.random.randn(2, 2))
s = np.random.get_state(); a = np.random.rand(2); np.random.set_state(s); print(a == np.random.rand(2))
g = np.random.default_rng(0)
print(g.random(3), g.integers(0, 10, 5), g.permutation(5), g.uniform(2, 3), g.integers(100), g.choice(4, 3))
g = np.random.default_rng(12345678901234567890123456789)
print(g.random(2), g.integers(1 << 40, size=2)); h = g.spawn(2); print(h[1].random())
w = np.arange(8); g.shuffle(w); print(w)
