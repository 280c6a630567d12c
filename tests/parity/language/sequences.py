# SPDX-License-Identifier: MIT
# Recurrent modules, attention, Transformer, the order of state_dict().
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
for nm,m,x,h in [("lstm",nn.LSTM(3,4),fill(5,2,3),None),("lstm2",nn.LSTM(3,4,num_layers=2,batch_first=True,bidirectional=True),fill(2,5,3),None),
  ("lstmp",nn.LSTM(3,4,2,proj_size=2,bias=False),fill(5,2,3),(fill(2,2,2),fill(2,2,4))),("lstmu",nn.LSTM(3,4),fill(5,3),None),
  ("gru",nn.GRU(3,4,2,dropout=0.0,bidirectional=True),fill(5,2,3),fill(4,2,4)),("rnn",nn.RNN(3,4,nonlinearity='relu',num_layers=2),fill(5,2,3),None),("rnnu",nn.RNN(3,4,batch_first=True),fill(5,3),fill(1,4))]:
    setp(m)
    print(m, list(m.state_dict().keys()))
    t(nm, lambda: m(x) if h is None else m(x,h))
    x.requires_grad_(True)
    o=m(x) if h is None else m(x,h)
    o[0].sum().backward()
    t(nm+' g', lambda: [x.grad]+[p.grad.mean() for p in m.parameters()])
for nm,m,a in [("lc",nn.LSTMCell(3,4),(fill(2,3),)),("lc1",nn.LSTMCell(3,4),(fill(3),(fill(4),fill(4)))),("gc",nn.GRUCell(3,4,bias=False),(fill(2,3),fill(2,4))),("rc",nn.RNNCell(3,4,nonlinearity='relu'),(fill(2,3),))]:
    setp(m); print(m, list(m.state_dict().keys())); t(nm, lambda:m(*a))
m=nn.LSTM(3,4)
t('e1',lambda:m(fill(5,2,4))); t('e2',lambda:m(fill(5))); t('e3',lambda:m(fill(5,2,3),(fill(1,3,4),fill(1,2,4)))); t('e4',lambda:m(fill(5,2,3),(fill(2,4),fill(2,4))))
t('e5',lambda:m(fill(5,2,3).double())); t('e6',lambda: nn.GRU(3,0)); t('e7',lambda: nn.RNN(3,4,nonlinearity='x')); t('e8',lambda:nn.GRU(3,4,proj_size=2)); t('e9',lambda:nn.LSTM(3)); t('e10',lambda:nn.GRU(3,4)(fill(5))); t('e11',lambda:nn.GRU(3,4)(fill(5,3),fill(1,1,4)))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l=nn.LSTM(3,4,batch_first=True); self.f=nn.Linear(4,2)
    def forward(self,x):
        o,(h,c)=self.l(x)
        return self.f(h[-1])
n=setp(Net()); print(n); t('net',lambda:n(fill(2,5,3)))
m=setp(nn.MultiheadAttention(4,2)); print(m,list(m.state_dict()))
x=fill(5,2,4); y=fill(3,2,4,k=0.9)
t('self',lambda:m(x,x,x)); t('cross',lambda:m(y,x,x)); t('three',lambda:m(y,x,x*2,need_weights=False)); t('un',lambda:m(x[:,0],x[:,0],x[:,0]))
mask=torch.triu(torch.ones(5,5),1).bool(); kp=torch.tensor([[False]*5,[False,False,False,True,True]])
t('mask',lambda:m(x,x,x,attn_mask=mask)); t('kp',lambda:m(x,x,x,key_padding_mask=kp,average_attn_weights=False)); t('both',lambda:m(x,x,x,key_padding_mask=kp,attn_mask=mask,need_weights=False))
t('causal',lambda:m(x,x,x,attn_mask=mask,is_causal=True,need_weights=False))
m=setp(nn.MultiheadAttention(4,2,kdim=3,vdim=5,add_bias_kv=True,add_zero_attn=True,batch_first=True)); print(list(m.state_dict())); t('kv',lambda:m(fill(2,3,4),fill(2,5,3),fill(2,5,5)))
t('e1',lambda:nn.MultiheadAttention(5,2)); t('e2',lambda:m(fill(2,2,3,4),x,x)); t('e3',lambda:m(fill(2,3,4),fill(2,5,3),fill(2,5,5),attn_mask=torch.zeros(3,3)))
for kw in [dict(),dict(norm_first=True,activation='gelu',batch_first=True),dict(activation=nn.SiLU(),bias=False)]:
    l=setp(nn.TransformerEncoderLayer(4,2,8,dropout=0.0,**kw)); print(l,list(l.state_dict()))
    t('enc',lambda:l(x)); t('encm',lambda:l(x,src_mask=mask if not kw.get('batch_first') else None))
    l=setp(nn.TransformerDecoderLayer(4,2,8,dropout=0.0,**kw)); print(l,list(l.state_dict()))
    t('dec',lambda:l(x,fill(5,2,4,k=0.8)))
e=nn.TransformerEncoder(nn.TransformerEncoderLayer(4,2,8,batch_first=True),2,nn.LayerNorm(4)); setp(e); print(e); e.eval()
x2=fill(2,5,4)
t('E',lambda:e(x2)); t('Ek',lambda:e(x2,src_key_padding_mask=kp))
with torch.no_grad(): t('Ekn',lambda:e(x2,src_key_padding_mask=kp))
with torch.no_grad(): t('Em',lambda:e(x2,mask=nn.Transformer.generate_square_subsequent_mask(5)))
T=nn.Transformer(4,2,1,1,8,0.0); setp(T); print(T, list(T.state_dict()))
t('T',lambda:T(fill(5,2,4),fill(3,2,4),tgt_mask=T.generate_square_subsequent_mask(3)))
t('Tg',lambda:[T(fill(5,2,4),fill(3,2,4)).pow(2).sum().backward()]+[p.grad.sum() for p in T.parameters()])
t('e4',lambda:T(fill(5,2,4),fill(3,3,4))); t('e5',lambda:nn.TransformerEncoderLayer(4,2,activation='foo'))
print(list(nn.Sequential(nn.BatchNorm1d(2),nn.Linear(2,1)).state_dict(prefix='q.')))
