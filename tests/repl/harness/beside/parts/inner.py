# SPDX-License-Identifier: MIT
WORD = "inner"
