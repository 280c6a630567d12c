# SPDX-License-Identifier: MIT
# torch.autograd.gradcheck: right gradients, wrong ones, and bad inputs.
import torch
from torch.autograd import gradcheck
from torch.autograd.gradcheck import GradcheckError

torch.manual_seed(0)
x = torch.randn(3, 4, dtype=torch.double, requires_grad=True)
w = torch.randn(4, 2, dtype=torch.double, requires_grad=True)
print(gradcheck(lambda a, b: (a @ b).tanh(), (x, w)))
print(torch.autograd.gradcheck(lambda a: (a * 2, a.exp()), x))


class Half(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * a

    @staticmethod
    def backward(ctx, g):
        a, = ctx.saved_tensors
        return g * a


try:
    gradcheck(Half.apply, (x,))
except GradcheckError as e:
    print(str(e).split("\n")[0])
print(gradcheck(Half.apply, (x,), raise_exception=False))
try:
    gradcheck(lambda a: a * 2, (x.detach(),))
except ValueError as e:
    print(e)
print(gradcheck(torch.nn.Linear(4, 2).double(), (x,), eps=1e-6, atol=1e-4))


# A graph that was cut: the function moves, its gradient does not.
ones = torch.ones(2, dtype=torch.double, requires_grad=True)
for cut in (lambda a: a.detach() * 2, lambda a: a.detach() * 0,
            lambda a: (a * 2, a.detach() * 2)):
    print(gradcheck(cut, (ones,), raise_exception=False))
try:
    gradcheck(lambda a: a.detach() * 2, (ones,))
except GradcheckError as error:
    print(error)
