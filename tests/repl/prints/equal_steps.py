# SPDX-License-Identifier: MIT
# linspace: ends of integers lose their fraction first; 16-bit floats are computed
# in float32 and rounded once (until 2.14 after every operation).
import torch

ENDS = ((0.5, 3.7, 5), (-10, 4.9, 7), (0.9, 9.9, 4), (1, 100, 50), (0, 1, 33),
        (3, 5, 1), (3, 5, 0), (0.1, 5, 2))
for t in (torch.int64, torch.int32, torch.uint8, torch.float32, torch.float64,
          torch.bfloat16, torch.float16):
    for start, end, steps in ENDS:
        print(t, start, end, torch.linspace(start, end, steps,
                                            dtype=t).tolist())
    print(torch.linspace(torch.tensor(1.), 40.5, 40, dtype=t).tolist())
