/* SPDX-License-Identifier: MIT
** kernel/special.c: special functions of doubles.
**
** Methods are chosen for shortness at double accuracy, not for speed: power
** series near zero, asymptotic series far away, the trapezoid rule (which
** converges exponentially for these integrands) for K, Newton's method on
** libm's erf for the inverses. */

#include <float.h>
#include <math.h>
#include <stdint.h>
#include "kernel/special.h"

static const double pi = 3.14159265358979323846;
static const double sqrt2 = 1.41421356237309504880;
static const double euler = 0.57721566490153286061;

double dt_sp_lgamma (double x) {
  int sign;                     /* lgamma() itself writes a global */
  return lgamma_r(x, &sign);
}

double dt_sp_digamma (double x) {
  double r = 0;
  if (x == 0) return copysign(INFINITY, -x);
  if (x < 0) {
    if (x == trunc(x)) return NAN;
    r = -pi / tan(pi * fmod(x, 1.0));
    x = 1 - x;
  }
  for (; x < 10; x += 1) r -= 1 / x;
  double y = 1 / (x * x);
  double tail = y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 -
    y * (1.0 / 240 - y * (1.0 / 132 - y * (691.0 / 32760 - y / 12))))));
  return isinf(x) ? x : r + log(x) - 0.5 / x - tail;
}

/* Euler and Maclaurin: ten terms, the integral, and corrections
** B_2k / (2k)! * s (s+1) ... (s+2k-2) / w^(s+2k-1). */
/* Terms until they vanish, then Euler and Maclaurin: the divisors are
** (2k)! / B_2k.  The rising product and the power stay apart, so that an
** overflow of one gives NaN, as in PyTorch. */
double dt_sp_zeta (double s, double q) {
  static const double d[] = {
    12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1.8924375803183791606e9,
    7.47242496e10, -2.950130727918164224e12, 1.1646782814350067249e14,
    -4.5979787224074726105e15, 1.8152105401943546773e17,
    -7.1661652561756670113e18,
  };
  const double eps = 1.11022302462515654042e-16;
  if (s == 1) return INFINITY;
  if (s < 1) return NAN;
  if (q <= 0) {
    if (q == floor(q)) return INFINITY;
    if (s != floor(s)) return NAN;
  }
  double sum = pow(q, -s), w = q, p = 0;
  for (int i = 0; i < 9 || w <= 9; i++) {
    w += 1;
    p = pow(w, -s);
    sum += p;
    if (-eps * sum < p && p < eps * sum) return sum;
  }
  sum += p * w / (s - 1) - 0.5 * p;
  double a = 1;
  for (int i = 0; i < 12; i++) {
    a *= s + 2 * i;
    p /= w;
    double t = a * p / d[i];
    sum += t;
    if (fabs(t / sum) < eps) return sum;
    a *= s + 2 * i + 1;
    p /= w;
  }
  return sum;
}

double dt_sp_polygamma (int n, double x) {
  if (n == 0) return dt_sp_digamma(x);
  if (n == 1 && x < 0.5) {      /* reflection */
    double s = sin(pi * x);
    return pi * pi / (s * s) - dt_sp_polygamma(1, 1 - x);
  }
  double v = exp(dt_sp_lgamma(n + 1.0)) * dt_sp_zeta(n + 1.0, x);
  return n % 2 == 0 ? -v : v;
}

/* ---- error function and normal distribution ------------------------------- */

double dt_sp_erfcx (double x) {
  if (x != x) return x;
  if (x < -26.7) return INFINITY;
  if (x < 0) return 2 * exp(x * x) - dt_sp_erfcx(-x);
  if (x < 6) {
    double hi = ldexp(rint(ldexp(x, 20)), -20), lo = x - hi;
    return exp(hi * hi) * exp(lo * (x + hi)) * erfc(x);
  }
  double f = 0;                 /* continued fraction from the far end */
  for (int k = 40; k > 0; k--) f = k * 0.5 / (x + f);
  return 1 / ((x + f) * sqrt(pi));
}

/* First guess of the inverse normal distribution: rational approximations of
** relative error 1e-9 (P. J. Acklam). */
static double ndtri_guess (double p) {
  static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,
    -2.759285104469687e+02, 1.383577518672690e+02, -3.066479806614716e+01,
    2.506628277459239e+00};
  static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02,
    -1.556989798598866e+02, 6.680131188771972e+01, -1.328068155288572e+01};
  static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01,
    -2.400758277161838e+00, -2.549732539343734e+00, 4.374664141464968e+00,
    2.938163982698783e+00};
  static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01,
    2.445134137142996e+00, 3.754408661907416e+00};
  if (p > 0.97575) return -ndtri_guess(1 - p);
  if (p < 0.02425) {
    double q = sqrt(-2 * log(p));
    return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q +
            c[5]) / ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  }
  double q = p - 0.5, r = q * q;
  return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r +
          a[5]) * q /
         (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

double dt_sp_ndtri (double p) {
  if (p == 0) return -INFINITY;
  if (p == 1) return INFINITY;
  if (!(p > 0 && p < 1)) return NAN;
  if (p > 0.5) return -dt_sp_ndtri(1 - p);
  double x = ndtri_guess(p);
  for (int k = 0; k < 2; k++) {                 /* Halley */
    double e = 0.5 * erfc(-x / sqrt2) - p;
    double u = e * sqrt(2 * pi) * exp(x * x / 2);
    x -= u / (1 + x * u / 2);
  }
  return x;
}

double dt_sp_erfinv (double y) {
  double a = fabs(y);
  if (a == 1) return copysign(INFINITY, y);
  if (!(a < 1)) return NAN;
  if (a < 1e-8) return y * sqrt(pi) / 2;
  double x = -ndtri_guess((1 - a) / 2) / sqrt2;
  for (int k = 0; k < 2; k++) {
    double e = a < 0.5 ? erf(x) - a : (1 - a) - erfc(x);
    x -= e * sqrt(pi) / 2 * exp(x * x);
  }
  return copysign(x, y);
}

double dt_sp_log_ndtr (double x) {
  double t = x / sqrt2;
  if (x < -1) return log(dt_sp_erfcx(-t) / 2) - t * t;
  return log1p(-erfc(t) / 2);
}

/* ---- incomplete gamma ------------------------------------------------------ */

static double gamma_front (double a, double x) {
  return exp(a * log(x) - x - dt_sp_lgamma(a));
}

static double gamma_series (double a, double x) {
  double sum = 1, term = 1, n = a;
  for (int k = 0; k < 10000 && term > sum * 1e-17; k++) {
    n += 1;
    term *= x / n;
    sum += term;
  }
  return gamma_front(a, x) * sum / a;
}

/* Lentz's evaluation of the continued fraction of the upper function. */
static double gamma_fraction (double a, double x) {
  const double tiny = 1e-300;
  double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;
  for (int k = 1; k < 10000; k++) {
    double an = -k * (k - a);
    b += 2;
    d = an * d + b;
    d = 1 / (fabs(d) < tiny ? tiny : d);
    c = b + an / c;
    c = fabs(c) < tiny ? tiny : c;
    h *= d * c;
    if (fabs(d * c - 1) < 1e-16) break;
  }
  return gamma_front(a, x) * h;
}

/* Limits: the lower function's value, or -1 for "compute it". */
static double gamma_limit (double a, double x) {
  if (x < 0 || a < 0) return NAN;
  if (a == 0) return x > 0 ? 1 : NAN;
  if (x == 0) return 0;
  if (isinf(a)) return isinf(x) ? NAN : 0;
  if (isinf(x)) return 1;
  return a != a || x != x ? NAN : -1;
}

/* PyTorch's factor x^a e^-x / Gamma(a) is 0 from e^-max on, and so is what it
** multiplies; where x is near a it has 1 / a for its size. */
static bool front_is_lost (double a, double x, bool narrow) {
  double max = narrow ? 88.72283905206835 : 709.782712893384;
  if (fabs(a - x) > 0.4 * a)
    return a * log(x) - x - dt_sp_lgamma(a) < -max;
  return a < 1 && 1.425 / a > (narrow ? FLT_MAX : DBL_MAX);
}

double dt_sp_igamma (double a, double x, bool narrow) {
  double v = gamma_limit(a, x);
  if (v != -1) return v;
  if (!(x > 1 && x > a) && front_is_lost(a, x, narrow)) return 0;
  return x < a + 1 ? gamma_series(a, x) : 1 - gamma_fraction(a, x);
}

double dt_sp_igammac (double a, double x) {
  double v = gamma_limit(a, x);
  if (v != -1) return 1 - v;
  return x < a + 1 ? 1 - gamma_series(a, x) : gamma_fraction(a, x);
}

/* ---- Bessel functions ------------------------------------------------------- */

/* exp(-|x|) I_nu(|x|) for nu = 0, 1. */
static double bessel_ie (int nu, double a) {
  double term, sum;
  if (isinf(a)) return 0;
  if (a > 40) {                 /* asymptotic */
    term = sum = 1;
    for (int k = 1; k < 40; k++) {
      double m = 2.0 * k - 1;
      term *= -(4.0 * nu - m * m) / (8 * a * k);
      sum += term;
      if (fabs(term) < 1e-17) break;
    }
    return sum / sqrt(2 * pi * a);
  }
  term = sum = nu ? a / 2 : 1;
  for (int k = 1; k < 500 && term > sum * 1e-18; k++) {
    term *= a * a / 4 / ((double)k * (k + nu));
    sum += term;
  }
  return sum * exp(-a);
}

double dt_sp_i0e (double x) { return bessel_ie(0, fabs(x)); }
double dt_sp_i1e (double x) { return copysign(bessel_ie(1, fabs(x)), x); }

/* exp(a) in two factors, so that the product overflows only when it must. */
static double unscale (double v, double a) {
  if (isinf(a)) return NAN;     /* as PyTorch has it */
  return v * exp(a / 2) * exp(a / 2);
}

double dt_sp_i0 (double x) { return unscale(bessel_ie(0, fabs(x)), fabs(x)); }

double dt_sp_i1 (double x) {
  return copysign(unscale(bessel_ie(1, fabs(x)), fabs(x)), x);
}

/* exp(x) K_nu(x) = integral of exp(-x (cosh t - 1)) cosh(nu t). */
static double bessel_ke (double nu, double x) {
  if (x != x || x < 0) return NAN;
  if (x == 0) return INFINITY;
  if (isinf(x)) return 0;
  const double h = x < 256 ? 1.0 / 32 : 0.5 / sqrt(x);  /* width 1/sqrt(x) */
  double sum = 0.5;
  for (int k = 1; k < 4000; k++) {
    double t = k * h, s = sinh(t / 2);
    double f = exp(-2 * x * s * s) * cosh(nu * t);
    sum += f;
    if (f < sum * 1e-18 && 2 * x * s * s > 1) break;
  }
  return sum * h;
}

/* Near zero the integral is long; the series is short. */
static double k0_series (double x) {
  double q = x * x / 4, term = 1, h = 0, sum = 0;
  for (int k = 1; k < 30; k++) {
    term *= q / ((double)k * k);
    h += 1.0 / k;
    sum += term * h;
  }
  return sum - (log(x / 2) + euler) * dt_sp_i0(x);
}

double dt_sp_k0e (double x) {
  return x > 0 && x < 1 ? k0_series(x) * exp(x) : bessel_ke(0, x);
}

double dt_sp_k0 (double x) {
  return x > 0 && x < 1 ? k0_series(x) : bessel_ke(0, x) * exp(-x);
}

/* From the Wronskian I0 K1 + I1 K0 = 1 / x. */
static double k1_small (double x) {
  return (1 / x - dt_sp_i1(x) * k0_series(x)) / dt_sp_i0(x);
}

double dt_sp_k1e (double x) {
  return x > 0 && x < 1 ? k1_small(x) * exp(x) : bessel_ke(1, x);
}

double dt_sp_k1 (double x) {
  return x > 0 && x < 1 ? k1_small(x) : bessel_ke(1, x) * exp(-x);
}

/* PyTorch has no limits at infinity. */
double dt_sp_bessel_j0 (double x) { return isinf(x) ? NAN : j0(x); }
double dt_sp_bessel_j1 (double x) { return isinf(x) ? NAN : j1(x); }
double dt_sp_bessel_y0 (double x) {
  return x < 0 || isinf(x) ? NAN : x == 0 ? -INFINITY : y0(x);
}

/* n coefficients, the highest power first. */
static double polynomial (double x, const double *c, int n) {
  double v = 0;
  for (int i = 0; i < n; i++) v = v * x + c[i];
  return v;
}

/* Cephes' rational approximations with PyTorch's slip: their denominators have
** a leading 1 that it leaves out, which shows in the seventh digit. */
double dt_sp_bessel_y1 (double x) {
  static const double yp[] = {
    1.26320474790178026440e9, -6.47355876379160291031e11,
    1.14509511541823727583e14, -8.12770255501325109621e15,
    2.02439475713594898196e17, -7.78877196265950026825e17 };
  static const double yq[] = {
    5.94301592346128195359e2, 2.35564092943068577943e5,
    7.34811944459721705660e7, 1.87601316108706159478e10,
    3.88231277496238566008e12, 6.20557727146953693363e14,
    6.87141087355300489866e16, 3.97270608116560655612e18 };
  static const double pp[] = {
    7.62125616208173112003e-4, 7.31397056940917570436e-2,
    1.12719608129684925192, 5.11207951146807644818, 8.42404590141772420927,
    5.21451598682361504063, 1 };
  static const double pq[] = {
    5.71323128072548699714e-4, 6.88455908754495404082e-2,
    1.10514232634061696926, 5.07386386128601488557, 8.39985554327604159757,
    5.20982848682361821619, 1 };
  static const double qp[] = {
    5.10862594750176621635e-2, 4.98213872951233449420,
    7.58238284132545283818e1, 3.66779609360150777800e2,
    7.10856304998926107277e2, 5.97489612400613639965e2,
    2.11688757100572135698e2, 2.52070205858023719784e1 };
  static const double qq[] = {
    7.42373277035675149943e1, 1.05644886038262816351e3,
    4.98641058337653607651e3, 9.56231892404756170795e3,
    7.99704160447350683650e3, 2.82619278517639096600e3,
    3.36093607810698293419e2 };
  if (x < 0 || isinf(x)) return NAN;
  if (x == 0) return -INFINITY;
  if (x <= 5)
    return x * (polynomial(x * x, yp, 6) / polynomial(x * x, yq, 8)) +
           2 / pi * (dt_sp_bessel_j1(x) * log(x) - 1 / x);
  double w = 5 / x, z = w * w, t = x - 0.75 * pi;
  return (polynomial(z, pp, 7) / polynomial(z, pq, 7) * sin(t) +
          w * (polynomial(z, qp, 8) / polynomial(z, qq, 7)) * cos(t)) *
         sqrt(2 / (pi * x));
}

double dt_sp_spherical_j0 (double x) {
  if (isinf(x)) return 0;
  if (fabs(x) > 0.5) return sin(x) / x;
  double q = x * x;
  return 1 - q / 6 * (1 - q / 20 * (1 - q / 42 * (1 - q / 72 *
         (1 - q / 110 * (1 - q / 156)))));
}

/* Oscillating side, far out: two alternating sums over u_k / zeta^k. */
static double airy_far_left (double a) {
  double zeta = 2 * a * sqrt(a) / 3, u = 1, even = 1, odd = 0, last = 1;
  for (int k = 1; k < 40; k++) {
    double term;
    u *= (6.0 * k - 5) * (6.0 * k - 3) * (6.0 * k - 1) /
         (216.0 * k * (2.0 * k - 1) * zeta);
    if (u > last) break;
    last = u;
    term = (k / 2) % 2 ? -u : u;
    if (k % 2) odd += term;
    else even += term;
  }
  double c = zeta - pi / 4;
  return (cos(c) * even + sin(c) * odd) / (sqrt(pi) * sqrt(sqrt(a)));
}

double dt_sp_airy_ai (double x) {
  if (isinf(x)) return NAN;     /* as PyTorch has it */
  if (x > 1.5) {
    double zeta = 2 * x * sqrt(x) / 3;
    return sqrt(x / 3) / pi * bessel_ke(1.0 / 3, zeta) * exp(-zeta);
  }
  if (x < -7) return airy_far_left(-x);
  double f = 1, g = x, sf = 1, sg = x, cube = x * x * x;
  for (int k = 0; k < 60; k++) {
    f *= cube / ((3.0 * k + 2) * (3.0 * k + 3));
    g *= cube / ((3.0 * k + 3) * (3.0 * k + 4));
    sf += f;
    sg += g;
  }
  return 0.35502805388781723926 * sf - 0.25881940379280679840 * sg;
}

/* ---- orthogonal polynomials -------------------------------------------------- */

/* Three-term recurrences; a result that is no number any more stays so, and
** the closed forms keep a huge degree from running for ever. */
enum { DEGREE_LOOP = 6, DEGREE_FAR = 10000000 };
/* A degree that is no 64-bit integer counts as negative. */
#define TOO_MANY 9223372036854775808.0

/* On (-1, 1), with x = cos(t). */
static double chebyshev_inside (int kind, double x, double n) {
  double t = acos(x);
  switch (kind) {
    case 0: return cos(n * t);
    case 1: return sin((n + 1) * t) / sin(t);
    case 2: return cos((n + 0.5) * t) / cos(t / 2);
    default: return sin((n + 0.5) * t) / sin(t / 2);
  }
}

/* At 1; at -1 the kinds V and W change places and odd degrees the sign. */
static double chebyshev_end (int kind, double x, double n) {
  double sign = x < 0 && fmod(n, 2) != 0 ? -1 : 1;
  if (x < 0 && kind >= 2) kind = 5 - kind;
  switch (kind) {
    case 0: case 2: return sign;
    case 1: return sign * (n + 1);
    default: return sign * (2 * n + 1);
  }
}

double dt_sp_chebyshev (int kind, double x, double n) {
  const double first[] = {x, 2 * x, 2 * x - 1, 2 * x + 1};
  if (!(n > -1) || n >= TOO_MANY) return 0;
  if (n < 1) return 1;
  n = trunc(n);
  if (fabs(x) == 1) return chebyshev_end(kind, x, n);
  if (fabs(x) < 1 && n > DEGREE_LOOP) return chebyshev_inside(kind, x, n);
  double p = 1, q = first[kind];
  for (double k = 2; k <= n && !isnan(q); k++) {
    double r = 2 * x * q - p;
    p = q;
    q = r;
  }
  return q;
}

double dt_sp_chebyshev_shifted (int kind, double x, double n) {
  return dt_sp_chebyshev(kind, 2 * x - 1, n);
}

double dt_sp_hermite (double scale, double x, double n) {
  if (!(n > -1) || n >= TOO_MANY) return 0;
  if (n < 1) return 1;
  n = trunc(n);
  double p = 1, q = scale * x;
  for (double k = 1; k < n && !isnan(q); k++) {
    double r = scale * (x * q - k * p);
    p = q;
    q = r;
  }
  return q;
}

/* Leading term for a large degree: its error is of order 1/sqrt(n) of it
** (Szego, Orthogonal Polynomials, theorem 8.22). */
static double laguerre_far (double x, double n) {
  double root = sqrt(fabs(x) * n), scale = exp(x / 2) / sqrt(pi);
  scale /= sqrt(sqrt(fabs(x) * n));
  if (x > 0) return scale * cos(2 * root - pi / 4);
  return scale / 2 * exp(2 * root);
}

double dt_sp_laguerre (double x, double n) {
  if (!(n > -1) || n >= TOO_MANY) return 0;
  if (n < 1 || x == 0) return 1;
  n = trunc(n);
  if (n > DEGREE_FAR) return laguerre_far(x, n);
  double p = 1, q = 1 - x;
  for (double k = 1; k < n && !isnan(q); k++) {
    double r = ((2 * k + 1 - x) * q - k * p) / (k + 1);
    p = q;
    q = r;
  }
  return q;
}

/* The same inside (-1, 1) (Laplace and Heine; theorem 8.21 there). */
static double legendre_far (double x, double n) {
  double t = acos(x);
  return sqrt(2 / (pi * n * sin(t))) * cos((n + 0.5) * t - pi / 4);
}

double dt_sp_legendre (double x, double n) {
  if (!(n > -1) || n >= TOO_MANY) return 0;
  if (n < 1) return 1;
  n = trunc(n);
  if (fabs(x) == 1) return x < 0 && fmod(n, 2) != 0 ? -1 : 1;
  if (fabs(x) < 1 && n > DEGREE_FAR) return legendre_far(x, n);
  double p = 1, q = x;
  for (double k = 1; k < n && !isnan(q); k++) {
    double r = ((2 * k + 1) * x * q - k * p) / (k + 1);
    p = q;
    q = r;
  }
  return q;
}

double dt_sp_frexp (double x, int exponent) {
  int e = 0;
  double m = frexp(x, &e);
  return exponent ? e : m;
}
