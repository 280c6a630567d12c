/* SPDX-License-Identifier: MIT
** op/value.h: the arguments of an operator call.
**
** A call's arguments are a small tree (by schema position) in which tensors
** are *slots*: numbered holes.  Each layer brings its own array indexed by
** slot: metas to infer shapes, specs to propagate, local tensors to compute,
** variables to differentiate.  So the tree is built once, and redistribution
** or rewriting replaces one array or one value, never the tree.
** All functions here are Pure. */
#ifndef DT_OP_VALUE_H
#define DT_OP_VALUE_H

#include "base/ctx.h"
#include "tensor/tensor.h"

typedef enum DtValueKind {
  DT_V_NONE,            /* None / not given and without default */
  DT_V_BOOL, DT_V_INT, DT_V_FLOAT, DT_V_COMPLEX,
  DT_V_STR, DT_V_DTYPE, DT_V_DEVICE, DT_V_LAYOUT, DT_V_MEMFMT,
  DT_V_TENSOR,          /* u.slot */
  DT_V_LIST,            /* u.list: ints, floats, tensors, None, ... */
  DT_V_GENERATOR
} DtValueKind;

/* What Python calls a tensor: isinstance takes all three, error texts tell them
** apart. */
typedef enum DtTensorClass { DT_CLASS_TENSOR, DT_CLASS_DTENSOR,
                             DT_CLASS_PARAMETER } DtTensorClass;

typedef struct DtValue DtValue;
struct DtValue {
  uint8_t kind;
  uint8_t py;                   /* LIST: 1 Python's list, 2 its tuple, 0 not
                                   known; TENSOR: a DtTensorClass; for error
                                   texts only */
  union {
    bool b;
    int64_t i;                  /* INT; DTYPE, DEVICE, LAYOUT, MEMFMT codes */
    double f;
    double c[2];
    const char *s;              /* lives as long as the call */
    int slot;
    struct { int n; DtValue *v; } list;
    void *p;
  } u;
};

/* Codes of LAYOUT and MEMFMT values; ORDER is PyTorch's. */
typedef enum DtLayout { DT_LAYOUT_STRIDED, DT_NLAYOUTS } DtLayout;
typedef enum DtMemFmt {
  DT_MF_CONTIGUOUS, DT_MF_PRESERVE, DT_MF_CHANNELS_LAST,
  DT_MF_CHANNELS_LAST_3D, DT_NMEMFMTS
} DtMemFmt;
/* "torch.strided", "torch.preserve_format"; "?" out of range.  And back, with
** or without "torch."; the count when unknown.  Pure. */
const char *dt_layout_name (int64_t code);
const char *dt_memfmt_name (int64_t code);
DtLayout dt_layout_find (const char *name);
DtMemFmt dt_memfmt_find (const char *name);

typedef struct DtSchema DtSchema;

enum { DT_MAX_ARGS = 32 };

/* The tree.  Values beyond `npos` that are not in `given` hold defaults. */
typedef struct DtArgs {
  const DtSchema *schema;
  int n;                        /* == schema->nargs */
  int npos;                     /* positional arguments given */
  uint32_t given;               /* bit i: given by the caller */
  int nslots;                   /* tensor slots in use */
  DtValue v[DT_MAX_ARGS];
} DtArgs;

DtValue dt_v_none (void);
DtValue dt_v_int (int64_t i);
DtValue dt_v_float (double f);
DtValue dt_v_bool (bool b);
DtValue dt_v_str (const char *s);
DtValue dt_v_dtype (DtDtype t);
DtValue dt_v_code (DtValueKind kind, int64_t code);  /* DEVICE, LAYOUT, ... */
DtValue dt_v_complex (double re, double im);
DtValue dt_v_slot (int slot);
DtValue dt_v_list (int n, DtValue *v);

/* Readers for meta, rule and kernel functions; index = schema position.  They
** never fail: the schema has checked kinds.  Pure. */
int64_t dt_arg_int (const DtArgs *a, int i);              /* bool, int */
int64_t dt_arg_int_or (const DtArgs *a, int i, int64_t dflt);  /* None */
double dt_arg_float (const DtArgs *a, int i);             /* any number */
bool dt_arg_bool (const DtArgs *a, int i);
bool dt_arg_is_none (const DtArgs *a, int i);
const char *dt_arg_str (const DtArgs *a, int i);
DtDtype dt_arg_dtype (const DtArgs *a, int i);   /* DT_DTYPE_NONE if None */
DtScalar dt_arg_scalar (const DtArgs *a, int i);
/* Slot of a tensor argument, -1 when None or a number. */
int dt_arg_slot (const DtArgs *a, int i);
/* Is it a number standing in a Tensor position (a wrapped number)? */
bool dt_arg_is_number (const DtArgs *a, int i);
/* Length of a list (an int counts as a list of one); its ints. */
int dt_arg_len (const DtArgs *a, int i);
/* Ints of a list (or a single int) into out[max]; returns how many. */
int dt_arg_ints (const DtArgs *a, int i, int64_t *out, int max);
/* Slots of a tensor list into out[max] (-1 for None); returns how many. */
int dt_arg_slots (const DtArgs *a, int i, int *out, int max);

/* Deep copy into an arena; equality and hash of everything but slots' content
** (slot numbers are included).  Pure. */
DtStatus dt_args_copy (DtCtx *cx, DtArena *a, const DtArgs *src, DtArgs *dst);
uint64_t dt_args_hash (uint64_t h, const DtArgs *a);
bool dt_args_equal (const DtArgs *a, const DtArgs *b);
/* A value as Python prints it: 2.0, None, [1, 2], torch.float32; tensors by
** the callback (may be NULL: "Tensor").  Pure. */
typedef void (*DtSlotPrint) (void *ud, int slot, DtBuf *b);
void dt_value_print (const DtValue *v, DtSlotPrint f, void *ud, DtBuf *b);
bool dt_value_equal (const DtValue *a, const DtValue *b);
uint64_t dt_value_hash (uint64_t h, const DtValue *v);
/* Call `f` for each tensor slot of a value, in order.  Pure. */
typedef void (*DtSlotVisit) (void *ud, int *slot);
void dt_value_slots (DtValue *v, DtSlotVisit f, void *ud);
/* Python's name of a value's type: "int", "NoneType", "DTensor".  Pure. */
const char *dt_value_pytype (const DtValue *v);

#endif
