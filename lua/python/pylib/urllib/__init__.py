# SPDX-License-Identifier: MIT
"""urllib: only what works on texts (urllib.parse)."""
