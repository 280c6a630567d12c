# SPDX-License-Identifier: MIT
"""flex_attention with its masks in blocks; masks of other shapes for
scaled_dot_product_attention."""
import torch
from torch.nn.attention.flex_attention import *
from torch.nn.attention.flex_attention import create_mask, and_masks, or_masks, noop_mask
c = lambda b, h, q, k: q >= k
for S, L, bs in ((8, 8, 128), (300, 300, 128), (256, 128, 64), (100, 200, (32, 64))):
    bm = create_block_mask(c, None, None, S, L, device='cpu', BLOCK_SIZE=bs)
    print(bm.shape, f'{bm.sparsity():.2f}', bm.BLOCK_SIZE, bm.kv_num_blocks, bm.full_kv_num_blocks, bm.seq_lengths, bm.to_dense().shape, bm.to_dense().sum(), bm.kv_indices.shape, bm.kv_indices.dtype, bm.kv_indices[0, 0, -1], bm.full_kv_indices[0, 0, -1])
bm = create_block_mask(lambda b, h, q, k: (q >= k) & (h > 0), 2, 3, 200, 200, device='cpu'); print(bm.shape, f'{bm.sparsity():.2f}', bm.numel(), bm.kv_num_blocks.flatten())
torch.manual_seed(0); q, k, v = torch.randn(3, 2, 4, 8, 8).unbind()
print(create_mask(c, None, None, 3, 3, device='cpu'), or_masks(c, lambda b, h, q, k: k == 2)(torch.tensor(0), torch.tensor(0), torch.tensor(0), torch.tensor(2)))
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, str(e)[:160])
t(lambda: flex_attention(q[0], k, v)); t(lambda: flex_attention(q, k[:, :2], v[:, :2])); t(lambda: flex_attention(q.requires_grad_(), k, v)); q = q.detach()
from torch.nn.attention.flex_attention import flex_attention
t(lambda: and_masks(3)); t(lambda: flex_attention(q, k, v, block_mask=create_block_mask(c, None, None, 4, 4, device='cpu')).shape)
t(lambda: flex_attention(q, k, v, block_mask=create_block_mask(lambda b, h, q, k: k > 7, None, None, 8, 8, device='cpu'), return_lse=True)[1][0, 0])
t(lambda: flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: torch.where(i >= j, s, -float('inf'))).sum((1, 3)))
from torch.nn.attention.bias import causal_lower_right, causal_upper_left
import torch.nn.functional as F
q, k, v = torch.randn(3, 2, 4, 8, 8).unbind()
for m in (torch.ones(4, 8, 8).tril().bool(), torch.randn(4, 8, 8), torch.randn(8), torch.randn(1, 8), torch.randn(2, 1, 8, 8)):
    t(lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=m)[0, 0, :2])
t(lambda: F.scaled_dot_product_attention(q[:, :, :3], k, v, attn_mask=causal_lower_right(3, 8))[0, 0]); t(lambda: F.scaled_dot_product_attention(q[:, :, :3], k, v, attn_mask=causal_upper_left(3, 8))[0, 0])
class Same:
    def __call__(self, b, h, q, k): return q == k
t(lambda: create_mask(Same(), 1, 1, 2, 2, device='cpu')); t(lambda: create_mask(lambda b, h, q, k, window=1: q - k < window, 1, 1, 2, 2, device='cpu')); t(lambda: create_mask(lambda q, k: q >= k, 1, 1, 2, 2, device='cpu'))
t(lambda: flex_attention(q[:, :3], k[:, :2], v[:, :2], enable_gqa=True))
