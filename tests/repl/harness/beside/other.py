# SPDX-License-Identifier: MIT
VALUE = 7
count = 0


def counted():
    global count
    count += 1
    return count


def read():
    return VALUE
