/* SPDX-License-Identifier: MIT
** spmd/spmd.h: types of tensors that each rank of a program holds a copy of: on
** each mesh axis a tensor is R (replicated, its gradient a sum), I (invariant,
** its gradient too), V (varying) or P (partial: addends of a sum); S(i) is V
** whose parts lie along dimension i, which a partition spec says.  Metadata
** only; after spmd_types.
**
** An axis is a layout (size:stride parts, outermost first) and is known by a
** number within its DtSpmd, one per rank.  All functions here are Pure. */
#ifndef DT_SPMD_SPMD_H
#define DT_SPMD_SPMD_H

#include "base/ctx.h"
#include "tensor/meta.h"

enum { DT_SPMD_PARTS = 8, DT_SPMD_NAMES = 8, DT_SPMD_AXES = 8,
       DT_SPMD_DEEP = 4, DT_SPMD_OPERANDS = 512 };

typedef struct DtSpmdAxis {
  int n;                        /* parts; 0: of one rank */
  int64_t size[DT_SPMD_PARTS], stride[DT_SPMD_PARTS];
  int nnames;
  char *name[DT_SPMD_NAMES];    /* sorted */
} DtSpmdAxis;

typedef struct DtSpmdDim { int n, axis[DT_SPMD_DEEP]; } DtSpmdDim;

/* What is known of a tensor: the type on each axis, in the order they were
** given, and its partition spec. */
typedef struct DtSpmdType {
  int n;
  struct { int axis; char type; } at[DT_SPMD_AXES];
  int ndim;                     /* of the spec; -1: none */
  DtSpmdDim dim[DT_MAX_NDIM];   /* outer to inner */
} DtSpmdType;

/* A type that is kept once, by its number from 1. */
typedef struct DtSpmdNode { int id; DtSpmdType type; } DtSpmdNode;

/* What the types of a call's results hang on. */
enum { DT_SPMD_KNOWN = 12 };    /* operands of calls that are remembered */
typedef struct DtSpmdKey {
  int function;                 /* the caller's number for it */
  int mode;                     /* s->mode, and the caller's own */
  int n;
  uint32_t in[DT_SPMD_KNOWN];   /* dt_spmd_key_add() */
} DtSpmdKey;

/* The axes of a rank, and where the program is: its current mesh
** (outermost first; -1 axes: none) and the mode of the checker. */
typedef struct DtSpmd {
  DtCtx *cx;
  int naxes, cap;
  DtSpmdAxis *axis;             /* number - 1 */
  int nmesh, mesh[DT_SPMD_AXES];
  bool strict, grad_mode;
  int mode;                     /* number of this mesh and strictness */
  struct DtSpmdKnown *known;    /* known.c: types and calls, NULL: none yet */
} DtSpmd;

typedef enum DtSpmdClass {
  DT_SPMD_NONLINEAR, DT_SPMD_LINEAR1, DT_SPMD_LINEAR2, DT_SPMD_LINEAR_LIST,
  DT_SPMD_MULTILINEAR, DT_SPMD_DIVIDE, DT_SPMD_RDIVIDE, DT_SPMD_SUM_PRODUCT,
  DT_SPMD_REPLICATED, DT_SPMD_FOLLOWS
} DtSpmdClass;

/* A key of messages.def. */
typedef enum DtSpmdMessage {
#define X(KEY, CLASS, TEXT) DT_SPMD_M_##KEY,
#include "spmd/messages.def"
#undef X
  DT_SPMD_NMESSAGES
} DtSpmdMessage;

/* An operand of a call: a tensor, a typed number or a plain one. */
typedef struct DtSpmdOperand {
  const DtSpmdType *type;       /* NULL: untyped, or a plain number */
  bool number;                  /* plain number at an addend's place */
  bool takes_grad;              /* a gradient may reach it */
  int arg;                      /* position of its argument; -1: a keyword */
} DtSpmdOperand;

typedef struct DtSpmdCall {
  const char *name;             /* as messages call it */
  DtSpmdClass cls;
  int n;
  const DtSpmdOperand *in;
} DtSpmdCall;

void dt_spmd_init (DtSpmd *s, DtCtx *cx);
void dt_spmd_fini (DtSpmd *s);

/* --- axes --- */
/* The axis of a layout, which is coalesced first.  LIMIT, NOMEM, VALUE. */
DtStatus dt_spmd_axis (DtSpmd *s, int n, const int64_t *size,
                       const int64_t *stride, int *out);
/* The axis of a group, by its ranks in order.  VALUE when they are no layout
** (an irregular group). */
DtStatus dt_spmd_axis_of_ranks (DtSpmd *s, int n, const int64_t *ranks,
                                int *out);
const DtSpmdAxis *dt_spmd_axis_at (const DtSpmd *s, int axis);
int64_t dt_spmd_axis_size (const DtSpmd *s, int axis);
/* One more name for it (copied).  NOMEM, LIMIT. */
DtStatus dt_spmd_name_axis (DtSpmd *s, int axis, const char *name);
/* Axes are without names again. */
void dt_spmd_forget_names (DtSpmd *s);
/* Its display name. */
void dt_spmd_axis_text (const DtSpmd *s, int axis, DtBuf *b);
/* Is every set of ranks of `a` part of one of `b`? */
bool dt_spmd_within (const DtSpmd *s, int a, int b);
/* Are the two apart in their strides, so that they span a grid? */
bool dt_spmd_orthogonal (const DtSpmd *s, int a, int b);
/* The axes of the list whose product, outermost first, is `axis`; returns how
** many, 0 when none. */
int dt_spmd_parts (const DtSpmd *s, int axis, int n, const int *list,
                   int *out);
/* "{mesh_dp, mesh_tp}", the largest stride first. */
void dt_spmd_axes_text (const DtSpmd *s, int n, const int *axes, DtBuf *b);

/* --- types --- */
void dt_spmd_type_init (DtSpmdType *t);
/* 'R' 'I' 'V' 'P', 0 when it has none there. */
char dt_spmd_type_on (const DtSpmdType *t, int axis);
/* Axes of one rank are left out.  LIMIT. */
DtStatus dt_spmd_type_put (DtSpmd *s, DtSpmdType *t, int axis, char type);
/* "{mesh_tp: R}", and the spec after it where there is one. */
void dt_spmd_type_text (const DtSpmd *s, const DtSpmdType *t, DtBuf *b);
void dt_spmd_spec_text (const DtSpmd *s, const DtSpmdType *t, DtBuf *b);
/* The long form: "PerMeshAxisLocalSpmdType.R". */
const char *dt_spmd_long (char type);

/* --- what is known already --- */
/* The node of a type, which lives as long as `s`.  NOMEM. */
DtStatus dt_spmd_intern (DtSpmd *s, const DtSpmdType *t,
                         const DtSpmdNode **out);
/* The node of that number; NULL when there is none. */
const DtSpmdNode *dt_spmd_node (const DtSpmd *s, int id);
/* The program is on that mesh (-1: on none): s->mode is what it was when
** it was there before.  NOMEM. */
DtStatus dt_spmd_set_mode (DtSpmd *s, int nmesh, const int *mesh, bool strict);
/* One more operand at argument `arg` (-1: a keyword): a tensor of the type
** (NULL: untyped), or a plain number where an addend stands.  False when the
** key is full. */
bool dt_spmd_key_add (DtSpmdKey *k, const DtSpmdNode *type, bool number,
                      bool takes_grad, int arg);
/* The results' type of a call that was checked before; NULL: it was not. */
const DtSpmdNode *dt_spmd_find_call (const DtSpmd *s, const DtSpmdKey *k);
/* Remember that the call is legal and gives this.  NOMEM. */
DtStatus dt_spmd_keep_call (DtSpmd *s, const DtSpmdKey *k,
                            const DtSpmdNode *out);

/* --- messages --- */
/* Raise a message, its places filled from pairs (name, text) up to NULL. */
DtStatus dt_spmd_raise (DtSpmd *s, DtSpmdMessage m, ...);
/* The message of that key (messages.def); -1 when there is none. */
int dt_spmd_message (const char *key);
const char *dt_spmd_message_class (DtSpmdMessage m);
const char *dt_spmd_message_text (DtSpmdMessage m);

/* --- rules --- */
/* The class of "torch.add", "Tensor.add_", "F.relu". */
DtSpmdClass dt_spmd_class (const char *key);
/* Types of what a call gives.  SPMD with the words of spmd_types, the repairs
** that make the call legal after them. */
DtStatus dt_spmd_check (DtSpmd *s, const DtSpmdCall *c, DtSpmdType *out);
/* May a tensor of type `old` be written with `now`?  `had_grad`: it required a
** gradient before.  The same errors. */
DtStatus dt_spmd_check_write (DtSpmd *s, const char *name,
                              const DtSpmdType *old, const DtSpmdType *now,
                              bool had_grad);

#endif
