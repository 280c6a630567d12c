/* SPDX-License-Identifier: MIT
** op/emit.h: the hand by which gradients and decompositions call operators.
**
** The same program runs in several ways: on variables (execution), on specs
** (tracing a decomposition while propagating), in backward.  It sees opaque
** handles.  Errors are sticky: after one, calls return NULL and do nothing,
** so programs read as formulas; the caller of the program looks once.
** Handles live until the program ends; nothing is freed by hand.
** All functions here are Local. */
#ifndef DT_OP_EMIT_H
#define DT_OP_EMIT_H

#include "op/schema.h"

typedef struct DtHandle DtHandle;       /* a tensor, as the emitter has it */
typedef struct DtEmit DtEmit;

/* Room of the caller's for results: `n` of at most `max` are set. */
typedef struct DtOutputs {
  DtHandle **v; int max, n;
  DtValue *ret;                 /* room for a result that is no tensor, or NULL */
} DtOutputs;

typedef struct DtEmitVt {
  /* Dispatch `op` ("aten.mm.default") with values whose tensor slots index
  ** `in`. */
  DtStatus (*call) (DtEmit *e, const char *op, const DtGiven *given, int nin,
                    DtHandle *const *in, DtOutputs *out);
  const DtMeta *(*meta) (DtEmit *e, const DtHandle *h);  /* global meta */
  bool (*is_dist) (DtEmit *e, const DtHandle *h);
  /* Where values can be read; else both are NULL. */
  bool (*has_data) (DtEmit *e, const DtHandle *h);
  DtStatus (*item) (DtEmit *e, DtHandle *h, DtValue *out);
  /* DT_MARK_ bits of a tensor; NULL: there are none. */
  int (*marks) (DtEmit *e, const DtHandle *h);
} DtEmitVt;

struct DtEmit {
  DtCtx *cx;
  const DtEmitVt *vt;
  DtArena *arena;               /* for values a program builds */
  DtStatus st;                  /* first error */
  bool tracing;                 /* propagating: specs, and no execution */
  bool keeps_reshape;           /* reshape has a rule of its own here */
  bool pretend;                 /* nothing is computed: tracing or shapes */
  bool quiet;                   /* what is called now has no history */
  bool recorded;                /* a gradient that is differentiated again */
  void *ud;
};

/* Call an operator and return its first output.  `fmt` describes the
** arguments, one letter each: t tensor (DtHandle *, NULL = None), T tensor
** list (int n, DtHandle *const *), i int64_t, f double, b int (bool),
** I int list (int n, const int64_t *), s string, d DtDtype (int; NONE = None),
** n None, v DtValue; "name=x" after a space gives keyword arguments, e.g.
** "tI b d dtype=d" is written "tIb dtype=d". */
DtHandle *dt_emit (DtEmit *e, const char *op, const char *fmt, ...);
/* The same with several outputs in out[0..n-1] (NULL where None). */
void dt_emit_n (DtEmit *e, const char *op, DtHandle **out, int n,
                const char *fmt, ...);
/* Meta of a handle; a zero meta after an error. */
const DtMeta *dt_emit_meta (DtEmit *e, const DtHandle *h);
bool dt_emit_ok (const DtEmit *e);
/* Its marks (tensor.h): what it would be to write it out. */
int dt_emit_marks (DtEmit *e, const DtHandle *h);
/* The answer of an operator that gives true or false about two tensors and two
** numbers (allclose); `by_default` where nothing is computed. */
bool dt_emit_told (DtEmit *e, const char *op, DtHandle *a, DtHandle *b, double x,
                   double y, bool by_default);
/* May values of `h` be looked at? */
bool dt_emit_has_data (DtEmit *e, const DtHandle *h);
/* The one element of a tensor as a whole number; VALUE where it is none.
** META_NO_DATA where there are no values, which is not sticky. */
DtStatus dt_emit_item (DtEmit *e, DtHandle *h, int64_t *out);

#endif
