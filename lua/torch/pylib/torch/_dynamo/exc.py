# SPDX-License-Identifier: MIT
"""torch._dynamo.exc: what torch.compile raises."""


class TorchDynamoException(RuntimeError):
    pass


class InvalidBackend(TorchDynamoException):
    def __init__(self, name):
        super().__init__(f"Invalid backend: {name!r}. See "
                         "`torch._dynamo.list_backends()` for available "
                         "backends.")
