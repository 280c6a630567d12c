/* SPDX-License-Identifier: MIT
** diag/rules_moments.c: moments that an optimizer gets are those of another parameter.
**
** A state dict numbers parameters in the order in which they were given.  What
** state_dict() hands out is remembered by its values and the parameter it belongs to:
** where load_state_dict() gives a parameter what was another one's in the same dict,
** and not what was its own, the order has changed.  A parameter is known by its
** variable, or as the same one of another model: by its name without the model's. */
#include <string.h>
#include "diag/diag_int.h"

/* "net.a.weight" -> ".a.weight". */
static const char *within (const char *name) {
  return name + strcspn(name, ".[");
}

static bool is_of (const DtMoment *m, int64_t id, const char *name) {
  return m->param == id ||
         (*within(name) != '\0' && strcmp(within(name), within(m->name)) == 0);
}

void dt_diag_moments_saving (DtDiag *g) { g->moment_saves++; }

void dt_diag_moment_saved (DtDiag *g, const DtVar *p, const DtVar *v, const char *key) {
  const uint64_t h = g->on && !g->d->muted ? dt_diag_hash(v->local, true) : 0;
  const char *kept = h ? dt_session_intern(g->s, key) : NULL;
  if (h && kept == NULL) dt_error_clear(g->s->cx);
  if (kept == NULL) return;
  g->moment[g->nmoments++ % DT_MOMENTS] = (DtMoment){
    .param = p->id, .name = dt_diag_kept_name(g, p), .key = kept, .hash = h,
    .save = g->moment_saves };
}

/* Whose were they, in the last dict that has them?  NULL: unknown, or its own. */
static const DtMoment *other_owner (const DtDiag *g, uint64_t h, const char *key,
                                    int64_t id, const char *name) {
  const DtMoment *last = NULL;
  for (int i = 0; i < DT_MOMENTS && i < g->nmoments; i++) {
    const DtMoment *m = &g->moment[i];
    if (m->hash != h || strcmp(m->key, key) != 0) continue;
    if (is_of(m, id, name)) return NULL;
    if (last == NULL || m->save >= last->save) last = m;
  }
  return last;
}

void dt_diag_moment_given (DtDiag *g, DtVar *p, const DtVar *v, const char *key) {
  const bool looks = g->nmoments > 0 && g->on && !g->d->muted &&
                     g->moments_told != g->nloads;
  const uint64_t h = looks ? dt_diag_hash(v->local, true) : 0;
  const char *name = h ? dt_diag_kept_name(g, p) : "";
  const DtMoment *other = h ? other_owner(g, h, key, p->id, name) : NULL;
  for (int i = 0; other && i < DT_MOMENTS && i < g->nmoments; i++) {
    const DtMoment *own = &g->moment[i];
    DtBuf b;
    if (own->save != other->save || own->hash == h || strcmp(own->key, key) != 0 ||
        !is_of(own, p->id, name)) continue;
    dt_buf_init(&b, g->s->cx);
    dt_buf_addf(&b, "the %s that it gets was that of %s when it was saved", key,
                *other->name ? other->name : "another parameter");
    dt_diag_tell(g, DT_FIND_ID_OTHERS_MOMENTS, p, "load_state_dict", dt_buf_str(&b));
    dt_buf_fini(&b);
    g->moments_told = g->nloads;        /* one of a call is enough */
    return;
  }
}
