# SPDX-License-Identifier: MIT
"""test: what Python's own tests ask of the installation."""
