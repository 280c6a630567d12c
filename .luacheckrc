-- SPDX-License-Identifier: MIT
-- What the shell presets (SPEC of the prompt), and `arg`.
std = "lua54"
max_line_length = 100
globals = {"dt", "Shard", "Replicate", "Partial", "DTensor", "DeviceMesh",
  "nn", "F", "T", "arg"}
unused_args = false
-- Programs to be debugged: globals and unused values are their point.
files["tests/debug/fixtures"] = {ignore = {"111", "112", "113", "211", "311",
  "331"}}
