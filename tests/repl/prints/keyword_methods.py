# SPDX-License-Identifier: MIT
# Methods of tensors with every argument by its name.
import torch
def t(name, f):
    try: print(name, f())
    except Exception as e: print(name, type(e).__name__, str(e)[:140])
x = torch.arange(24.).reshape(2, 3, 4)
t(1, lambda: x.size(dim=1)); t(2, lambda: x.stride(dim=1)); t(3, lambda: x.transpose(dim0=0, dim1=2).shape); t(4, lambda: x.unsqueeze(dim=0).shape); t(5, lambda: x.squeeze(dim=0).shape)
t(6, lambda: x.flatten(start_dim=1).shape); t(7, lambda: x.sum(dim=1, keepdim=True).shape); t(8, lambda: x.mean(dim=(0, 1)).shape); t(9, lambda: x.permute(dims=(2, 0, 1)).shape); t(10, lambda: x.view(size=(6, 4)).shape)
t(11, lambda: x.reshape(shape=(6, 4)).shape); t(12, lambda: x.expand(size=(2, 3, 4)).shape); t(13, lambda: x.repeat(repeats=(1, 1, 2)).shape); t(14, lambda: x.narrow(dim=1, start=0, length=2).shape); t(15, lambda: x.select(dim=0, index=1).shape)
t(16, lambda: x.split(split_size=2, dim=2)[0].shape); t(17, lambda: x.chunk(chunks=2, dim=2)[1].shape); t(18, lambda: x.index_select(dim=1, index=torch.tensor([0])).shape); t(19, lambda: x.gather(dim=1, index=torch.zeros(2, 1, 4, dtype=torch.long)).shape)
t(20, lambda: x.max(dim=1).values.shape); t(21, lambda: x.argmax(dim=-1, keepdim=True).shape); t(22, lambda: x.topk(k=2, dim=1).values.shape); t(23, lambda: x.sort(dim=1, descending=True).values[0, 0, 0]); t(24, lambda: x.cumsum(dim=1)[0, -1, 0])
t(26, lambda: x.norm(p=2, dim=0).shape); t(27, lambda: x.clamp(min=2, max=5).max()); t(28, lambda: x.masked_fill(mask=x > 3, value=0).max()); t(29, lambda: x.to(dtype=torch.float64).dtype); t(30, lambda: x.to(device="cpu", dtype=torch.int32).dtype)
t(31, lambda: x.new_zeros(size=(2,)).shape); t(32, lambda: x.unbind(dim=1)[0].shape); t(33, lambda: x.roll(shifts=1, dims=0)[0, 0, 0]); t(34, lambda: x.flip(dims=(0,))[0, 0, 0]); t(35, lambda: x.diagonal(offset=0, dim1=1, dim2=2).shape)
t(36, lambda: x.tril(diagonal=-1).sum()); t(37, lambda: x.add(other=1, alpha=2)[0, 0, 0]); t(38, lambda: x.mul(other=2).sum()); t(39, lambda: x.pow(exponent=2).sum()); t(40, lambda: x.lerp(end=x + 1, weight=0.5)[0, 0, 0])
t(41, lambda: x.std(dim=0, unbiased=False).shape); t(42, lambda: x.quantile(q=0.5)); t(43, lambda: x.unflatten(dim=2, sizes=(2, 2)).shape); t(44, lambda: x.movedim(source=0, destination=2).shape); t(45, lambda: x.swapaxes(axis0=0, axis1=1).shape)
t(51, lambda: x.scatter(dim=0, index=torch.zeros(1, 3, 4, dtype=torch.long), value=9.)[0, 0, 0]); t(52, lambda: x.fill_(value=1).sum()); t(53, lambda: x.copy_(other=x * 2) if False else x.copy_(x * 2).sum()); t(54, lambda: x.clone(memory_format=torch.preserve_format).sum()); t(55, lambda: x.item()); t(56, lambda: x.get_device()); t(57, lambda: x.dim()); t(58, lambda: x.numpy(force=True).shape == (2, 3, 4))
t(59, lambda: torch.zeros(size=(2, 3)).shape); t(60, lambda: torch.full(size=(2,), fill_value=1.)); t(61, lambda: torch.arange(start=1, end=4, step=1)); t(62, lambda: torch.arange(end=3)); t(63, lambda: torch.linspace(start=0, end=1, steps=3)); t(64, lambda: torch.cat(tensors=[x, x], dim=1).shape); t(65, lambda: torch.stack(tensors=[x, x], dim=1).shape)
t(66, lambda: torch.where(condition=x > 1, input=x, other=0.).sum()); t(67, lambda: torch.randn(size=(2,), generator=torch.Generator().manual_seed(0))); t(68, lambda: torch.randint(low=0, high=5, size=(3,), generator=torch.Generator().manual_seed(0))); t(69, lambda: torch.eye(n=2)); t(70, lambda: torch.matmul(input=x, other=x.mT).shape); t(71, lambda: torch.nn.functional.linear(input=torch.ones(1, 2), weight=torch.ones(3, 2), bias=None)); t(72, lambda: torch.empty(size=(0,)).shape); t(73, lambda: torch.tensor(data=[1], dtype=torch.float)); t(74, lambda: torch.ones_like(input=x).sum()); t(75, lambda: torch.sum(input=x, dim=0).shape)
t(76, lambda: x.size(3)); t(77, lambda: x.size(dim=5)); t(78, lambda: x.size(foo=1)); t(79, lambda: x.stride()); 
t(90, lambda: torch.ones(2).cuda(non_blocking=True).shape if torch.cuda.is_available() else 0); t(92, lambda: torch.zeros(2).set_(source=torch.ones(3)))
t(93, lambda: torch.ones(1).requires_grad_(requires_grad=False).requires_grad)
