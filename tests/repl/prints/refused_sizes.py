# SPDX-License-Identifier: MIT
# Sizes that pooling, convolution, norms and losses refuse; scatter_reduce_ in place.
import torch, torch.nn.functional as F
def q(n,f):
    try: r=f(); print(n,"ok")
    except Exception as e: print(n, type(e).__name__, str(e).split("\n")[0][:230])
r=torch.ones
q("grad", lambda: torch.gradient(r(3,3),spacing=[.1],dim=[1,0]))
q("aap2", lambda: F.adaptive_avg_pool2d(r(2,2),(1,1)))
q("aap2i", lambda: F.adaptive_avg_pool2d(r(2,2),1))
q("aap3", lambda: F.adaptive_avg_pool3d(r(2,2,2),(1,1,1)))
q("amp2", lambda: F.adaptive_max_pool2d(r(2,2),(1,1)))
q("amp2e", lambda: F.adaptive_max_pool2d(r(1,2,3,4),()))
q("amp3", lambda: F.adaptive_max_pool3d(r(2,2,2),(1,1,1)))
q("amp3e", lambda: F.adaptive_max_pool3d(r(1,2,3,4,5),()))
q("amp1e", lambda: F.adaptive_max_pool1d(r(1,2,3),()))
q("conv2", lambda: F.conv2d(r(1,1,4,3),r(1,2,2),r(1),padding="same"))
q("conv3", lambda: F.conv3d(r(1,1,3,4,5),r(1,1,4,3),r(1),padding="same"))
q("gn0", lambda: F.group_norm(r(1,0,2),1))
q("gnh", lambda: F.group_norm(r(1,2,0),1))
q("rms0", lambda: F.rms_norm(r(2,3),[]))
q("hardtanh", lambda: F.hardtanh(r(1),.5,-.5))
q("narrow_copy", lambda: torch.narrow_copy(r(10),0,0,-1))
q("narrow", lambda: torch.narrow(r(10),0,0,-1))
for a in ((0,-1,-2),(-1,3,-1),(0,3,-1),(-3,0,-1),(1,-4,-1),(1,2,2),(1,-1,2),(0,2,0)): q(f"narrow_copy {a}", lambda: torch.narrow_copy(r(2,3),*a))
for s in ([.1,.2,.3],[1],[]): q(f"grad {s}", lambda: torch.gradient(r(3,3),spacing=s))
for a in ((2147483647,2147483647,0,2147483647,True),(2147483647,2147483647,0,2147483646,True),(2147483697,2147483697,0,2147483697,True),(9223372036854775807,9223372036854775807),(8608480567731124087,8608480567731124087,1000,1250999896764,True),(5,5),(100,1)):
    q("mp1 %s"%(a,), lambda: F.max_pool1d(r(2,10,4),*a))
q("mp3a", lambda: F.max_pool3d(r(0,1,2,10),1))
q("mp3b", lambda: F.max_pool3d(r(2,1,0,1,2),1))
q("unpool3", lambda: F.max_unpool3d(r(1,1,2,2,2),r(1,1,2,2,2),2))
q("tri1", lambda: F.triplet_margin_loss(r(3),r(3,4),r(3,4)))
q("tri2", lambda: F.triplet_margin_loss(r(3,4),r(4),r(3,4)))
q("tri3", lambda: F.triplet_margin_loss(r(3,4),r(3,4),r(4)))
q("aminmax", lambda: torch.aminmax(r(5,0,5),dim=1))
q("sum", lambda: torch.Tensor.sum(1))
q("add", lambda: torch.Tensor.add("a",1))
for red in ("sum","prod","mean","amax","amin"):
    for inc in (True,False):
        x=torch.arange(1.,7.).requires_grad_(); s=torch.tensor([2.,5.,3.]).requires_grad_()
        y=(x*2); y.scatter_reduce_(0,torch.tensor([0,0,3]),s*1.5,red,include_self=inc)
        y.pow(2).sum().backward()
        print(red,inc,y.tolist(),x.grad.tolist(),s.grad.tolist())
# nuclear_norm, and the dims that a norm of matrices refuses.
for f in (lambda: torch.nuclear_norm(torch.eye(3)*2), lambda: torch.nuclear_norm(torch.eye(2),True), lambda: torch.nuclear_norm(torch.ones(2,1,2),(0,2)).shape,
          lambda: torch.nuclear_norm(torch.ones(3)), lambda: torch.nuclear_norm(torch.ones(2,3),(0,)), lambda: torch.nuclear_norm(torch.ones(2,3).long()),
          lambda: torch.nuclear_norm(torch.ones(2,3),(0,0)), lambda: torch.linalg.matrix_norm(torch.ones(2,3,4),dim=(0,1,2)), lambda: torch.linalg.matrix_norm(torch.ones(2,3),dim=())):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
