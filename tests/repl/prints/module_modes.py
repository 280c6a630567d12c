# SPDX-License-Identifier: MIT
# What a module's mode decides, and other small boundaries: statistics of the
# input or the running ones, padded rows of an encoder, a struct's native sizes,
# the sizes that a pooling may have come from.
import struct
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
x = torch.arange(12.0).reshape(1, 2, 6) ** 1.5
for track in (False, True):
    for train in (True, False):
        norm = nn.InstanceNorm1d(2, track_running_stats=track)
        norm.train(train)
        y = norm(x)
        print(track, train, [round(v, 3) for v in y[0, 1].tolist()])

layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
encoder = nn.TransformerEncoder(layer, 1)
src = torch.ones(2, 3, 4)
pad = torch.tensor([[False, False, True], [False, False, False]])
for train in (True, False):
    encoder.train(train)
    with torch.no_grad():
        out = encoder(src, src_key_padding_mask=pad)
    print(train, out.shape, bool((out[0, 2] == 0).all()), bool((out[1, 2] == 0).all()))
with torch.no_grad():
    print(bool((encoder(src) == 0).any()))

for mark in ("", "@", "=", "<", ">", "!"):
    print(repr(mark), struct.calcsize(mark + "bi"), struct.calcsize(mark + "hq"),
          struct.calcsize(mark + "l"), struct.pack(mark + "h", 258))

for text in (" ab ", "xabx"):
    print(repr(text.strip(None)), repr(text.lstrip()), repr(text.rstrip("x")))

pool = torch.arange(16.0).reshape(1, 1, 4, 4)
print(F.adaptive_max_pool2d(pool, (2, None)).shape, F.adaptive_avg_pool2d(pool, 1))
print(F.adaptive_max_pool2d(pool, 2).flatten().tolist())

small, where = F.max_pool2d(pool, 2, return_indices=True)
for size in (None, (4, 4), (1, 1, 4, 4), (5, 5), (4, 4, 4)):
    try:
        print(F.max_unpool2d(small, where, 2, output_size=size).shape)
    except ValueError as e:
        print(e)
