# SPDX-License-Identifier: MIT
# Numbers and tensors without dims in a number's place, complex ones too; what keeps channels_last; empty indices.
import torch
a=torch.ones(2)
def q(f):
    try: print(f().tolist())
    except Exception as e: print(type(e).__name__, str(e).split("\n")[0][:120])
q(lambda: torch.add(a,a,alpha=torch.tensor(2.)))
q(lambda: torch.add(a,a,alpha=torch.tensor(2)))
q(lambda: torch.add(a,a,alpha=torch.tensor([2.])))
q(lambda: torch.add(a,a,alpha=torch.tensor(2.,requires_grad=True)))
q(lambda: torch.clamp(a,torch.tensor(2.),3))
q(lambda: torch.full((2,),torch.tensor(3.)))
q(lambda: torch.arange(torch.tensor(3)))
q(lambda: torch.linspace(torch.tensor(0.),1,3))
q(lambda: a.pow(torch.tensor(2.)))
q(lambda: torch.addmm(torch.ones(2,2),torch.ones(2,2),torch.ones(2,2),beta=torch.tensor(.5),alpha=torch.tensor(2)))
q(lambda: a.fill_(torch.tensor(3.)))
q(lambda: a.masked_fill(a>0,torch.tensor(4.)))
q(lambda: torch.addcmul(a,a,a,value=torch.tensor(.5)))
q(lambda: torch.nn.functional.leaky_relu(-a,torch.tensor(.5)))
q(lambda: torch.add(a,a,alpha=2j))
c=torch.ones(2,dtype=torch.complex64)
q(lambda: torch.add(c,c,alpha=2j)); q(lambda: torch.addmm(torch.ones(2,2,dtype=torch.complex64),torch.ones(2,2,dtype=torch.complex64),torch.ones(2,2,dtype=torch.complex64),beta=2j,alpha=1-1j)); q(lambda: torch.full((2,),1+2j)); q(lambda: c.fill_(2j)); q(lambda: c*(1+1j)); q(lambda: torch.baddbmm(torch.ones(1,2,2,dtype=torch.complex64),torch.ones(1,2,2,dtype=torch.complex64),torch.ones(1,2,2,dtype=torch.complex64),beta=2j,alpha=1-1j)); q(lambda: torch.addcmul(c,c,c,value=1j)); q(lambda: c.masked_fill(torch.tensor([True,False]),3j)); q(lambda: torch.addr(torch.ones(2,2,dtype=torch.complex64),c,c,beta=1j,alpha=2j)); q(lambda: torch.where(torch.tensor([True,False]),1j,2.0)); q(lambda: c.index_fill(0,torch.tensor([0]),1j)); q(lambda: torch.sub(c,c,alpha=1j)); q(lambda: torch.addbmm(torch.ones(2,2,dtype=torch.complex64),torch.ones(1,2,2,dtype=torch.complex64),torch.ones(1,2,2,dtype=torch.complex64),beta=2j,alpha=1-1j)); q(lambda: torch.addmv(c,torch.ones(2,2,dtype=torch.complex64),c,beta=1j,alpha=1-1j));q(lambda: torch.rsub(c,c,alpha=1j)); q(lambda: torch.eq(c,1+0j)); q(lambda: torch.scatter(c,0,torch.tensor([0]),3j)); q(lambda: c.index_add(0,torch.tensor([0]),c[:1],alpha=2j))
g=torch.Generator().manual_seed(0)
def c(*s): return torch.randn(*s,dtype=torch.complex64,generator=g)
a,b,d=c(2,3,4),c(2,4,5),c(2,3,5)
p=lambda t:["%.3f%+.3fj"%(v.real,v.imag) for v in t.flatten().tolist()[:3]]
print(p(torch.baddbmm(d,a,b,beta=2,alpha=3)), p(torch.baddbmm(d,a,b,beta=2+1j,alpha=3-1j)), p(torch.baddbmm(d[0,0],a,b,beta=0.6+0.2j,alpha=.2+0.2j)))
print(p(torch.addbmm(d[0],a,b,beta=2+1j,alpha=3-1j)), p(torch.addmm(d[0],a[0],b[0],beta=2+1j,alpha=3-1j)))
print(p(torch.addmv(d[0,:,0],a[0],b[0,:,0],beta=2+1j,alpha=3-1j)), p(torch.add(a,a,alpha=2j)), p(torch.addr(d[0],a[0,:,0],b[0,0],beta=2+1j,alpha=3-1j)))
print(p(torch.baddbmm(d,a.conj(),b,beta=2)), p(torch.baddbmm(d,a,b.mH.mH,beta=2)), p(a.conj()@b), p(torch.baddbmm(d.conj(),a,b)))
x=torch.ones(1,2,2,2).to(memory_format=torch.channels_last); print(torch.cat([x,x]).stride(), torch.cat([x,torch.ones(1,2,2,2)]).stride(), torch.cat([x,x],1).stride())
print(torch.gather(torch.ones(3),0,torch.empty(0)), torch.ones(3).scatter_add(0,torch.empty(0),torch.ones(3)), torch.allclose(torch.tensor([1+1j]),torch.tensor([1+1j])))

# Tensors of real numbers take no complex factor, and none that their type cannot hold.
for t in (torch.float32, torch.float16, torch.int32):
    def one(*s):
        return torch.ones(*s, dtype=t)
    for kw in ({"alpha": 2j}, {"beta": 2j}, {"beta": 2 + 0j}, {"beta": 0, "alpha": 1j}, {"alpha": 1e39}):
        for f, given in ((torch.addmm, ((2, 2), (2, 2), (2, 2))), (torch.addmv, ((2,), (2, 2), (2,))),
                         (torch.baddbmm, ((1, 2, 2),) * 3), (torch.addbmm, ((2, 2), (1, 2, 2), (1, 2, 2))),
                         (torch.addr, ((2, 2), (2,), (2,)))):
            try:
                print(f.__name__, t, kw, f(*[one(*s) for s in given], **kw).tolist())
            except RuntimeError as e:
                print(f.__name__, t, kw, str(e).split("\n")[0])
try:
    print(torch.ops.aten.lerp.Scalar(torch.ones(2), torch.ones(2), 2j))
except RuntimeError as e:
    print(e)
# A number that its type cannot hold: in the elements' own, or in that of the arithmetic.
ops=torch.ops.aten; F=torch.nn.functional
fits={"add":lambda x,v: torch.add(x,x,alpha=v), "rsub":lambda x,v: torch.rsub(x,1,alpha=v), "addcmul":lambda x,v: torch.addcmul(x,x,x,value=v),
 "foreach":lambda x,v: torch._foreach_add([x],[x],alpha=v)[0], "threshold":lambda x,v: torch.threshold(x,0,v), "under":lambda x,v: torch.threshold(x,v,0),
 "threshold_backward":lambda x,v: ops.threshold_backward(x,x,v), "leaky":lambda x,v: F.leaky_relu(x,v), "hardshrink":lambda x,v: F.hardshrink(x,v),
 "clamp":lambda x,v: torch.clamp_max(x,v), "index_add":lambda x,v: x.index_add(0,torch.tensor([0,1]),x,alpha=v)}
for t in (torch.float32,torch.float16,torch.int8,torch.uint8):
    for v in (1e40 if t.is_floating_point else -300,70000,float("inf") if t.is_floating_point else 3):
        for n,f in fits.items():
            if (n,v)!=("clamp",-300): print(t,v,n,end=" "); q(lambda: f(torch.ones(2).to(t),v))
for f in (ops.hardshrink_backward,ops.softshrink_backward): q(lambda: f(torch.ones(2).to(torch.int8),torch.ones(2).to(torch.int8),300))
q(lambda: ops.softplus_backward(torch.tensor([True]),torch.tensor([True]),1,20))
q(lambda: torch.ones(2).to(torch.float8_e5m2).masked_fill(torch.tensor([True,False]),1j))
q(lambda: ops.convolution(torch.ones(1,2,2).bfloat16(),torch.ones(1,2,2),None,[1],[0],[1],False,[0],1))
