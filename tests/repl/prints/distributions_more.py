# SPDX-License-Identifier: MIT
# Distributions made of gamma functions, and distributions seen through functions.
import torch
import torch.distributions as D
from torch.distributions.beta import Beta
from torch.distributions.studentT import StudentT
from torch.distributions.transformed_distribution import \
    TransformedDistribution
from torch.distributions.transforms import (AffineTransform, ComposeTransform,
                                            ExpTransform, SigmoidTransform,
                                            TanhTransform)
from torch.distributions.utils import broadcast_all

torch.set_printoptions(precision=4)


def facts(d, value):
    print(d, tuple(d.batch_shape), tuple(d.event_shape))
    value = torch.tensor(value)
    for name in ("mean", "variance", "mode", "stddev"):
        print(" ", name, getattr(d, name))
    print("  log_prob", d.log_prob(value))
    print("  entropy", d.entropy())
    wide = d.expand((2,) + tuple(d.batch_shape))
    print("  wide", tuple(wide.batch_shape), tuple(wide.log_prob(value).shape))


facts(D.Gamma(2.0, 3.0), 0.7)
facts(D.Gamma(torch.tensor([0.5, 2.0]), torch.tensor([1.0, 4.0])), [0.2, 0.3])
print(D.Gamma(2.0, 3.0).cdf(torch.tensor(0.4)))
facts(D.Chi2(torch.tensor([3.0])), [2.0])
facts(Beta(2.0, 5.0), 0.3)
facts(Beta(torch.tensor([0.5, 3.0]), 1.5), [0.2, 0.6])
facts(D.Dirichlet(torch.tensor([2.0, 3.0, 0.5])), [0.2, 0.5, 0.3])
facts(D.Dirichlet(torch.tensor([[0.5, 0.2], [2.0, 4.0]])), [0.25, 0.75])
facts(StudentT(torch.tensor([0.5, 1.5, 4.0]), 1.0, 2.0), [0.0, 1.0, 3.0])
facts(D.Binomial(5, torch.tensor([0.25, 0.5])), [2.0, 3.0])
facts(D.Binomial(3, logits=torch.tensor([-1.0, 0.5])), [0.0, 3.0])
print(D.Binomial(3, torch.tensor([0.5, 0.1])).enumerate_support())

for wrong in (lambda: D.Gamma(-1.0, 1.0), lambda: D.Beta(0.0, 1.0),
              lambda: D.Binomial(2, probs=torch.tensor(1.5)),
              lambda: D.Dirichlet(torch.tensor(1.0)),
              lambda: D.Binomial(2),
              lambda: D.Dirichlet(torch.ones(2)).log_prob(
                  torch.tensor([0.9, 0.9])),
              lambda: D.Binomial(torch.tensor([1, 2]),
                                 torch.tensor([0.5, 0.5])).entropy(),
              lambda: D.Beta(1.0, 1.0).log_prob(torch.tensor(1.5))):
    try:
        wrong()
    except (ValueError, NotImplementedError) as e:
        print(type(e).__name__, str(e).split("\n")[0])

a = torch.tensor([1.5, 2.5], requires_grad=True)
b = torch.tensor([0.5, 2.0], requires_grad=True)
D.Beta(a, b).log_prob(torch.tensor([0.3, 0.6])).sum().backward()
D.Gamma(a, b).entropy().sum().backward()
D.StudentT(a, 0.0, b).log_prob(torch.tensor(0.5)).sum().backward()
print(a.grad, b.grad)

torch.manual_seed(0)
loc = torch.tensor([0.1, -0.4], requires_grad=True)
squashed = TransformedDistribution(D.Normal(loc, torch.tensor([0.5, 0.8])),
                                   [TanhTransform(cache_size=1)])
action = squashed.rsample()
score = squashed.log_prob(action)
print(action, score, squashed.has_rsample, tuple(squashed.batch_shape))
score.sum().backward()
print(loc.grad)
print(D.Independent(squashed, 1).log_prob(action.detach()))

logistic = TransformedDistribution(
    D.Uniform(0.0, 1.0), [SigmoidTransform().inv,
                          AffineTransform(torch.tensor([1.0, 2.0]), 0.5)])
x = torch.tensor([0.7, 2.4])
print(logistic.batch_shape, logistic.log_prob(x), logistic.cdf(x),
      logistic.icdf(torch.tensor([0.2, 0.9])))
print(logistic.sample((2,)))
down = TransformedDistribution(D.Normal(0.0, 1.0),
                               [AffineTransform(1.0, -2.0), ExpTransform()])
print(down.log_prob(torch.tensor(3.0)), down.cdf(torch.tensor(3.0)))
chain = ComposeTransform([AffineTransform(0.5, 2.0), TanhTransform()])
y = chain(torch.tensor([0.1, -0.2]))
print(y, chain.inv(y), chain.log_abs_det_jacobian(torch.tensor([0.1, -0.2]),
                                                  y))
print(TanhTransform() == TanhTransform(), ExpTransform() == TanhTransform(),
      ExpTransform(), SigmoidTransform().inv)
for wrong in (lambda: TransformedDistribution(D.Normal(0.0, 1.0), "tanh"),
              lambda: TransformedDistribution(D.Normal(0.0, 1.0), [1]),
              lambda: TransformedDistribution(
                  D.Normal(0.0, 1.0), ExpTransform()).log_prob(
                      torch.tensor(-1.0))):
    try:
        wrong()
    except ValueError as e:
        print(str(e).split("\n")[0])
print([tuple(v.shape) for v in broadcast_all(1.0, torch.ones(2, 1))])
