/* SPDX-License-Identifier: MIT
** engine/session.c: one rank's session: made, freed, and the small services
** that live as long as it: interned strings, shared specs, warnings.
**
** Specs are shared so that equal layouts are one pointer and the propagation
** cache hits by comparing pointers.  The table is weak: an entry that nobody
** else holds is dropped when the table has doubled, so a program that makes
** endlessly new shapes does not grow. */
#include "engine/engine_int.h"

#include <string.h>
#include "base/hash.h"
#include "base/map.h"

enum { SPECS_FIRST = 256 };

struct DtIntern { DtMap names, warned; };
struct DtSpecTable { DtMap map; int32_t limit; };

static void intern_free (DtSession *s) {
  int32_t it = 0;
  DtMapEntry *e;
  if (s->strings == NULL) return;
  while ((e = dt_map_next(&s->strings->names, &it)) != NULL)
    dt_free(s->cx, e->value);
  dt_map_fini(&s->strings->names);
  dt_map_fini(&s->strings->warned);
  dt_free(s->cx, s->strings);
  s->strings = NULL;
}

const char *dt_session_intern (DtSession *s, const char *text) {
  char *copy;
  if (text == NULL) return NULL;
  copy = dt_map_get_str(&s->strings->names, text);
  if (copy != NULL) return copy;
  copy = dt_strdup(s->cx, text);
  if (copy == NULL) return NULL;
  if (dt_map_put_str(&s->strings->names, copy, copy) != DT_OK) {
    dt_free(s->cx, copy);
    return NULL;
  }
  return copy;
}

static bool specs_eq (const void *a, const void *b) {
  const DtSpec *x = a, *y = b;
  return x->strided_is_order == y->strided_is_order && dt_spec_equal(x, y);
}

/* Drop what only the table holds. */
static void specs_purge (DtSession *s) {
  struct DtSpecTable *t = s->specs;
  int32_t it = 0;
  DtMapEntry *e;
  while ((e = dt_map_next(&t->map, &it)) != NULL) {
    DtSpec *spec = e->value;
    if (spec->refs > 1) continue;
    dt_map_del(&t->map, e->hash, spec);
    dt_spec_unref(s->cx, spec);
  }
  t->limit = dt_map_count(&t->map) * 2;
  if (t->limit < SPECS_FIRST) t->limit = SPECS_FIRST;
}

void dt_specs_free (DtSession *s) {
  int32_t it = 0;
  DtMapEntry *e;
  if (s->specs == NULL) return;
  while ((e = dt_map_next(&s->specs->map, &it)) != NULL)
    dt_spec_unref(s->cx, e->value);
  dt_map_fini(&s->specs->map);
  dt_free(s->cx, s->specs);
  s->specs = NULL;
}

DtStatus dt_session_spec (DtSession *s, DtSpec *spec, DtSpec **out) {
  struct DtSpecTable *t = s->specs;
  DtSpec *have = dt_map_get(&t->map, spec->hash, spec);
  DtStatus st;
  if (have != NULL) {
    *out = dt_spec_ref(have);
    dt_spec_unref(s->cx, spec);
    return DT_OK;
  }
  if (dt_map_count(&t->map) >= t->limit) specs_purge(s);
  st = dt_map_put(&t->map, spec->hash, spec, spec);
  if (st != DT_OK) {
    dt_spec_unref(s->cx, spec);
    return dt_error_frame(s->cx, st, __func__, __FILE__, __LINE__);
  }
  (void)dt_spec_ref(spec);      /* the table's */
  *out = spec;
  return DT_OK;
}

DtStatus dt_spec_make (DtSession *s, DtMesh *mesh, int npl,
                       const DtPlacement *pl, const DtMeta *meta,
                       int strided_is_order, DtSpec **out) {
  DtSpec *spec;
  DT_TRY(s->cx, dt_spec_new(s->cx, mesh, npl, pl, meta, NULL,
                            strided_is_order, &spec));
  return dt_session_spec(s, spec, out);
}

void dt_session_warn (DtSession *s, const char *text) {
  const char *kept;
  if (dt_map_get_str(&s->strings->warned, text) != NULL && !s->warn_all)
    return;
  kept = dt_session_intern(s, text);
  if (kept == NULL ||
      dt_map_put_str(&s->strings->warned, kept, s->strings) != DT_OK) {
    dt_error_clear(s->cx);      /* a warning lost is no failure */
    return;
  }
  if (dt_session_heard(s)) (void)dt_ev_text(s, DT_EV_WARNING, kept);
  if (s->warn.fn != NULL) s->warn.fn(s->warn.ud, kept);
}

bool dt_session_no_data (const DtSession *s) {
  return s->no_data || (s->comm != NULL && s->comm->no_data);
}

uint64_t dt_session_seed (DtSession *s, uint64_t seed) {
  s->rng.cpu = (DtRng){.seed = seed, .twister = &s->twister};
  s->rng.device = (DtRng){.seed = seed};
  s->seeded = true;
  return seed;
}

DtStatus dt_session_fix (DtSession *s, int slot, DtVar *v) {
  DT_CHECK(s->cx, slot >= 0 && slot < 64, DT_E_LIMIT,
           "argument %d cannot be replaced", slot);
  dt_var_unref(s->fix[slot]);
  s->fix[slot] = dt_var_ref(v);
  s->fix_mask |= UINT64_C(1) << slot;
  return DT_OK;
}

/* Operators and propagation as the profile has them. */
static DtStatus follow_profile (DtSession *s) {
  DT_TRY(s->cx, dt_registry_release(s->cx, s->registry, s->rulings,
                                    s->profile.release));
  dt_prop_release(s->cx, s->prop, &s->profile);
  dt_profile_tell(&s->profile, s->cx);
  return DT_OK;
}

static DtStatus tables_new (DtSession *s, const DtSessionOpts *o) {
  DtCtx *cx = s->cx;
  DtTopo topo;
  s->strings = DT_NEW(cx, struct DtIntern);
  if (s->strings == NULL) return DT_E_NOMEM;
  dt_map_init(&s->strings->names, cx, NULL);
  dt_map_init(&s->strings->warned, cx, NULL);
  s->specs = DT_NEW(cx, struct DtSpecTable);
  if (s->specs == NULL) return DT_E_NOMEM;
  dt_map_init(&s->specs->map, cx, specs_eq);
  s->specs->limit = SPECS_FIRST;
  DT_TRY(cx, dt_registry_new(cx, o->ops, o->variants, &s->registry));
  dt_topo_default(&topo);
  topo.devices_per_host = s->profile.device->devices_per_host;
  DT_TRY(cx, dt_planner_new(cx, &topo, &s->planner));
  DT_TRY(cx, dt_propagator_new(cx, s->registry, s->planner, &s->prop));
  DT_TRY(cx, follow_profile(s));
  return dt_handlers_new(s);
}

DtStatus dt_session_profile (DtSession *s, const char *release,
                             const char *device) {
  DtProfile p;
  DT_TRY(s->cx, dt_profile_init(s->cx, &p, release, device));
  s->profile = p;
  return follow_profile(s);
}

DtStatus dt_session_new (DtCtx *cx, DtComm *comm, const DtSessionOpts *o,
                         DtSession **out) {
  DtStatus st;
  DtSession *s = DT_NEW(cx, DtSession);
  if (s == NULL) return DT_E_NOMEM;
  s->cx = cx;
  s->comm = comm;
  s->grad_enabled = true;
  s->rulings = o->rulings;
  s->module = "";
  (void)dt_session_seed(s, o->seed);
  s->seeded = false;
  st = dt_profile_init(cx, &s->profile, o->torch_release, o->device);
  if (st == DT_OK) st = tables_new(s, o);
  if (st != DT_OK) {
    dt_session_free(s);
    return dt_error_frame(cx, st, __func__, __FILE__, __LINE__);
  }
  *out = s;
  return DT_OK;
}

void dt_session_free (DtSession *s) {
  if (s == NULL) return;
  for (int i = 0; i < 64; i++) dt_var_unref(s->fix[i]);
  dt_events_free(s);
  dt_handlers_free(s);
  if (s->prop != NULL) dt_propagator_free(s->cx, s->prop);
  if (s->planner != NULL) dt_planner_free(s->cx, s->planner);
  dt_specs_free(s);
  if (s->registry != NULL) dt_registry_free(s->cx, s->registry);
  intern_free(s);
  dt_free(s->cx, s);
}
