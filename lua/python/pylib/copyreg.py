# SPDX-License-Identifier: MIT
"""copyreg: how classes are copied and pickled that do not say it themselves."""
import _absent

dispatch_table = {}


def __newobj__(cls, *args):
    return cls.__new__(cls, *args)


def __newobj_ex__(cls, args, kwargs):
    return cls.__new__(cls, *args, **kwargs)


def pickle(ob_type, pickle_function, constructor_ob=None):
    raise _absent.error("copyreg.pickle is not part of dtrepl; __reduce__ is")


def constructor(object):
    if not callable(object):
        raise TypeError("constructors must be callable")
