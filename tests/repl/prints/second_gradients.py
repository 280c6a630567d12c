# SPDX-License-Identifier: MIT
# Gradients of gradients (create_graph): of functions, their second and third.
import torch
import torch.nn.functional as F
x = torch.tensor([[0.3, -0.7, 1.1, 0.25], [0.9, 0.4, -0.2, -1.3], [0.5, 0.8, 1.7, -0.6]], dtype=torch.float64, requires_grad=True)
w = torch.arange(1., 13., dtype=torch.float64).reshape(3, 4) / 7
m = torch.arange(12., dtype=torch.float64).reshape(4, 3) / 5 - 1
im = (torch.arange(2*3*5*5., dtype=torch.float64).reshape(2,3,5,5) * 0.37).sin()
ker = (torch.arange(4*3*3*3., dtype=torch.float64).reshape(4,3,3,3) * 0.21).cos()
t = torch.tensor([1, 0, 3])
P = dict(
 exp=torch.exp, sin=torch.sin, cos=torch.cos, tanh=torch.tanh, sigmoid=torch.sigmoid, relu=F.relu, softplus=F.softplus, silu=F.silu, gelu=F.gelu,
 gelut=lambda v: F.gelu(v, approximate="tanh"), elu=F.elu, selu=F.selu, leaky=lambda v: F.leaky_relu(v, 0.1), logsig=F.logsigmoid, mish=F.mish, hardtanh=F.hardtanh, relu6=F.relu6, celu=F.celu, hswish=F.hardswish, hsig=F.hardsigmoid, softsign=F.softsign, tanhshrink=F.tanhshrink, softshrink=F.softshrink,
 sqrt=lambda v: (v*v+1).sqrt(), rsqrt=lambda v: (v*v+1).rsqrt(), log=lambda v: (v*v+1).log(), log1p=lambda v: (v*v).log1p(), recip=lambda v: (v+3).reciprocal(), pow3=lambda v: v**3, powt=lambda v: (v*v+1)**w, powb=lambda v: 2.0**v, div=lambda v: w/(v+3), divv=lambda v: v/(v*v+1), mul=lambda v: v*v*w, abs=torch.abs, neg=torch.neg, sub=lambda v: w-v*v, clamp=lambda v: v.clamp(-0.5, 0.6)**2,
 sum=lambda v: v.pow(2).sum(0), mean=lambda v: v.pow(2).mean(1), var=lambda v: v.var(1), std=lambda v: v.std(), norm=lambda v: v.norm(dim=1), norm1=lambda v: v.norm(p=1), norm3=lambda v: v.norm(p=3, dim=0), vnorm=lambda v: torch.linalg.vector_norm(v, dim=1), prod=lambda v: v.prod(1), cumsum=lambda v: (v*v).cumsum(1), cumprod=lambda v: v.cumprod(1), logsumexp=lambda v: v.logsumexp(1), max=lambda v: (v*v).max(1).values, amax=lambda v: (v*v).amax(1), sort=lambda v: (v*v).sort(1).values, topk=lambda v: (v*v).topk(2).values,
 softmax=lambda v: v.softmax(1), logsoftmax=lambda v: v.log_softmax(1), mm=lambda v: (v@m).sin(), mmm=lambda v: v@m@v, bmm=lambda v: torch.bmm(v[None], v.t()[None]), mv=lambda v: v@v[0], outer=lambda v: torch.outer(v[0], v[1]), einsum=lambda v: torch.einsum("ij,kj->ik", v, v*v), linear=lambda v: F.linear(v, v*v, v[:, 0]), addmm=lambda v: torch.addmm(v[0,:3], v, m), baddbmm=lambda v: torch.baddbmm(v[None,:,:3], v[None], m[None]), dot=lambda v: torch.dot(v[0], v[1]*v[2]),
 cat=lambda v: torch.cat([v, v*v], 1), stack=lambda v: torch.stack([v, v*v]), idx=lambda v: (v*v)[t[:2]], gather=lambda v: (v*v).gather(1, t[:, None]), scatter=lambda v: torch.zeros(3,4,dtype=torch.float64).scatter(1, t[:, None], v*v), index_add=lambda v: (v*v).index_add(0, torch.tensor([0,1,1]), v*v*v), where=lambda v: torch.where(v>0, v*v, v**3), masked_fill=lambda v: (v*v).masked_fill(v>0.5, 0.), select=lambda v: (v*v)[1], slice=lambda v: (v*v)[:, 1:3], tr=lambda v: (v*v).t(), reshape=lambda v: (v*v).reshape(2,6), expand=lambda v: (v*v)[:, None].expand(3,2,4), pad=lambda v: F.pad(v*v, (1,2)), flip=lambda v: (v*v).flip(0), roll=lambda v: (v*v).roll(1), repeat=lambda v: (v*v).repeat(2,1), tril=lambda v: (v@v.t()).tril(), diag=lambda v: (v@v.t()).diagonal(), triu=lambda v: (v@v.t()).triu(1),
 mse=lambda v: F.mse_loss(v, w), mses=lambda v: F.mse_loss(v, w, reduction="sum"), l1=lambda v: F.l1_loss(v*v, w), sl1=lambda v: F.smooth_l1_loss(v, w), huber=lambda v: F.huber_loss(v, w), bce=lambda v: F.binary_cross_entropy(v.sigmoid(), w/2), bcel=lambda v: F.binary_cross_entropy_with_logits(v, w/2), ce=lambda v: F.cross_entropy(v, t), ces=lambda v: F.cross_entropy(v, t, label_smoothing=0.1), nll=lambda v: F.nll_loss(v*v, t), kl=lambda v: F.kl_div(v.log_softmax(1), w.softmax(1), reduction="batchmean"), cos_=lambda v: F.cosine_similarity(v, w), cdist=lambda v: torch.cdist(v, w), normalize=lambda v: F.normalize(v, dim=1), pdist=lambda v: F.pairwise_distance(v, w),
 ln=lambda v: F.layer_norm(v, (4,), w[0], w[1]), ln0=lambda v: F.layer_norm(v, (4,)), rms=lambda v: F.rms_norm(v, (4,), w[0]), gn=lambda v: F.group_norm(v, 2), bn=lambda v: F.batch_norm(v, None, None, w[0], w[1], training=True), bne=lambda v: F.batch_norm(v*v, w[0].abs(), w[1].abs(), training=False), inorm=lambda v: F.instance_norm(v[None]),
 conv=lambda v: F.conv2d(im*v[0,0]**2, ker), convx=lambda v: F.conv2d(im, ker*v[0,0]**3, padding=1), conv1=lambda v: F.conv1d(v[None], (v*v)[:, :2][:, None].expand(3,3,2)), convt=lambda v: F.conv_transpose2d(im*v[0,0], ker.transpose(0,1)[:, :, :2, :2]*v[0,1]), avg=lambda v: F.avg_pool1d(v[None]**2, 2), maxp=lambda v: F.max_pool1d(v[None]**2, 2), aavg=lambda v: F.adaptive_avg_pool1d(v[None]**2, 2), interp=lambda v: F.interpolate(v[None]**2, scale_factor=2, mode="linear"), interpn=lambda v: F.interpolate(v[None]**2, scale_factor=2), glu=lambda v: F.glu(v), emb=lambda v: F.embedding(t[:2], v*v), sdpa=lambda v: F.scaled_dot_product_attention(v[None,None], v[None,None], v[None,None]), drop=lambda v: F.dropout(v*v, 0.0),
 det=lambda v: torch.det(v[:, :3]@v[:, :3].t()+torch.eye(3, dtype=torch.float64)), inv=lambda v: torch.inverse(v[:, :3]@v[:, :3].t()+torch.eye(3, dtype=torch.float64)), chol=lambda v: torch.linalg.cholesky(v[:, :3]@v[:, :3].t()+torch.eye(3, dtype=torch.float64)), solve=lambda v: torch.linalg.solve(v[:, :3]@v[:, :3].t()+torch.eye(3, dtype=torch.float64), v), atan2=lambda v: torch.atan2(v, w), hyp=lambda v: torch.hypot(v, w), lerp=lambda v: torch.lerp(v, w, v*v), addc=lambda v: torch.addcmul(v, v, v*v), addd=lambda v: torch.addcdiv(v, v, v*v+1), erf=torch.erf, atan=torch.atan, sinh=torch.sinh, cosh=torch.cosh, asin=lambda v: (v/2).asin(), acos=lambda v: (v/2).acos(), tan=torch.tan, logit=lambda v: v.sigmoid().logit(), xlogy=lambda v: torch.xlogy(v*v, v*v+1), expm1=torch.expm1, log2=lambda v: (v*v+1).log2(), lgamma=lambda v: torch.lgamma(v*v+1), maximum=lambda v: torch.maximum(v*v, w), fmod=lambda v: torch.fmod(v*v, 0.3), square=torch.square, copysign=lambda v: torch.copysign(v*v, w), inplace=lambda v: (v*v).mul_(w).add_(v), relu_=lambda v: (v*v-0.2).relu_()*v, tanh_=lambda v: (v*2).tanh_(), sigm_=lambda v: (v*2).sigmoid_(), cplx=lambda v: torch.fft.fft(v*v).abs(), chunk=lambda v: torch.chunk(v*v, 2, 1)[0]*v[:, :2], unbind=lambda v: v.unbind(0)[0]*v.unbind(0)[1], unfold=lambda v: (v*v).unfold(1, 2, 1), to32=lambda v: (v*v).float().double(), sgn=lambda v: v.sign()*v*v, round_=lambda v: v.round()*v*v, detach=lambda v: v.detach()*v*v, kron=lambda v: torch.kron(v[0], v[1]),
)
# cdist is refused by name; scatter counts its argument otherwise; abs, norm1 and l1 end in
# tensors without memory in PyTorch, which also refuses a third gradient of bn and inorm.
SKIPPED = "abs norm1 scatter l1 cdist bn inorm".split()
for name, f in P.items():
    if name in SKIPPED:
        continue
    try:
        y = f(x); c = torch.arange(1., y.numel()+1, dtype=torch.float64).reshape(y.shape)/3
        g, = torch.autograd.grad((y*c).sum(), x, create_graph=True)
        if not g.requires_grad: print(name, "none", [round(v, 6) for v in g.flatten().tolist()][:4]); continue
        h, = torch.autograd.grad((g*w).sum(), x, create_graph=True, allow_unused=True)
        if h is None: print(name, "unused"); continue
        k = None
        if h.requires_grad:
            try: k, = torch.autograd.grad((h*w*w).sum(), x, allow_unused=True)
            except Exception as e: k = type(e).__name__ + str(e)[:60]
        print(name, [round(v, 4) + 0.0 for v in h.flatten().tolist()], k if isinstance(k, (str, type(None))) else [round(v, 3) + 0.0 for v in k.flatten().tolist()][:5])
    except Exception as e: print(name, type(e).__name__, str(e)[:90])

# Leaves: the gradient has a graph, and what is added to it keeps it.
a = torch.tensor([1., 2., 3.], requires_grad=True)
(a ** 3).sum().backward(create_graph=True)
first = a.grad
print(first.requires_grad, first.tolist())
a.grad = None
first.sum().backward()
print(a.grad.tolist(), a.grad.requires_grad)
(a ** 2).sum().backward(create_graph=True)
print(a.grad.tolist(), a.grad.requires_grad)
a.grad = None                          # else the leaf and its gradient hold each other

# A gradient penalty, a step of a step (MAML), a Hessian times a vector.
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.LeakyReLU(0.2), torch.nn.Linear(8, 1)).double()
with torch.no_grad():
    for i, p in enumerate(net.parameters()):
        p.copy_((torch.arange(p.numel()).double() * 0.37 + i).sin().reshape(p.shape))
x = (torch.arange(12.).double() * 0.21).cos().reshape(4, 3).requires_grad_()
grad, = torch.autograd.grad(net(x).sum(), x, create_graph=True)
((grad.norm(2, dim=1) - 1) ** 2).mean().backward()
print([None if p.grad is None else round(p.grad.sum().item(), 5) for p in net.parameters()])
w = torch.tensor([0.5, -0.3], dtype=torch.float64, requires_grad=True)
inner, = torch.autograd.grad(((w * 3).sin() ** 2).sum(), w, create_graph=True)
((w - 0.1 * inner) ** 2).sum().backward()
print([round(v, 6) for v in w.grad.tolist()])


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return v ** 3

    @staticmethod
    def backward(ctx, g):
        v, = ctx.saved_tensors
        return 3 * v ** 2 * g


g, = torch.autograd.grad(Cube.apply(w).sum(), w, create_graph=True)
h, = torch.autograd.grad(g.sum(), w)
print([round(v, 6) for v in h.tolist()])
