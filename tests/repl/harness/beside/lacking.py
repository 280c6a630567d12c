# SPDX-License-Identifier: MIT
# What a file of the program cannot import is the error, not the file.
from plain.lacks import something

print(something())
