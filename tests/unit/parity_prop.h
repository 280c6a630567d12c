/* SPDX-License-Identifier: MIT
** tests/unit/parity_prop.h: run the reference cases of propagation. */
#ifndef DT_TESTS_PARITY_PROP_H
#define DT_TESTS_PARITY_PROP_H

#include "base/map.h"
#include "parity.h"
#include "shard/prop.h"

/* What a run needs, and what it counted per overload. */
typedef struct PropParity {
  Parity p;
  DtRegistry *reg;
  DtPlanner *plan;
  DtPropagator *prop;
  DtMap stats;                  /* overload name -> PropStat */
  bool costs;                   /* compare costs too */
} PropParity;

typedef struct PropStat { char *name; int pass, fail; } PropStat;

/* A registry of these operators, a planner, a propagator. */
DtStatus prop_parity_init (PropParity *t, DtCtx *cx,
                           const DtOpDef *const *ops, const DtVariant *vars);
void prop_parity_fini (PropParity *t);
/* Checkers for parity_file(): prop/<family>.jsonl, prop/prop_candidates.jsonl
** (after the families: it needs their calls), registry/single_dim_rules. */
bool prop_check_case (Parity *p, const json_t *line);
bool prop_check_rules (Parity *p, const json_t *line);
/* Print overloads with failures, worst first; returns how many overloads were
** checked. */
int prop_parity_report (PropParity *t, FILE *f);

#endif
