# SPDX-License-Identifier: MIT
# Operators whose numbers, shapes and gradients PyTorch 2.13 printed: losses of
# unaligned sequences, bags of rows, distinct elements, counts, quantised
# numbers, transforms of pieces, in-place dropouts, copies of views.
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def near(t): return t.detach().round(decimals=4) + 0
def show(n,*t): print(n,*[x.detach() if isinstance(x,torch.Tensor) else x for x in t])
for dt in (torch.float32,torch.float64):
  lp=torch.randn(6,3,5,dtype=dt).log_softmax(2).detach().requires_grad_()
  for red in ('mean','sum','none'):
    for zi in (False,True):
      for T in (torch.tensor([6,5,2]),(6,5,2)):
        L=torch.tensor([2,3,2]) if isinstance(T,torch.Tensor) else (2,3,2)
        lp.grad=None
        l=F.ctc_loss(lp,torch.tensor([[1,2,0],[3,3,1],[1,1,1]],dtype=torch.int32),T,L,reduction=red,zero_infinity=zi)
        l.sum().backward(); show(red,l,lp.grad[:,1]); show('',lp.grad[:,2])
l=F.ctc_loss(lp[:,0],torch.tensor([1,2]),torch.tensor(5),torch.tensor(2)); show('1',l)
w=torch.randn(5,3,requires_grad=True)
ps=torch.rand(2,3,requires_grad=True)
for mode in('sum','mean','max'):
  for pad in (None,2):
    for fr in (False,True):
      if mode=='max' and fr: continue
      w.grad=None
      F.embedding_bag(torch.tensor([[0,1,4],[2,2,1]]),w,mode=mode,padding_idx=pad,scale_grad_by_freq=fr).mul(torch.arange(6.).view(2,3)).sum().backward(); show(mode,w.grad)
w.grad=None
F.embedding_bag(torch.tensor([[0,1,4],[2,2,1]]),w,mode='sum',per_sample_weights=ps).mul(torch.arange(6.).view(2,3)).sum().backward(); show('ps',w.grad,ps.grad)
w.grad=None
e=nn.EmbeddingBag(5,3,mode='sum',include_last_offset=True); e(torch.tensor([1,2,3]),torch.tensor([0,2,3])).sum().backward(); show('m',e.weight.grad)
e(torch.tensor([1,2,3]),torch.tensor([0,2,3])).sum().backward(); show('m',e.weight.grad)
torch.manual_seed(3)
show('poisson',torch.poisson(torch.rand(4,5)*25),torch.poisson(torch.rand(4,5,dtype=torch.double)*2))
x=torch.randn(3,4,requires_grad=True)
y=torch.fake_quantize_per_tensor_affine(x,0.1,0,-10,10); y.sum().backward(); show('fq',y,x.grad)
show('fqt',torch.fake_quantize_per_tensor_affine(x,torch.tensor(.2),torch.tensor(1,dtype=torch.int32),-10,10))
show('fqc',torch.fake_quantize_per_channel_affine(x.detach(),torch.tensor([.1,.2,.3,.4]),torch.zeros(4,dtype=torch.int32),1,-3,3))
show('u',torch.unique(torch.tensor([[3,1],[1,2],[3,1]]),dim=0))
show('u',*torch.unique(torch.tensor([[3,1],[1,2],[3,1]]),dim=1,return_inverse=True,return_counts=True))
show('u',*torch.unique(torch.tensor([3,1,1,2]),return_inverse=True,return_counts=True))
show('uc',*torch.unique_consecutive(torch.tensor([3,1,1,2,3,3]),return_inverse=True,return_counts=True))
show('uc',torch.unique_consecutive(torch.tensor([3,1,1,2,3,3])))
show('uc',torch.tensor([3,1,1,2,3,3]).unique_consecutive(return_counts=True)[1])
show('uc',torch.tensor([[3,1,1],[2,3,3]]).unique_consecutive(dim=1))
h=torch.histogram(torch.tensor([1.,2,1]),4,range=(0.,3.)); show('h',h.hist,h.bin_edges)
show('h',*torch.histogram(torch.tensor([1.,2,1]),torch.tensor([0.,1,2]),weight=torch.tensor([1.,2,4]),density=True))
show('h',torch.histc(torch.tensor([1.,2,1]),bins=4,min=0,max=3))
s=torch.arange(40.).sin().requires_grad_()
w=torch.hann_window(8)
st=torch.stft(s,8,window=w,return_complex=True); show('stft',st.shape,near(torch.view_as_real(st[:,3])),st.stride())
r=torch.istft(st,8,window=w,length=38); show('istft',r.shape,near(r))
(r*torch.arange(38.)).sum().backward(); show('g',near(s.grad))
st=torch.stft(torch.arange(40.).view(2,20).cos(),8,3,6,window=torch.hann_window(6),center=False,normalized=True,onesided=False,return_complex=True); show('stft',st.shape,near(torch.view_as_real(st[1,:,2])))
show('istft',near(torch.istft(torch.stft(torch.arange(40.).view(2,20).cos(),8,2,6,torch.hann_window(6),normalized=True,return_complex=True),8,2,6,torch.hann_window(6),normalized=True)))
show('stft r',torch.stft(torch.arange(20.),8,window=w,return_complex=False,pad_mode='constant')[:,1].round(decimals=3)+0)
torch.manual_seed(5)
z=torch.randn(2,3)
show('rr',F.rrelu(z.clone(),training=True,inplace=True),F.rrelu(z.clone(),inplace=True),nn.RReLU(inplace=True)(z.clone()))
show('dr',torch.dropout_(z.clone(),.5,True),torch.alpha_dropout_(z.clone(),.5,True),torch.feature_dropout_(z.clone(),.5,True),torch.feature_alpha_dropout_(z.clone(),.5,True))
show('dr',F.dropout(z.clone(),.5,inplace=True),F.alpha_dropout(z.clone(),.5,True,True),F.dropout1d(z.clone(),.5,inplace=True))
show('ts',*torch.tensor_split(z,torch.tensor([1,2]),dim=1)); show('ts',*z.tensor_split(torch.tensor(2)))
p=torch.zeros(4,requires_grad=True);q=torch.ones(2,requires_grad=True)
v=torch.as_strided_scatter(p,q,(2,),(2,)); (v*torch.arange(4.)).sum().backward(); show('as',v,p.grad,q.grad)
p=torch.arange(6.).view(2,3).requires_grad_(); v=torch.as_strided_copy(p,(2,2),(1,2)); (v*v).sum().backward(); show('asc',v,p.grad)
v=torch.permute_copy(p,(1,0)); show('pc',v)
torch.manual_seed(1)
show('fmp',F.fractional_max_pool2d(torch.randn(1,2,8,8),2,output_size=3)); show('fmp',F.fractional_max_pool2d(torch.randn(1,2,8,8),2,output_ratio=(.5,.5),return_indices=True)[1]); show('f3',F.fractional_max_pool3d(torch.randn(1,1,6,6,6),2,output_size=2)); show('m',nn.FractionalMaxPool2d(2,output_size=2)(torch.randn(1,1,6,6)))
torch.manual_seed(0)
w=torch.randn(5,3)
v=w.clone(); print(F.embedding(torch.tensor([[1,2],[2,4]]),v,max_norm=1.),v)
v=w.clone(); print(F.embedding(torch.tensor([1,2,2]),v,max_norm=.5,norm_type=1.),F.embedding(torch.tensor([1,2,2]),w.clone(),max_norm=.5,norm_type=3.))
e=nn.Embedding(5,3,max_norm=1.,padding_idx=-1); print(e); o=e(torch.tensor([1,2,2])); o.sum().backward(); print(o.detach(),e.weight.grad,e.weight.detach())
e=nn.Embedding(5,3,scale_grad_by_freq=True); e(torch.tensor([1,2,2])).sum().backward(); print(e,e.weight.grad)
print(nn.Embedding(4,2,_weight=torch.ones(4,2)).weight)
b=nn.EmbeddingBag(5,3,max_norm=.7,mode='max',padding_idx=1); print(b,b(torch.tensor([[1,2],[3,0]])).detach())
print(torch.zeros(4).put_(torch.tensor([1,3]),torch.tensor([2.,5.])))
try: nn.Embedding(3,2,padding_idx=3)
except AssertionError as x: print(x)
