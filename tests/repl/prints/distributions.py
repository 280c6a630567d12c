# SPDX-License-Identifier: MIT
# torch.distributions: numbers, shapes, texts of what is refused.
import torch
import torch.distributions as D
from torch.distributions.categorical import Categorical
from torch.distributions import Normal, kl_divergence
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, str(e))
torch.manual_seed(0)
L = torch.tensor([[1., 2., 3.], [0., 0.5, 0.]])
v = torch.tensor([0.3, 1.2])
for d in (Normal(0., 1.), Normal(torch.zeros(2), torch.tensor([1., 2.])), D.Uniform(0., 2.), D.Uniform(torch.zeros(2), 3.), D.Exponential(torch.tensor([1., 2.])), D.Laplace(torch.zeros(2), 1.), D.LogNormal(0., torch.ones(2)), D.Independent(Normal(torch.zeros(2), torch.ones(2)), 1)):
    print(d, d.batch_shape, d.event_shape, d.mean, d.variance, d.stddev, d.has_rsample)
    print(d.sample(), d.rsample((2,)), d.sample(torch.Size([1, 2])).shape)
    print(d.log_prob(v), d.entropy())
    t(lambda: d.mode); t(lambda: d.cdf(v)); t(lambda: d.icdf(torch.tensor([0.2, 0.7])))
    t(lambda: d.expand((3, 2)).batch_shape)
for d in (Categorical(logits=L), Categorical(probs=torch.tensor([0.2, 0.8])), D.OneHotCategorical(logits=L)):
    print(d, d.probs, d.logits, d.sample((2,)), d.entropy(), d.batch_shape, d.event_shape, d.mode, d.mean.shape)
    t(lambda: d.log_prob(d.sample())); t(lambda: d.perplexity()); t(lambda: d.enumerate_support().shape)
for d in (D.Bernoulli(0.3), D.Bernoulli(logits=torch.tensor([0.1, -1.])), D.Geometric(torch.tensor([0.5, 0.2])), D.Poisson(torch.tensor([2., 5.]))):
    print(d, d.sample((3,)), d.log_prob(torch.tensor([1., 0.])), d.mean, d.variance)
    t(lambda: d.entropy()); t(lambda: d.mode)
m = D.MultivariateNormal(torch.zeros(2), torch.tensor([[2., 0.5], [0.5, 1.]]))
print(m, m.sample((2,)), m.log_prob(torch.ones(2)), m.entropy(), m.scale_tril, m.precision_matrix, m.variance)
m2 = D.MultivariateNormal(torch.ones(2), scale_tril=torch.eye(2)); print(kl_divergence(m, m2), m2.covariance_matrix)
print(kl_divergence(Normal(0., 1.), Normal(1., 2.)), kl_divergence(Categorical(logits=L), Categorical(logits=L.flip(0))), kl_divergence(D.Bernoulli(0.2), D.Bernoulli(0.5)))
t(lambda: Normal(0., -1.)); t(lambda: Normal(torch.tensor([float("nan")]), 1.)); t(lambda: Categorical()); t(lambda: D.Bernoulli(1.5)); t(lambda: D.Uniform(2., 1.)); t(lambda: D.Bernoulli(0.2).log_prob(torch.tensor(0.5))); t(lambda: Normal(torch.zeros(2), 1.).log_prob(torch.zeros(3))); t(lambda: Normal(0., 1.).log_prob(1.)); t(lambda: D.Uniform(0., 1.).log_prob(torch.tensor(2.))); t(lambda: Categorical(logits=L).log_prob(torch.tensor(5)))
mu = torch.zeros(2, requires_grad=True); s = torch.ones(2, requires_grad=True)
x = Normal(mu, s).rsample((4,)); x.sum().backward(); print(mu.grad, s.grad.shape)
lo = torch.zeros(3, requires_grad=True); c = Categorical(logits=lo); (-c.log_prob(torch.tensor(1)) - 0.1 * c.entropy()).backward(); print(lo.grad)
print(D.Normal(0., 1., validate_args=False).log_prob(0.5 * torch.ones(1)), isinstance(c, D.Distribution), type(c).__name__)
