# SPDX-License-Identifier: MIT
there = 41
