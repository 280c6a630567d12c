# SPDX-License-Identifier: MIT
from ..inner import WORD
from .. import NAME
from . import NAME as own

both = (NAME, own)


def up():
    return WORD
