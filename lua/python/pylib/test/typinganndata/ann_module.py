# SPDX-License-Identifier: MIT
"""Stands for a module with metaclasses, which are not part of dtrepl."""
