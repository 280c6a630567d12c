# SPDX-License-Identifier: MIT
"""abc: what is older than abstractmethod, and what is rarely asked."""
from abc import abstractmethod


def get_cache_token():
    return 0


def update_abstractmethods(cls):
    return cls


class abstractclassmethod(classmethod):
    __isabstractmethod__ = True

    def __init__(self, callable):
        super().__init__(abstractmethod(callable))


class abstractstaticmethod(staticmethod):
    __isabstractmethod__ = True

    def __init__(self, callable):
        super().__init__(abstractmethod(callable))


class abstractproperty(property):
    __isabstractmethod__ = True
