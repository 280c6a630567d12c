# SPDX-License-Identifier: MIT
import random, math, statistics
random.seed(42)
print(random.random(), random.randint(1, 100), random.choice("abc"), random.uniform(1, 2), random.gauss(0, 1), random.sample(range(100), 5), random.shuffle(l := list(range(10))), l, random.choices([1,2,3], k=4), random.choices("ab", weights=[1, 9], k=5), random.randrange(0, 100, 7), random.getrandbits(70), random.betavariate(1, 2), random.expovariate(1.5), random.normalvariate(0, 1), random.triangular(), random.lognormvariate(0, 1), random.vonmisesvariate(0, 1), random.gammavariate(2, 3), random.paretovariate(3), random.weibullvariate(1, 2), random.randbytes(3))
r = random.Random(77); print(r.random(), r.getstate()[0]); s = r.getstate(); x = r.random(); r.setstate(s); print(x == r.random(), random.Random(2**100).random(), 1)
print(math.sqrt(2), math.pi, math.floor(-1.5), math.ceil(1.2), math.isclose(1, 1+1e-10), math.comb(50, 20), math.perm(5, 2), math.factorial(25), math.gcd(12, 18, 8), math.lcm(4, 6), math.prod([1,2,3.0]), math.dist([0,0],[3,4]), math.hypot(1,2,3), math.log(8, 2), math.log2(10), math.log10(1000), math.log1p(1e-10), math.exp(1), math.expm1(1e-10), math.trunc(-3.7), math.copysign(1, -0.0), math.fsum([.1]*10), math.isqrt(10**20), math.frexp(8.5), math.ldexp(.5, 4), math.modf(3.25), math.degrees(1), math.atan2(1, -1), math.erf(.5), math.gamma(5.5), math.inf, math.nan, math.remainder(7, 3), math.nextafter(1, 2), math.ulp(1.0), math.cbrt(27), math.tau)
for f in (lambda: math.sqrt(-1), lambda: math.log(0), lambda: math.exp(1000), lambda: math.factorial(-1), lambda: math.factorial(1.5)):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
print(statistics.mean([1,2,3,4]), statistics.median([1,3,2]), statistics.stdev([1,2,3,4]), statistics.pstdev([1,2]), statistics.mode("aab"), statistics.variance([1,2,4]), statistics.quantiles([1,2,3,4,5]), statistics.fmean([1,2]), statistics.harmonic_mean([1,2]), statistics.geometric_mean([1,2,3]))
