# SPDX-License-Identifier: MIT
"""torch.distributed.algorithms.ddp_comm_hooks.default_hooks: all-reduce of a
bucket, as it is or in half the bytes."""
import torch
import torch.distributed as dist


def _average(group, tensor):
    """A future of the mean of `tensor` over the group's ranks."""
    group = group if group is not None else dist.group.WORLD
    tensor.div_(group.size())
    done = dist.all_reduce(tensor, group=group, async_op=True).get_future()
    return done.then(lambda future: future.value()[0])


def allreduce_hook(process_group, bucket):
    return _average(process_group, bucket.buffer())


def _compressed(process_group, bucket, dtype):
    group = process_group if process_group is not None else dist.group.WORLD
    whole = bucket.buffer()
    small = whole.to(dtype).div_(group.size())
    done = dist.all_reduce(small, group=group, async_op=True).get_future()

    def restore(future):
        whole.copy_(future.value()[0])
        return whole

    return done.then(restore)


def fp16_compress_hook(process_group, bucket):
    return _compressed(process_group, bucket, torch.float16)


def bf16_compress_hook(process_group, bucket):
    return _compressed(process_group, bucket, torch.bfloat16)


def _wrapper(hook, dtype):
    def wrapped(hook_state, bucket):
        whole = bucket.buffer()
        bucket.set_buffer(whole.to(dtype))

        def restore(future):
            value = future.value()
            whole.copy_(value[0] if isinstance(value, list) else value)
            return whole

        return hook(hook_state, bucket).then(restore)

    return wrapped


def fp16_compress_wrapper(hook):
    return _wrapper(hook, torch.float16)


def bf16_compress_wrapper(hook):
    return _wrapper(hook, torch.bfloat16)
