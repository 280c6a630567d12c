# SPDX-License-Identifier: MIT
"""torch.optim: the parameters of the optimizers, as inspect.signature shows
them; the optimizers themselves are the engine's."""


def SGD(params, lr=0.001, momentum=0, dampening=0, weight_decay=0,
        nesterov=False, *, maximize=False, foreach=None,
        differentiable=False, fused=None):
    pass


def Adam(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0,
         amsgrad=False, *, foreach=None, maximize=False, capturable=False,
         differentiable=False, fused=None, decoupled_weight_decay=False):
    pass


def AdamW(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08,
          weight_decay=0.01, amsgrad=False, *, maximize=False, foreach=None,
          capturable=False, differentiable=False, fused=None):
    pass


def Adagrad(params, lr=0.01, lr_decay=0, weight_decay=0,
            initial_accumulator_value=0, eps=1e-10, foreach=None, *,
            maximize=False, differentiable=False, fused=None):
    pass


def Adadelta(params, lr=1.0, rho=0.9, eps=1e-06, weight_decay=0,
             foreach=None, *, capturable=False, maximize=False,
             differentiable=False):
    pass


def Adamax(params, lr=0.002, betas=(0.9, 0.999), eps=1e-08, weight_decay=0,
           foreach=None, *, maximize=False, differentiable=False,
           capturable=False):
    pass


def NAdam(params, lr=0.002, betas=(0.9, 0.999), eps=1e-08, weight_decay=0,
          momentum_decay=0.004, decoupled_weight_decay=False, *,
          foreach=None, maximize=False, capturable=False,
          differentiable=False):
    pass


def RAdam(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0,
          decoupled_weight_decay=False, *, foreach=None, maximize=False,
          capturable=False, differentiable=False):
    pass


def ASGD(params, lr=0.01, lambd=0.0001, alpha=0.75, t0=1000000.0,
         weight_decay=0, foreach=None, maximize=False, differentiable=False,
         capturable=False):
    pass


def Rprop(params, lr=0.01, etas=(0.5, 1.2), step_sizes=(1e-06, 50), *,
          capturable=False, foreach=None, maximize=False,
          differentiable=False):
    pass


def RMSprop(params, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0,
            momentum=0, centered=False, capturable=False, foreach=None,
            maximize=False, differentiable=False):
    pass


def SparseAdam(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08,
               maximize=False):
    pass


def LBFGS(params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-07,
          tolerance_change=1e-09, history_size=100, line_search_fn=None, *,
          maximize=False):
    pass


def Adafactor(params, lr=0.01, beta2_decay=-0.8, eps=(None, 0.001), d=1.0,
              weight_decay=0.0, *, foreach=None, maximize=False):
    pass


def Muon(params, lr=0.001, weight_decay=0.1, momentum=0.95, nesterov=True,
         ns_coefficients=(3.4445, -4.775, 2.0315), eps=1e-07, ns_steps=5,
         adjust_lr_fn=None):
    pass
