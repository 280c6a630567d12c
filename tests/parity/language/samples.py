# SPDX-License-Identifier: MIT
# Gradients of samples, Jacobians, methods through the class, settings: what
# Python 3.11 with PyTorch 2.13 printed.
import torch, torch.nn as nn, torch.nn.functional as F
from torch.func import functional_call, grad, vmap, grad_and_value, jacrev, jacfwd
torch.manual_seed(0)
m=nn.Sequential(nn.Linear(4,5),nn.ReLU(),nn.Linear(5,3))
x=torch.randn(6,4); y=torch.randn(6,3); t=torch.tensor([0,1,2,0,1,2])
params={k:v.detach() for k,v in m.named_parameters()}
def loss(p,a,b): return ((functional_call(m,p,(a,))-b)**2).sum()
g=vmap(grad(loss),in_dims=(None,0,0))(params,x,y)
for k,v in g.items(): print(k,v.shape,v.sum(0))
def loss2(p,a,b):
    out=functional_call(m,p,(a.unsqueeze(0),))
    return F.cross_entropy(out,b.unsqueeze(0))
g,l=vmap(grad_and_value(loss2),in_dims=(None,0,0))(params,x,t)
print(l)
for k,v in g.items(): print(k,v[0])
def loss3(p,a,b): return F.mse_loss(functional_call(m,p,(a,)),b)
print({k:v[1] for k,v in vmap(grad(loss3),in_dims=(None,0,0))(params,x,y).items()})
print(vmap(m)(x).detach())
print(vmap(F.linear,in_dims=(0,0))(torch.randn(2,3,4),torch.randn(2,5,4)).shape)
print(grad(lambda a:a.sin().sum())(x[0]), grad(lambda p,a:(p['w']*a).sum())({'w':x[1]},x[0]))
print(jacrev(lambda a:a.sin()*a.sum())(x[0]), jacfwd(lambda a:a**2)(x[0]) + 0)
print(torch.Tensor.add(x[0],x[1]),torch.Tensor.relu(x[0]),torch.Tensor.sum(x,dim=1))
print(torch.fft.fftfreq(5,.5),torch.fft.rfftfreq(6),torch.is_complex(x),x.cfloat().is_complex(),torch.typename(x),torch.asarray([1,2]))
torch.set_float32_matmul_precision('high'); print(torch.get_float32_matmul_precision())
torch.use_deterministic_algorithms(True); print(torch.are_deterministic_algorithms_enabled())
print(x.new(2,3).shape,torch.is_floating_point(x),x.is_signed(),torch.numel(x))
