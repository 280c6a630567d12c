# SPDX-License-Identifier: MIT
"""torch.utils.hooks: the handle of a hook, for one's own registries."""


class RemovableHandle:
    """remove() takes `id` out of the dictionaries of hooks."""
    next_id = 0

    def __init__(self, hooks_dict, *, extra_dict=None):
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        more = [] if extra_dict is None else [extra_dict] if isinstance(
            extra_dict, dict) else list(extra_dict)
        self._hooks = [hooks_dict] + more

    def remove(self):
        for hooks in self._hooks:
            hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, type, value, tb):
        self.remove()
