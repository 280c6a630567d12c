# SPDX-License-Identifier: MIT
from named.Peer import Peer
from .Other import Other
