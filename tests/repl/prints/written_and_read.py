# SPDX-License-Identifier: MIT
# What is written and read at once: refused where PyTorch refuses, else computed before it is written.
import torch
I=torch.tensor([2,1,0])
def q(n,f):
    x=torch.arange(6.)
    try: f(x); print(n, "ok", x.tolist())
    except Exception as e: print(n, type(e).__name__, str(e))
def a(x): x[I]=x[:3]
def b(x): x[x>2]=x[x>2]*2
def c(x): x[1:]=x[:-1]
def d(x): x[I]=x[I]
def e(x): x[I]+=x[:3]
def f(x): x.masked_fill_(x>1,x[0])
def g(x): x.index_fill_(0,I,x[5])
def h(x): x[I]=x[5]
def i(x): x[0]=x[5]; x[x>1]=x[0]
def j(x): x[torch.tensor([True,False]*3)]=x[:3]
def k(x): x.scatter_(0,I,x[3:].clone())
def l(x): x[[0,1]]=x[[1,0]]
def m(x): x.index_put_((x>2,),x[5],accumulate=True)
for n,v in list(globals().items()):
    if len(n)==1 and n in "abcdefghijklm": q(n,v)


def out(n, f):
    x = torch.arange(6.)
    try:
        r = f(x)
        print(n, "ok", [v.tolist() for v in (r if isinstance(r, tuple) else (r,))])
    except Exception as e:
        print(n, type(e).__name__, str(e))


def places():
    return torch.empty(0, dtype=torch.long)


out("kthvalue", lambda x: torch.kthvalue(x, 2, out=(x, places())))
out("median", lambda x: torch.median(x, 0, out=(x, places())))
for name in ("median", "nanmedian", "mode"):
    out(name + " part", lambda x: getattr(torch, name)(x.view(2, 3), 1, out=(x[:2], places())))
out("mode", lambda x: torch.mode(x, 0, out=(x, places())))
out("sort", lambda x: torch.sort(x, descending=True, out=(x, places())))
out("sort part", lambda x: torch.sort(x[:5], out=(x[1:], places())))
out("topk part", lambda x: torch.topk(x[:5], 2, out=(x[1:3], places())))
out("gather", lambda x: torch.gather(x, 0, I, out=x))
out("gather at", lambda x: (lambda i: torch.gather(torch.arange(6), 0, i[:3], out=i[1:4]))(torch.arange(6)))
out("take", lambda x: torch.take(x, I, out=x))
out("index_select", lambda x: torch.index_select(x, 0, I, out=x))
out("masked_select", lambda x: torch.masked_select(x, x > 2, out=x))
out("cat", lambda x: torch.cat([x[:3], x[3:]], out=x))
out("cat part", lambda x: torch.cat([x[:2], x[2:4]], out=x[1:5]))
out("nonzero", lambda x: (lambda i: torch.nonzero(i, out=i))(torch.arange(6)))
out("cumsum", lambda x: torch.cumsum(x, 0, out=x))
out("cumsum part", lambda x: torch.cumsum(x[:5], 0, out=x[1:]))
out("diag", lambda x: torch.diag(x[:2], out=x))
out("scatter_", lambda x: x.scatter_(0, I, x[:3]))
out("scatter_add_", lambda x: x.scatter_add_(0, I, x[:3]))
out("index_copy_", lambda x: x.index_copy_(0, I, x[3:]))
out("index_add_", lambda x: x.index_add_(0, I, x[1:4]))
out("put_", lambda x: x.put_(I, x[:3]))
out("scatter out", lambda x: torch.scatter(x, 0, I, torch.ones(3), out=x))
out("index_add out", lambda x: torch.index_add(x, 0, I, torch.ones(3), out=x))
