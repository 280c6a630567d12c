/* SPDX-License-Identifier: MIT
** parity/state.c: what checkers borrow from each other's lines: tables,
** pretend ranks, meshes.  Made when first needed, kept to the end. */
#include "parity/parity_int.h"

#include "oplib/ops.h"

DtStatus dt_parity_init (DtParity *p, DtCtx *cx) {
  memset(p, 0, sizeof *p);
  p->cx = cx;
  dt_buf_init(&p->why, cx);
  dt_map_init(&p->meshes, cx, NULL);
  dt_map_init(&p->metas, cx, NULL);
  return DT_OK;
}

static void pretend_free (DtCtx *cx, DtPretend *w) {
  dt_session_free(w->s);
  if (w->hub != NULL)
    dt_hub_leave(w->hub, w->rank);
  dt_comm_free(cx, w->comm);
  dt_hub_free(cx, w->hub);
}

void dt_parity_fini (DtParity *p) {
  int32_t it = 0;
  DtMapEntry *e;
  for (int i = 0; i < p->npretend; i++)
    pretend_free(p->cx, &p->pretend[i]);
  if (p->prop != NULL)
    dt_propagator_free(p->cx, p->prop);
  if (p->planner != NULL)
    dt_planner_free(p->cx, p->planner);
  if (p->reg != NULL)
    dt_registry_free(p->cx, p->reg);
  while ((e = dt_map_next(&p->meshes, &it)) != NULL) {
    dt_mesh_unref(p->cx, e->value);
    dt_free(p->cx, (void *)(uintptr_t)e->key);
  }
  dt_map_fini(&p->meshes);
  dt_map_fini(&p->metas);
  dt_arena_fini(p->cx, &p->arena);
  dt_buf_fini(&p->why);
}

void dt_parity_reset (DtParity *p) {
  DtArenaMark all = { NULL, 0 };
  dt_arena_release(&p->arena, all);
  dt_buf_clear(&p->why);
  dt_error_clear(p->cx);
  p->skipped = p->library = false;
  p->unknown = NULL;
  p->line = NULL;
  p->open = NULL;
  p->nth = p->nopen = 0;
}

DtStatus dt_parity_tables (DtParity *p) {
  DtProfile profile;
  if (p->reg == NULL)
    DT_TRY(p->cx, dt_registry_new(p->cx, dt_ops, dt_variants, &p->reg));
  if (p->planner == NULL)
    DT_TRY(p->cx, dt_planner_new(p->cx, NULL, &p->planner));
  if (p->prop != NULL)
    return DT_OK;
  DT_TRY(p->cx, dt_propagator_new(p->cx, p->reg, p->planner, &p->prop));
  dt_prop_outside_dispatch(p->cx, p->prop, true);   /* as it was captured */
  DT_TRY(p->cx, dt_profile_init(p->cx, &profile, p->release, NULL));
  dt_prop_release(p->cx, p->prop, &profile);
  p->number = profile.release;
  dt_profile_tell(&profile, p->cx);
  p->mesh_rules = dt_mesh_rules(&profile);
  p->shard_to_sum = dt_switch(&profile, DT_SW_SHARD_TO_PARTIAL) != 0;
  return dt_registry_release(p->cx, p->reg, dt_rulings, profile.release);
}

DtPlanner *dt_parity_planner (DtParity *p) {
  if (p->planner != NULL) dt_planner_clear(p->cx, p->planner);
  return p->planner;
}

static DtStatus pretend_new (DtParity *p, DtPretend *w) {
  DtSessionOpts o = { dt_ops, dt_variants, p->release, "cpu", 0, dt_rulings };
  if (w->size == 1) {
    DT_TRY(p->cx, dt_hub_new(p->cx, 1, &w->hub));
    DT_TRY(p->cx, dt_comm_threads(p->cx, w->hub, 0, &w->comm));
  } else {
    DT_TRY(p->cx, dt_comm_fake(p->cx, w->size, w->rank, &w->comm));
  }
  return dt_session_new(p->cx, w->comm, &o, &w->s);
}

DtSession *dt_parity_session (DtParity *p, int size, int rank) {
  for (int i = 0; i < p->npretend; i++)
    if (p->pretend[i].size == size && p->pretend[i].rank == rank)
      return p->pretend[i].s;
  if (p->npretend == DT_PRETEND_MAX)
    pretend_free(p->cx, &p->pretend[--p->npretend]);
  DtPretend *w = &p->pretend[p->npretend];
  memset(w, 0, sizeof *w);
  w->size = size;
  w->rank = rank;
  if (pretend_new(p, w) != DT_OK) {
    (void)dt_no_error(p, DT_E_RUNTIME);
    pretend_free(p->cx, w);
    return NULL;
  }
  p->npretend++;
  return w->s;
}

void dt_parity_forget (DtParity *p, int size, int rank) {
  for (int i = 0; i < p->npretend; i++)
    if (p->pretend[i].size == size && p->pretend[i].rank == rank) {
      pretend_free(p->cx, &p->pretend[i]);
      p->pretend[i] = p->pretend[--p->npretend];
      return;
    }
}

bool dt_parity_skip (DtParity *p) {
  p->skipped = true;
  return true;
}

const DtOpDef *dt_parity_op (DtParity *p, DtRegistry *reg, const char *name) {
  const DtOpDef *op = name != NULL ? dt_registry_find(p->cx, reg, name)
                                   : NULL;
  if (op != NULL && (op->flags & DT_OP_SCHEMA_ONLY) == 0)
    return op;
  dt_error_clear(p->cx);
  p->unknown = name;
  p->skipped = true;
  return NULL;
}
