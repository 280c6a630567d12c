# SPDX-License-Identifier: MIT
from .Peer import Peer


class Other(Peer):
    pass
