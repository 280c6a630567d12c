-- SPDX-License-Identifier: MIT
-- What the shell presets (SPEC of the prompt), and `arg`.
std = "lua54"
max_line_length = 100
globals = {"dt", "Shard", "Replicate", "Partial", "DTensor", "DeviceMesh",
  "nn", "F", "T", "arg"}
unused_args = false
