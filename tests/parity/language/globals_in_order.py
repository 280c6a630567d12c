"""globals() and __globals__ give the names of a module in the order in which they
were bound; one that was deleted comes again at the end."""
zeta = 1
alpha, mid = 2, 3.0
for last in range(2):
    pass
def function():
    global late
    late = "x"
    here = [k for k, v in globals().items() if not k.startswith("_")]
    return here
class Config:
    pass
print(function())
del alpha
zeta = 5
alpha = 6
print([k for k in globals() if not k.startswith("_")])
print([k for k in function.__globals__ if not k.startswith("_")])
if (walrus := 3) > 2:
    import math as m, os
print([k for k in globals() if not k.startswith("_")][-4:])
names = {}
exec("b = 1\na = 2\nc = list(globals())", names)
print([k for k in names if not k.startswith("__")], [k for k in names["c"] if not k.startswith("__")])
