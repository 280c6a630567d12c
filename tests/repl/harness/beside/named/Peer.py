# SPDX-License-Identifier: MIT
class Peer:
    pass
