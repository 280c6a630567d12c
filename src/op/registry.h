/* SPDX-License-Identifier: MIT
** op/registry.h: names to definitions; overload resolution; variants derived
** from their base; run-time registration.  One registry per session: the
** built-in table is const, users' operators live beside it. */
#ifndef DT_OP_REGISTRY_H
#define DT_OP_REGISTRY_H

#include "op/opdef.h"

typedef struct DtRegistry DtRegistry;

/* All overloads of one name, in the order PyTorch's parser tries them. */
typedef struct DtPacket {
  const char *ns, *base;        /* "aten", "add" */
  int n; const DtOpDef **op;
} DtPacket;

/* How a variant is made from its base (forms in the .ops texts of oplib). */
typedef enum DtVariantKind {
  DT_VAR_INPLACE,               /* add.Tensor -> add_.Tensor */
  DT_VAR_TRACED,                /* in place too, but PyTorch registers no
                                ** strategy: traced as base and copy_ */
  DT_VAR_OUT,                   /* add.Tensor -> add.out */
  DT_VAR_OUT_TRACED,            /* the same without a strategy of its own */
  DT_VAR_SCALAR,                /* add.Tensor -> add.Scalar */
  DT_VAR_FOREACH,               /* mul.Tensor -> _foreach_mul.List ... */
  DT_VAR_FUNCTIONAL,            /* normal_ -> normal_functional */
  DT_VAR_ALIAS,                 /* arccos -> acos: another name, decomposed */
  DT_VAR_KNOWN                  /* no base: known by its schema, unless there
                                ** is a definition of that name */
} DtVariantKind;
typedef struct DtVariant {
  const char *schema;           /* of the variant */
  const char *base;             /* "aten.add.Tensor"; NULL for KNOWN */
  DtVariantKind kind;
  bool bare;                    /* PyTorch registers no strategy for it */
} DtVariant;

/* Build from the built-in tables (both NULL/0-terminated).  Lazy: schemas are
** parsed on first use, so start-up stays short.  Caller frees.  Local. */
DtStatus dt_registry_new (DtCtx *cx, const DtOpDef *const *ops,
                          const DtVariant *variants, DtRegistry **out);
/* From now on operators shard as in `release`: the last ruling of each name
** with since <= release, else the definition; and a variant that PyTorch
** registered by then has its base's rules.  `rulings` ends with a NULL name, is
** borrowed, NULL: none.  Definitions handed out before change in place.
** Agreed. */
DtStatus dt_registry_release (DtCtx *cx, DtRegistry *r,
                              const DtRuling *rulings, int release);
void dt_registry_free (DtCtx *cx, DtRegistry *r);
/* "aten.mm.default", "aten::mm", "aten.mm" (its default overload).  NULL when
** unknown.  Local (may parse). */
const DtOpDef *dt_registry_find (DtCtx *cx, DtRegistry *r, const char *name);
/* All overloads of "aten", "add".  NULL when unknown.  Local. */
const DtPacket *dt_registry_packet (DtCtx *cx, DtRegistry *r, const char *ns,
                                    const char *base);
/* First overload whose schema takes these values; fills args.  TYPE listing
** the overloads when none does.  Pure. */
DtStatus dt_packet_resolve (DtCtx *cx, const DtPacket *p,
                            const DtGiven *given, const DtOpDef **op,
                            DtArgs *args);
/* The same for torch.ops.<ns>.<op>(...): what every overload says is in
** the error.  Pure. */
DtStatus dt_packet_resolve_ops (DtCtx *cx, const DtPacket *p,
                                const DtGiven *given, const DtOpDef **op,
                                DtArgs *args);
/* The same for the method x.<op>(...), x the first value: its errors do not
** count x.  Pure. */
DtStatus dt_packet_resolve_method (DtCtx *cx, const DtPacket *p,
                                   const DtGiven *given, const DtOpDef **op,
                                   DtArgs *args);
/* Iterate all packets in name order: *it from 0; NULL at the end.  Local. */
const DtPacket *dt_registry_next (DtCtx *cx, DtRegistry *r, int *it);
/* Register a user's operator; the definition is copied, strings too.  VALUE
** when it exists.  Agreed. */
DtStatus dt_registry_add (DtCtx *cx, DtRegistry *r, const DtOpDef *def,
                          const DtOpDef **out);
/* Sharding given to an operator at run time (register_sharding): an op
** strategy function with its data; single-dim rules still win.
** Agreed. */
DtStatus dt_registry_set_strategy (DtCtx *cx, DtRegistry *r,
                                   const DtOpDef *op, DtStratFn fn,
                                   void *ud, void (*free_ud) (void *));
/* The user's strategy of an operator, NULL when there is none.  Pure. */
DtStratFn dt_registry_strategy (const DtRegistry *r, const DtOpDef *op,
                                void **ud);
/* Let the user's strategy of an operator win over single-dim rules too: for
** the debugger's "what if", PyTorch has no such thing.  Agreed. */
void dt_registry_force (DtRegistry *r, const DtOpDef *op);
bool dt_registry_forced (const DtRegistry *r, const DtOpDef *op);
/* Closest names, for "did you mean".  Writes up to n; returns how many.
** Local. */
int dt_registry_near (DtCtx *cx, DtRegistry *r, const char *name,
                      const char **out, int n);
/* The overload whose name is nearest, NULL when none is near.  Pure. */
const char *dt_packet_near (const DtPacket *p, const char *overload);
/* ---- list operators (DT_OP_FOREACH) ---- */

/* How many elements a list call has: the length of its first tensor list.
** Pure. */
int dt_foreach_count (const DtArgs *args);
/* What PyTorch asks of a list call: some elements, equal lengths, shared
** tensors without dims.  RUNTIME with its text.  Pure. */
DtStatus dt_foreach_check (DtCtx *cx, const DtOpDef *op, const DtArgs *args,
                           const DtMeta *const *in);
/* Arguments of the base operator's call for element `i`: lists replaced by
** their element, values matched by name and then by position.  Tensor slots
** keep the numbers of the list call.  RUNTIME when lengths differ.  Pure. */
DtStatus dt_foreach_args (DtCtx *cx, const DtOpDef *op, const DtArgs *args,
                          int i, DtArgs *out);

/* May an in-place form write `from` into a tensor of `to`?  DTYPE with the
** operator's own words.  Pure. */
DtStatus dt_inplace_cast (DtCtx *cx, const DtOpDef *op, DtDtype from,
                          DtDtype to);

/* No empty field without its flag, rules parse, arities agree; no overload is
** known only by schema that is defined elsewhere.  INTERNAL
** naming the operator.  Local. */
DtStatus dt_registry_selfcheck (DtCtx *cx, DtRegistry *r);

#endif
