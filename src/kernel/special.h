/* SPDX-License-Identifier: MIT
** kernel/special.h: special functions of doubles that libm does not have, or
** not in a form that threads may share.  All are Pure.
** All functions here are Pure. */
#ifndef DT_KERNEL_SPECIAL_H
#define DT_KERNEL_SPECIAL_H

#include <stdbool.h>

double dt_sp_lgamma (double x);
double dt_sp_digamma (double x);
double dt_sp_polygamma (int n, double x);
double dt_sp_zeta (double x, double q);       /* Hurwitz */
double dt_sp_erfinv (double x);
double dt_sp_erfcx (double x);                /* exp(x^2) erfc(x) */
double dt_sp_ndtri (double p);                /* inverse normal distribution */
double dt_sp_log_ndtr (double x);
/* Regularised, lower; `narrow`: with the range of float. */
double dt_sp_igamma (double a, double x, bool narrow);
double dt_sp_igammac (double a, double x);    /* regularised, upper */
/* Modified Bessel functions; an `e` at the end: scaled by exp(-|x|) for I,
** exp(x) for K. */
double dt_sp_i0 (double x);
double dt_sp_i0e (double x);
double dt_sp_i1 (double x);
double dt_sp_i1e (double x);
double dt_sp_k0 (double x);
double dt_sp_k1 (double x);
double dt_sp_k0e (double x);
double dt_sp_k1e (double x);
double dt_sp_bessel_j0 (double x);
double dt_sp_bessel_j1 (double x);
double dt_sp_bessel_y0 (double x);
double dt_sp_bessel_y1 (double x);
double dt_sp_spherical_j0 (double x);
double dt_sp_airy_ai (double x);
/* Orthogonal polynomials of degree (int)n.  kind: 0 T, 1 U, 2 V, 3 W;
** scale: 2 physicist's, 1 probabilist's. */
double dt_sp_chebyshev (int kind, double x, double n);
double dt_sp_chebyshev_shifted (int kind, double x, double n);
double dt_sp_hermite (double scale, double x, double n);
double dt_sp_laguerre (double x, double n);
double dt_sp_legendre (double x, double n);
/* frexp's mantissa (exponent 0) or exponent (1). */
double dt_sp_frexp (double x, int exponent);

#endif
