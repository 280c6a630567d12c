# SPDX-License-Identifier: MIT
# Settings of determinism, and numbers for compilers.
import torch
print(torch.get_deterministic_debug_mode()); torch.set_deterministic_debug_mode("warn"); print(torch.get_deterministic_debug_mode(), torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()); torch.set_deterministic_debug_mode(2); print(torch.get_deterministic_debug_mode(), torch.is_deterministic_algorithms_warn_only_enabled()); torch.set_deterministic_debug_mode(0)
for bad in ("x", 7, 1.5):
    try: torch.set_deterministic_debug_mode(bad)
    except Exception as e: print(type(e).__name__, e)
print(torch.sym_max(2, 3), torch.sym_min(2, 3.0), torch.sym_int(2.7), torch.sym_int(-2.7), torch.sym_float(2), torch.sym_not(True), torch.sym_sum([1, 2]), torch.sym_ite(True, 1, 2), torch.sym_max(2, 1.0))
