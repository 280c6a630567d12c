# SPDX-License-Identifier: MIT
# Modules and functions of torch.nn that are one function, and lists of tensors.
import torch
from torch import nn
import torch.nn.functional as F
def fill(*s, k=1.7, o=0.3):
    n=1
    for d in s: n*=d
    return torch.sin(torch.arange(n).float()*k+o).reshape(s)*1.5
def setp(m):
    i=0
    with torch.no_grad():
        for p in m.parameters():
            i+=1
            p.copy_(fill(*p.shape,k=0.37*i+0.11,o=0.2*i)*0.4)
    return m
def rnd(l):
    if isinstance(l,(list,tuple)): return [rnd(v) for v in l]
    return round(l,3)+0.0 if isinstance(l,float) else l
def show(r):
    if isinstance(r,torch.Tensor): return rnd(r.tolist())
    if isinstance(r,(list,tuple)): return [show(v) for v in r]
    return r
def t(name,f):
    try:
        r=f()
        print(name, show(r))
    except Exception as e: print(name, type(e).__name__, str(e).split('\n')[0])
x=fill(3,4)
for m in [nn.Threshold(0.1,20),nn.Threshold(0.1,20.0,True),nn.ReLU(),nn.ReLU(True),nn.ReLU6(),nn.RReLU(),nn.Hardtanh(),nn.Hardtanh(-2,2),nn.Sigmoid(),nn.Hardsigmoid(),nn.Tanh(),nn.SiLU(inplace=True),nn.Mish(),nn.Hardswish(),nn.ELU(),nn.ELU(0.5,True),nn.CELU(2),nn.SELU(),nn.GLU(),nn.GELU('tanh'),nn.Hardshrink(),nn.LeakyReLU(0.2),nn.LeakyReLU(0.2,inplace=True),nn.LogSigmoid(),nn.Softplus(),nn.Softshrink(),nn.Softsign(),nn.Tanhshrink(),nn.Softmin(1),nn.Softmax(dim=1),nn.LogSoftmax(1),nn.PReLU(),nn.Dropout(0.3),nn.Dropout(0),nn.AlphaDropout(0.2),nn.Softmax(), nn.Dropout2d()]:
    m.eval()
    t(str(m), lambda: m(x.clone()))
for n,a in [("ELU",(1,2,3,4)),("Threshold",()),("Threshold",(1,)),("Hardtanh",(2,1)),("Dropout",(2,)),("MultiMarginLoss",(3,))]:
    t(n,lambda: getattr(nn,n)(*a))
t('kw',lambda: nn.ELU(foo=1))
t('F.kw',lambda: F.leaky_relu(x,foo=1))
t('F.miss',lambda: F.leaky_relu())
t('F.inp',lambda: F.leaky_relu(input=x,negative_slope=0.3))
t('F.many',lambda: F.elu(x,1,False,3))
t('F.ht',lambda: F.hardtanh(x,2,1))
y=x.clone(); z=F.relu(y,inplace=True); print(z is y, (y==z).all().item(), y.min().item())
y=x.clone(); z=F.hardswish(y,True); print((y==z).all().item())
t2=torch.tensor([1,0,3])
for nm,l,args in [("ce",nn.CrossEntropyLoss(label_smoothing=0.1),(x,t2)),("nll",nn.NLLLoss(torch.ones(4)),(x.log_softmax(1),t2)),
  ("mse",nn.MSELoss(reduction='sum'),(x,x*2)),("l1",nn.L1Loss(),(x,x*2)),("bce",nn.BCELoss(),(x.sigmoid(),x.sigmoid())),
  ("bcel",nn.BCEWithLogitsLoss(pos_weight=torch.full((4,),2.)),(x,x.sigmoid())),("pois",nn.PoissonNLLLoss(),(x,x.abs())),("gaus",nn.GaussianNLLLoss(),(x,x*2,x.abs())),
  ("kl",nn.KLDivLoss(reduction='batchmean'),(x.log_softmax(1),x.softmax(1))),("sl1",nn.SmoothL1Loss(beta=0.5),(x,x*2)),("hub",nn.HuberLoss('sum',0.3),(x,x*2)),
  ("sm",nn.SoftMarginLoss(),(x,x.sign())),("mlsm",nn.MultiLabelSoftMarginLoss(),(x,x.gt(0).float())),("hinge",nn.HingeEmbeddingLoss(),(x,x.sign())),
  ("cos",nn.CosineEmbeddingLoss(0.1),(x,x*2+1,torch.tensor([1,-1,1]))),("mr",nn.MarginRankingLoss(0.1),(x[0],x[1],x[2].sign())),
  ("trip",nn.TripletMarginLoss(),(x,x+1,x-2)),("tripd",nn.TripletMarginWithDistanceLoss(),(x,x+1,x-2)),("cs",nn.CosineSimilarity(),(x,x+1)),("pd",nn.PairwiseDistance(),(x,x+1))]:
    t(nm+str(l), lambda: l(*args))
print(list(nn.BCEWithLogitsLoss(pos_weight=torch.ones(2)).state_dict().keys()))
t('legacy',lambda: nn.MSELoss(False)(x,x*2))
t('f1',lambda:F.one_hot(t2,5)); t('f2',lambda:F.pdist(x)); t('gn',lambda:F.group_norm(x,2)); t('gn2',lambda:F.group_norm(x[0],2)); t('lp',lambda:F.lp_pool2d(torch.arange(16.).view(1,1,4,4),2,2)); t('lp1',lambda:F.lp_pool1d(torch.arange(8.).view(1,1,8),3,2))
x=fill(2,4,5); x2=fill(2,4,4,4)
for m,a in [(nn.ConvTranspose1d(4,6,3,stride=2),x),(nn.ConvTranspose2d(4,6,(2,3),2,1,output_padding=1,groups=2,bias=False,dilation=2),x2),(nn.ConvTranspose2d(4,2,2,2),x2),
  (nn.InstanceNorm1d(4),x),(nn.InstanceNorm2d(4,affine=True,track_running_stats=True),x2),(nn.InstanceNorm2d(4),x2[0]),(nn.LocalResponseNorm(2),x2),(nn.Unflatten(1,(2,2)),x),
  (nn.LPPool2d(2,2),x2.abs()),(nn.UpsamplingBilinear2d(scale_factor=2),x2),(nn.UpsamplingNearest2d(size=(5,5)),x2),(nn.MaxUnpool2d(2),None)]:
    setp(m); print(m,list(m.state_dict()))
    if a is not None: t('f',lambda:m(a).reshape(-1)[:17]); t('s',lambda:list(m(a).shape))
p,i=F.max_pool2d(x2,2,return_indices=True); t('mu',lambda:nn.MaxUnpool2d(2,2)(p,i)); t('mu2',lambda:nn.MaxUnpool2d(2)(p,i,output_size=(5,5)).shape)
m=nn.ConvTranspose2d(4,2,3,2); t('os',lambda:list(m(x2,output_size=(10,10)).shape)); t('os2',lambda:m(x2,output_size=(20,10)))
t('e',lambda:nn.InstanceNorm1d(4)(x2)); t('e2',lambda:nn.ConvTranspose1d(3,4,2,groups=2))
pl=nn.ParameterList([torch.ones(2,3),nn.Parameter(torch.zeros(2))]); print(len(pl),list(pl.state_dict()),[q.requires_grad for q in pl]); pl.append(torch.ones(1)); print(len(list(pl.parameters())), pl[0].shape, pl[-1].shape)
pd=nn.ParameterDict({'a':torch.ones(2),'b':torch.zeros(3)}); print(list(pd.state_dict()), pd['a'].sum().item(), 'a' in pd, len(pd)); print(list(pd.keys()))
pd['c']=nn.Parameter(torch.ones(4)); print(list(pd.state_dict()))
class N(nn.Module):
    def __init__(s):
        super().__init__(); s.w=nn.ParameterList([nn.Parameter(torch.ones(2)) for _ in range(2)])
    def forward(s,x):
        for w in s.w: x=x*w
        return x
t('N',lambda:N()(torch.ones(2)))
print(pl); print(pd)
md=nn.ModuleDict({'x':nn.Linear(2,2),'y':nn.ReLU()}); print([k for k in md], 'x' in md, 'z' in md, len(md)); print([m for m in nn.ModuleList([nn.ReLU()])], [m for m in nn.Sequential(nn.ReLU())])
for k,v in md.items(): print(k,v)
a=fill(2,3); b=fill(3,2); c=fill(2)
t('e',lambda:torch.einsum("ij,jk->ik",a,b)); t('e2',lambda:torch.einsum("ij,jk->ik",[a,b]))
print(type(torch.meshgrid(c,c,indexing='ij'))); t('m',lambda:torch.meshgrid(c,fill(3),indexing='xy')); t('m2',lambda:torch.meshgrid([c,c],indexing='ij'))
x,y=torch.meshgrid(c,c,indexing='ij')
t('b',lambda:torch.broadcast_tensors(a,torch.ones(1,3))); t('al',lambda:torch.atleast_2d(c,a)); t('al1',lambda:torch.atleast_3d(c)); t('al2',lambda: torch.atleast_1d(torch.tensor(1.),c))
t('bd',lambda:torch.block_diag(c,a,torch.tensor(3.))); t('cp',lambda:torch.cartesian_prod(c,fill(3))); t('td',lambda:torch.tensordot(a,b,1)); t('td2',lambda:torch.tensordot(a,b,dims=([1],[0])))
t('n',lambda:[a.norm(),a.norm('fro'),a.norm('nuc'),a.norm(1,0),a.norm(p=2,dim=1,keepdim=True),torch.norm(a,dim=0),torch.norm(a,float('inf')),a.norm(dim=(0,1)),torch.linalg.norm(a)])
print(torch.broadcast_shapes((2,1),(3,),(1,1,1)), torch.broadcast_shapes((2,),(1,)))
t('bs',lambda:torch.broadcast_shapes((2,),(3,)))
t('ui',lambda:torch.unravel_index(torch.tensor([0,5,3]),(2,3)))
t('an',lambda:a.ndimension())
f=torch.compile(lambda x:x+1); t('c',lambda:f(c))

for m in (nn.Conv2d(1, 2, 3, padding=1), nn.Conv1d(4, 4, (3,), groups=2, bias=False, dilation=2, stride=2),
          nn.Conv2d(1, 2, (3, 2), padding="same"), nn.MaxPool2d(2), nn.MaxPool2d((2, 3), stride=1, padding=(1, 1)),
          nn.AvgPool1d(2), nn.AvgPool2d(3), nn.AdaptiveAvgPool2d((1, 1)), nn.AdaptiveMaxPool2d(2), nn.PixelShuffle(2),
          nn.ChannelShuffle(2), nn.ZeroPad2d(1), nn.ConstantPad1d(2, 0.5), nn.Upsample(scale_factor=2)):
    print(m)
c = nn.Conv2d(1, 2, 3)
print(c.kernel_size, c.stride, c.padding, c.dilation, c.padding_mode, nn.LayerNorm(4).normalized_shape)
print(nn.MaxPool2d(2)(torch.ones(1, 1, 4, 4)).shape)

m = nn.ModuleList([nn.Linear(1, 1)]) + nn.ModuleList([nn.ReLU()])
m += [nn.Tanh()]
m.insert(1, nn.Sigmoid())
print(m, m.pop(-1), len(m))
p = nn.ParameterList([nn.Parameter(torch.ones(1))])
p += [nn.Parameter(torch.zeros(1))]
p.append(torch.ones(2))
print(p, len(p))
d = nn.ParameterDict({"b": nn.Parameter(torch.ones(1))})
d.update({"a": nn.Parameter(torch.zeros(2))})
print(list(d.items())[1][0], d.pop("b").shape, d, list(d.keys()), "a" in d, len(d))
md = nn.ModuleDict({"z": nn.Linear(1, 1), "a": nn.ReLU()})
md.update({"q": nn.Tanh()})
print(list(md.keys()), md.pop("z"), len(md))
md["n"] = nn.GELU()
del md["a"]
print(md)
s = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
s.append(nn.Tanh())
print(s[-1], s[:2], len(s))
del s[0]
print(s)
a, b = torch.arange(6.).view(2, 3), torch.arange(12.).view(3, 4)
print(torch.einsum(a, [0, 1], b, [1, 2], [0, 2]), torch.einsum(a, [0, 1], [1]), torch.einsum(a, [..., 1], [...]))
