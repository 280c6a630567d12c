# SPDX-License-Identifier: MIT
"""torch.distributed.checkpoint.format_utils: from a checkpoint's folder to one
file of torch.save, and back."""
import _dtrepl_checkpoint
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp


def dcp_to_torch_save(dcp_checkpoint_dir, torch_save_path):
    torch.save(_dtrepl_checkpoint.read(dcp_checkpoint_dir), torch_save_path)


def torch_save_to_dcp(torch_save_path, dcp_checkpoint_dir):
    state = torch.load(torch_save_path, weights_only=False)
    dcp.save(state, checkpoint_id=dcp_checkpoint_dir,
             no_dist=dist.is_initialized() and dist.get_world_size() > 1)
