# SPDX-License-Identifier: MIT
# torch.chain_matmul takes its matrices one by one.
import torch, warnings
warnings.simplefilter("ignore")
a = torch.arange(6.).view(2, 3)
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
t(lambda: torch.chain_matmul(a, a.T)); t(lambda: torch.chain_matmul(a, a.T, a)); t(lambda: torch.chain_matmul([a, a.T]));t(lambda: torch.chain_matmul(a)); t(lambda: torch.chain_matmul()); t(lambda: torch.chain_matmul(a, a)); t(lambda: torch.chain_matmul(a, 2)); t(lambda: torch.chain_matmul(a, a[0]))
