# SPDX-License-Identifier: MIT
"""secrets: what no seed of the program's decides."""
import base64
import os
from hmac import compare_digest

DEFAULT_ENTROPY = 32


def randbits(k):
    return int.from_bytes(os.urandom(-(-k // 8)), "big") >> (-k % 8)


def randbelow(exclusive_upper_bound):
    if exclusive_upper_bound <= 0:
        raise ValueError("Upper bound must be positive.")
    k = exclusive_upper_bound.bit_length()
    r = randbits(k)
    while r >= exclusive_upper_bound:
        r = randbits(k)
    return r


def choice(seq):
    if not len(seq):
        raise IndexError("Cannot choose from an empty sequence")
    return seq[randbelow(len(seq))]


def token_bytes(nbytes=None):
    return os.urandom(DEFAULT_ENTROPY if nbytes is None else nbytes)


def token_hex(nbytes=None):
    return token_bytes(nbytes).hex()


def token_urlsafe(nbytes=None):
    return base64.urlsafe_b64encode(token_bytes(nbytes)).rstrip(
        b"=").decode("ascii")
