# SPDX-License-Identifier: MIT
# Integers of more than 53 and 64 bits: their quotients, shifts and floats; the
# shortest text of floats.
import random
random.seed(5)
L=[2.0**k for k in range(-1074,1024,7)]+[random.uniform(-1,1)*10**random.randint(-320,300) for _ in range(300)]+[1e22,1e23,1e16,1e15,123456789012345680.0,1e-5,0.0001,5e-324,2.2250738585072014e-308,1.7976931348623157e308,100.0,-0.0,0.1+0.2,1/3,9007199254740993.0]
for x in L: print(x,-x)
for k in range(300):
    a=random.randint(-10**random.randint(1,40),10**random.randint(1,40)); b=random.randint(1,10**random.randint(1,40))
    print(a/b, -a/b, a//-b, a%-b, float(a), a<<k%70, a>>k%70)
print((-2**63) << 39, (-2**63) << 1, (2**62) << 1, 1 << 63, -1 << 64, (2**63 - 1) << 2)
print(float(-(2**132)), float(2**1023), float(2**54 + 3), 10**400 / 10**399)
print(round(-2.25, -2), round(2 / -1, -2), round(-51.0, -2), round(5e300, -299))
try:
    print(10**400 / 3)
except OverflowError as e:
    print(e)
