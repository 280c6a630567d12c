# SPDX-License-Identifier: MIT
# Modules, packages and data below the program's folder.
import other
import parts.inner as inner
from parts import NAME, inner as again
from parts.deep.below import up, both
import parts.deep.below

print(other.VALUE, other.__name__, NAME, inner is again)
print(up(), both, parts.deep.below.both)
print(other.counted(), other.counted())
other.VALUE = 8
print(other.VALUE, other.read())
try:
    from . import other as relative
except ImportError as e:
    print(type(e).__name__, e)
try:
    import no_such_module
except ModuleNotFoundError as e:
    print(e)
try:
    from other import NOTHING
except ImportError as e:
    print(e)
# A class that is called like the file it is in.
from named import Other, Peer
import named
import named.Peer
print(Peer, Other, named.Peer is Peer, issubclass(Other, Peer))
# Folders without an __init__.py are packages, too; a file that cannot be
# imported says what it lacks.
from plain.below.leaf import value
from plain.below import leaf
import plain.below
print(value, leaf.__name__, plain.below.leaf is leaf, plain.below.__name__)
try:
    from plain.absent_part import x
except ModuleNotFoundError as e:
    print(e)
# What a module has from `import *`, others have from it.
from parts import wrapped
from parts.wrapped import ReduceOp, get_rank
print(wrapped.is_initialized(), ReduceOp.SUM == wrapped.ReduceOp.SUM, wrapped.get_rank is get_rank)
print(hasattr(wrapped, "new_group"), hasattr(wrapped, "Linear"), hasattr(wrapped, "no_such"))
wrapped.init_process_group("gloo")
print(wrapped.get_world_size() < 0)
wrapped.destroy_process_group()
