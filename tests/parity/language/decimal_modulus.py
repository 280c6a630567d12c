# SPDX-License-Identifier: MIT
# Powers of Decimal with a modulus: their sign, and what is no such power.
from decimal import *
c = getcontext()
D = Decimal
for t in [(3,4,5),(-3,3,5),(-3,2,5),(3,3,-5),(2,-1,7),(2,3,0),(0,0,5),(D('2.5'),2,3),(2,D('1.5'),3),(2,2,D('NaN')),(D('Infinity'),2,3),(2,100,10**20),(2,3,10**28), (2,3,10**27), (0,3,7), (7, 0, 7), (7,0,1)]:
    for f in (lambda a,b,m: pow(D(a),D(b),D(m)), lambda a,b,m: c.power(D(a),D(b),D(m))):
        try: print(t, f(*t))
        except Exception as e: print(t, type(e).__name__, e)
print(c.power(2, 3), c.power(D(2), 3, 5), pow(D(2), 3, 5))
