# SPDX-License-Identifier: MIT
"""torch.distributions: those that programs over models use; the others are
refused by name."""
import torch
from torch.distributions import constraints
from torch.distributions.distribution import Distribution
from torch.distributions.continuous import (Exponential, Laplace, LogNormal,
                                            MultivariateNormal, Normal,
                                            Uniform)
from torch.distributions.discrete import (Bernoulli, Categorical, Geometric,
                                          OneHotCategorical,
                                          OneHotCategoricalStraightThrough,
                                          Poisson)
from torch.distributions.gammas import (Beta, Binomial, Chi2, Dirichlet,
                                        Gamma, StudentT)
from torch.distributions.kl import (Independent, kl_divergence, register_kl)
from torch.distributions.transformed_distribution import \
    TransformedDistribution
from torch.distributions.transforms import (AffineTransform, ComposeTransform,
                                            ExpTransform, SigmoidTransform,
                                            TanhTransform, Transform,
                                            identity_transform)
