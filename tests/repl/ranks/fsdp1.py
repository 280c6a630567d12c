# SPDX-License-Identifier: MIT
# FullyShardedDataParallel: sharded, accumulated, clipped, whole again
import functools
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
from torch.distributed.fsdp import (FullyShardedDataParallel as FSDP,
    FullStateDictConfig, MixedPrecision, ShardingStrategy, StateDictType)
from torch.distributed.fsdp.wrap import (ModuleWrapPolicy,
    size_based_auto_wrap_policy, transformer_auto_wrap_policy)

dist.init_process_group("gloo")
rank = dist.get_rank()


def show(*what):
    if rank == 0:
        print(*what)


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.ln, self.fc = nn.LayerNorm(d), nn.Linear(d, 2 * d)
        self.out = nn.Linear(2 * d, d)

    def forward(self, x):
        return x + self.out(F.gelu(self.fc(self.ln(x))))


class Net(nn.Module):
    def __init__(self, d=6):
        super().__init__()
        self.emb = nn.Embedding(10, d)
        self.blocks = nn.ModuleList([Block(d) for _ in range(2)])
        self.head = nn.Linear(d, 10)

    def forward(self, t):
        x = self.emb(t)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def train(model, opt):
    torch.manual_seed(10 + rank)
    for i in range(3):
        for last in (False, True):
            t = torch.randint(0, 10, (4, 5))
            loss = F.cross_entropy(model(t).flatten(0, 1), t.flatten())
            if last:
                loss.backward()
            else:
                with model.no_sync():
                    loss.backward()
        norm = model.clip_grad_norm_(0.5)
        opt.step()
        opt.zero_grad()
        show(i, f"{loss.item():.4f} {norm.item():.4f}")


policy = functools.partial(transformer_auto_wrap_policy,
                           transformer_layer_cls={Block})
for own in (False, True):
    for strategy in (ShardingStrategy.FULL_SHARD,
                     ShardingStrategy.SHARD_GRAD_OP):
        torch.manual_seed(0)
        model = FSDP(Net(), auto_wrap_policy=policy, use_orig_params=own,
                     sharding_strategy=strategy,
                     device_id=torch.device("cpu"))
        show(own, strategy, model)
        for name, p in model.named_parameters():
            show(name, tuple(p.shape), type(p).__name__)
        opt = torch.optim.Adam(model.parameters(), lr=1e-2)
        train(model, opt)
        with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT,
                                  FullStateDictConfig(rank0_only=True)):
            state = model.state_dict()
        print("rank", rank, "has", len(state))
        show({k: tuple(v.shape) for k, v in state.items()})
        osd = FSDP.optim_state_dict(model, opt)
        show(list(osd["state"])[:3], list(osd["state"]["head.bias"]))
        with FSDP.summon_full_params(model):
            show([(n, tuple(p.shape)) for n, p in model.named_parameters()])
            model.module.head.bias.data.fill_(2.0)
        show(model.state_dict()["head.bias"])

show(FSDP(Net(), auto_wrap_policy=functools.partial(
    size_based_auto_wrap_policy, min_num_params=100),
    device_id=torch.device("cpu")))
net = Net()
net.emb.weight.requires_grad = False
try:
    FSDP(net, device_id=torch.device("cpu"))
except ValueError as e:
    show(e)
dist.destroy_process_group()
