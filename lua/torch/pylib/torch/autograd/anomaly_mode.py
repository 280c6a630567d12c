# SPDX-License-Identifier: MIT
"""torch.autograd.anomaly_mode: a backward pass that stops at the first node
that gives a NaN."""
import _nodes
import warnings

_state = {"enabled": False, "check_nan": True}


def _check(gradients, name):
    for i, gradient in enumerate(gradients):
        if gradient is not None and bool(gradient.isnan().any()):
            raise RuntimeError(f"Function '{name}' returned nan values in its "
                               f"{i}th output.")


def _set(enabled, check_nan):
    _state["enabled"], _state["check_nan"] = enabled, check_nan
    _nodes.see(_check if enabled and check_nan else None)


def is_anomaly_enabled():
    return _state["enabled"]


def is_anomaly_check_nan_enabled():
    return _state["check_nan"]


class detect_anomaly:
    """Within it backward passes are watched."""
    __module__ = "torch.autograd.anomaly_mode"

    def __init__(self, check_nan=True):
        self.prev = is_anomaly_enabled()
        self.check_nan = check_nan
        self.prev_check_nan = is_anomaly_check_nan_enabled()
        warnings.warn("Anomaly Detection has been enabled. This mode will "
                      "increase the runtime and should only be enabled for "
                      "debugging.", stacklevel=2)

    def __enter__(self):
        _set(True, self.check_nan)

    def __exit__(self, *args):
        _set(self.prev, self.prev_check_nan)


class set_detect_anomaly:
    """It holds at once, and to the end of its block where it is one."""
    __module__ = "torch.autograd.anomaly_mode"

    def __init__(self, mode, check_nan=True):
        self.prev = is_anomaly_enabled()
        self.prev_check_nan = is_anomaly_check_nan_enabled()
        _set(mode, check_nan)

    def __enter__(self):
        pass

    def __exit__(self, *args):
        _set(self.prev, self.prev_check_nan)
