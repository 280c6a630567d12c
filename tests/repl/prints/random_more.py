# SPDX-License-Identifier: MIT
# Random numbers at the edges: layouts, types, bounds that a float type rounds,
# generators of methods, states that are none.
import torch
torch.set_printoptions(precision=4)
wide = torch.tensor([[.1, .5, .2], [.4, .3, .3], [.2, .2, .6], [.1, .1, .8]])
tall = wide.t().contiguous().t()                # the same, its columns in memory
def show(f, *a, **k):
    torch.manual_seed(7)
    try: r = f(*a, **k)
    except Exception as e: r = type(e).__name__ + ": " + str(e).split("\n")[0]
    print(r)
show(lambda: torch.zeros(3, 7).t().bernoulli_(torch.full((3,), .4)))
show(lambda: (torch.multinomial(wide, 2), torch.multinomial(tall, 2), torch.multinomial(tall, 1)))
show(lambda: torch.nn.functional.gumbel_softmax(tall))
show(lambda: torch.zeros(3, dtype=torch.complex64).normal_(.5, 2.))
show(lambda: torch.zeros(9, dtype=torch.complex128).t().normal_(-1., 2.))
for d in (torch.float32, torch.bfloat16, torch.float64):
    show(lambda: torch.zeros(4, dtype=d).random_(-10, 2**40))
    show(lambda: torch.randint(-2**30 - 1, 5, (3,), dtype=d))
show(lambda: torch.native_dropout(torch.full((6,), .4, dtype=torch.bfloat16), 0.3, True)[0])
f8, c64 = torch.float8_e4m3fn, torch.complex64
for f in (lambda t: t.exponential_(), lambda t: t.cauchy_(), lambda t: t.bernoulli_(.5), lambda t: t.normal_(), lambda t: t.uniform_()):
    for d in (torch.int8, f8, c64):
        show(lambda: f(torch.zeros(2, dtype=d)).dtype)
        show(lambda: f(torch.zeros(0, dtype=d)).shape)
show(torch.rand, 2, dtype=torch.int64)
show(torch.randn, 2, dtype=torch.int64)
show(torch.randint, 3, (2,), dtype=c64)
show(torch.randint, 3, (2,), dtype=f8)
show(torch.randint, 300, (2,), dtype=torch.uint8)
g = torch.Generator()
g.manual_seed(3)
t = torch.zeros(3)
show(lambda: t.normal_(generator=g))
show(lambda: t.uniform_(0, 2, generator=g))
show(lambda: t.random_(2, 9, generator=g))
show(lambda: torch.ones(4).multinomial(2, generator=g))
show(lambda: torch.rand_like(t, generator=g))
show(lambda: torch.nn.init.normal_(t, generator=g))
show(lambda: t.normal_(generator=None))
show(lambda: torch.rand(2, generator=g))
show(lambda: torch.set_rng_state(torch.full_like(torch.get_rng_state(), 255)))
