# SPDX-License-Identifier: MIT
# Which graphs a second backward finds freed: a number that stood for a tensor
# was saved like one.
import torch
x = torch.arange(1., 4., requires_grad=True)
for name, f in dict(
        mul=lambda: x * 2, rmul=lambda: 2 * x, div=lambda: x / 2, rdiv=lambda: 2 / x, add=lambda: x + 1, sub=lambda: 1 - x,
        true_divide=lambda: torch.true_divide(x, 2), in_place=lambda: x.clone().mul_(2), rounded=lambda: x.div(2, rounding_mode="floor"),
        rest=lambda: x % 2, neg=lambda: -x, mean=lambda: x.mean(), total=lambda: x.sum(), view=lambda: x.view(3, 1), part=lambda: x[1:],
        exp=lambda: x.exp(), cat=lambda: torch.cat([x, x]), cumsum=lambda: x.cumsum(0)).items():
    y = f().sum()
    y.backward()
    try:
        y.backward()
        print(name, "fine")
    except RuntimeError as e:
        print(name, str(e)[:60])
