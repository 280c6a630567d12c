# SPDX-License-Identifier: MIT
NAME = __name__
