# SPDX-License-Identifier: MIT
"""torch.testing._internal.logging_utils."""
import _absent
from torch.testing._internal.common_utils import TestCase


class LoggingTestCase(TestCase):
    """Tests of what PyTorch logs; it logs nothing here."""

    def run_process_no_exception(self, code, env=None):
        raise _absent.error("LoggingTestCase.run_process_no_exception "
                            "is not part of dtrepl: no program is "
                            "started")
