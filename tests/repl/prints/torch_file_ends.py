# SPDX-License-Identifier: MIT
# Bytes and integers at the ends of their forms through a file of torch.save.
import io
import torch

for value in (bytes(range(256)), b"\x00", b"\x7f\x80\xff", 255, 256, 65535, 65536, 2 ** 31 - 1, 2 ** 31,
              -2 ** 31, -2 ** 31 - 1, 2 ** 62, True, None, 0.5, "", "é", "x" * 300):
    file = io.BytesIO()
    torch.save({"value": value, "list": [value, value]}, file)
    file.seek(0)
    back = torch.load(file)
    print(type(back["value"]).__name__, back["value"] == value, back["list"] == [value, value])
