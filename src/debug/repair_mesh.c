/* SPDX-License-Identifier: MIT
** debug/repair_mesh.c: repairs for inputs on several meshes, the mistake of a
** model that is only partly parallelized: clip_grad_norm_ stacks norms of
** parameters on ("dp", "tp") and on ("dp") alone.
**
** A mesh that is a slice of a larger one by its dims' names can be seen as the
** larger one: what a tensor is on the missing dims is Replicate, if its parts
** are the same there, which is looked at before it is proposed. */
#include <stdio.h>
#include <string.h>
#include "debug/autopsy.h"
#include "debug/repair_int.h"
#include "debug/verify_int.h"

static const DtSpec *spec_of (const DtFailed *f, int slot) {
  return f->in[slot]->spec;
}

bool dt_repair_meshes_differ (const DtFailed *f) {
  const DtSpec *first = NULL;
  for (int i = 0; i < f->nin; i++) {
    const DtSpec *s = spec_of(f, i);
    if (s == NULL) continue;
    if (first == NULL) first = s;
    else if (!dt_mesh_equal(first->mesh, s->mesh)) return true;
  }
  return false;
}

/* The mesh of most dims among the inputs'. */
static DtMesh *largest_mesh (const DtFailed *f) {
  DtMesh *m = NULL;
  for (int i = 0; i < f->nin; i++) {
    const DtSpec *s = spec_of(f, i);
    if (s && (m == NULL || s->mesh->ndim > m->ndim)) m = s->mesh;
  }
  return m;
}

/* Dim at[i] of `big` is dim i of `small`; false when it is no slice of it. */
static bool is_slice (const DtMesh *small, const DtMesh *big, int *at) {
  if (!dt_mesh_equal(dt_mesh_root(small), dt_mesh_root(big))) return false;
  for (int i = 0; i < small->ndim; i++) {
    int k = 0;
    if (small->name[i] == NULL) return false;
    while (k < big->ndim && (big->name[k] == NULL ||
                             strcmp(big->name[k], small->name[i]) != 0)) k++;
    if (k == big->ndim || big->shape[k] != small->shape[i]) return false;
    at[i] = k;
  }
  return true;
}

/* Can every distributed input be seen on `big`? */
static bool all_slices (const DtFailed *f, const DtMesh *big) {
  int at[DT_MAX_MDIM];
  for (int i = 0; i < f->nin; i++) {
    const DtSpec *s = spec_of(f, i);
    if (s == NULL || dt_mesh_equal(s->mesh, big)) continue;
    if (s->npl != s->mesh->ndim || !is_slice(s->mesh, big, at)) return false;
  }
  return true;
}

static bool is_moved (const DtFailed *f, int slot, const DtMesh *big) {
  const DtSpec *s = spec_of(f, slot);
  return s != NULL && !dt_mesh_equal(s->mesh, big);
}

/* The same local part on the larger mesh. */
static DtStatus lift_to_mesh (DtSession *s, const DtVar *v, DtMesh *big,
                              DtVar **out) {
  DtPlacement pl[DT_MAX_MDIM];
  int at[DT_MAX_MDIM];
  DtSpec *spec = NULL;
  DtStatus st;
  for (int k = 0; k < big->ndim; k++) pl[k] = dt_pl_replicate();
  if (is_slice(v->spec->mesh, big, at))
    for (int i = 0; i < v->spec->npl; i++) pl[at[i]] = v->spec->pl[i];
  st = dt_spec_new(s->cx, big, big->ndim, pl, &v->spec->meta, NULL, -1, &spec);
  if (st == DT_OK) st = dt_var_new(s, v->local, spec, out);
  dt_spec_unref(s->cx, spec);
  return st;
}

/* --- are the parts the same on the missing dims? --- */

/* "first rank of the large mesh/coordinate on the small one:hash of the part":
** ranks that begin alike must end alike.  The large mesh can be a slice, too:
** ranks of its other slices may hold other values. */
static void part_text (const DtVar *v, const DtMesh *big, char *text,
                       size_t size) {
  static const int64_t origin[DT_MAX_MDIM] = {0};
  const DtMesh *m = v->spec->mesh;
  int64_t coord[DT_MAX_MDIM];
  size_t n = 0;
  text[0] = '\0';
  if (!dt_mesh_coord_of(m, m->my_rank, coord)) return;
  n = (size_t)snprintf(text, size, "%d/", dt_mesh_rank_at(big, origin));
  for (int i = 0; i < m->ndim && n < size; i++)
    n += (size_t)snprintf(text + n, size - n, "%lld,", (long long)coord[i]);
  if (n < size)
    (void)snprintf(text + n, size - n, ":%016llx",
                   (unsigned long long)dt_vf_hash(v->local));
}

static bool do_parts_agree (char *const *v, int n) {
  for (int i = 0; i < n; i++)
    for (int k = i + 1; k < n; k++) {
      const char *c = strchr(v[i], ':');
      size_t len = c ? (size_t)(c - v[i]) : 0;
      if (len && strncmp(v[i], v[k], len + 1) == 0 && strcmp(v[i], v[k]) != 0)
        return false;
    }
  return true;
}

/* Counts the inputs that would move; *same: all their parts agree.  Words
** about the first that does not into `b`. */
static DtStatus compare_moved_inputs (DtTrial *t, const DtMesh *big, int *moved,
                                      bool *same, DtBuf *b) {
  DtSession *s = t->d->s;
  *moved = 0;
  *same = true;
  for (int i = 0; i < t->f->nin; i++) {
    char text[256], **all = NULL;
    if (!is_moved(t->f, i, big)) continue;
    (*moved)++;
    part_text(t->f->in[i], big, text, sizeof text);
    DT_TRY(s->cx, dt_vf_gather(s, t->group, text, &all));
    if (*same && !do_parts_agree(all, t->group->size)) {
      dt_trial_name(t->f, i, b);
      dt_buf_add(b, " differs between ranks that ");
      dt_mesh_print(t->f->in[i]->spec->mesh, b);
      dt_buf_add(b, " does not tell apart  ->  it is no replicated value on ");
      dt_mesh_print(big, b);
      *same = false;
    }
    dt_vf_gather_free(s, t->group, all);
  }
  return dt_buf_ok(b);
}

/* --- the candidate in words --- */

/* Names of the inputs that move, at most `most`, then how many more. */
static void add_moved_names (const DtFailed *f, const DtMesh *big, int most,
                             DtBuf *b) {
  int n = 0;
  for (int i = 0; i < f->nin; i++) {
    if (!is_moved(f, i, big)) continue;
    if (n++ >= most) continue;
    if (n > 1) dt_buf_add(b, ", ");
    dt_trial_name(f, i, b);
  }
  if (n > most) dt_buf_addf(b, ", %d more", n - most);
}

/* The script's variable of an input that lies on `big`, or NULL. */
static const char *name_on (const DtFailed *f, const DtMesh *big) {
  for (int i = 0; i < f->nin; i++)
    if (f->name[i] && spec_of(f, i) && !is_moved(f, i, big)) return f->name[i];
  return NULL;
}

static void add_placements (const DtVar *v, bool python, DtBuf *b) {
  for (int k = 0; k < v->spec->npl; k++) {
    if (k) dt_buf_add(b, python ? ", " : " ");
    if (python) dt_pl_repr(v->spec->pl[k], b);
    else dt_pl_print(v->spec->pl[k], b);
  }
}

/* dt.DTensor.from_local(x:to_local(), a.device_mesh, "P(sum) R") */
static void call_text (const char *who, const char *on, const DtVar *lifted,
                       bool python, DtBuf *b) {
  dt_buf_addf(b, python ? "DTensor.from_local(%s.to_local(), %s%s, ["
                        : "dt.DTensor.from_local(%s:to_local(), %s%s, \"",
              who, on ? on : "mesh", on ? ".device_mesh" : "");
  add_placements(lifted, python, b);
  dt_buf_add(b, python ? "])" : "\")");
}

/* Statements that do it at the prompt; false when an input has no variable. */
static bool apply_text (const DtFailed *f, const DtMesh *big, DtVar *const *in,
                        DtBuf *b) {
  const char *on = name_on(f, big);
  for (int i = 0; i < f->nin; i++) {
    if (!is_moved(f, i, big)) continue;
    if (!dt_failed_is_path(on) || !dt_trial_is_variable(f->name[i])) return false;
    dt_buf_addf(b, "%s = ", f->name[i]);
    call_text(f->name[i], on, in[i], false, b);
    dt_buf_add(b, "; ");
  }
  return true;
}

/* Do all inputs that move get the same placements? */
static bool have_same_placements (const DtFailed *f, const DtMesh *big,
                                  DtVar *const *in, int first) {
  for (int i = first + 1; i < f->nin; i++)
    if (is_moved(f, i, big) &&
        !dt_vf_same_pls(in[first]->spec, in[i]->spec)) return false;
  return true;
}

/* Several inputs of the same placements: the call for a `t`, then for which. */
static void call_of_each (const DtFailed *f, const DtMesh *big,
                          const DtVar *lifted, bool python, DtBuf *b) {
  call_text("t", name_on(f, big), lifted, python, b);
  dt_buf_add(b, python ? " for t in (" : " for t = ");
  add_moved_names(f, big, 3, b);
  if (python) dt_buf_addc(b, ')');
}

/* A call for each input that moves. */
static void add_calls (const DtFailed *f, const DtMesh *big, DtVar *const *in,
                       bool python, DtBuf *b) {
  DtBuf who;
  dt_buf_init(&who, b->cx);
  for (int i = 0; i < f->nin; i++) {
    if (!is_moved(f, i, big)) continue;
    dt_buf_clear(&who);
    dt_trial_name(f, i, &who);
    if (b->len) dt_buf_add(b, "; ");
    call_text(dt_buf_str(&who), name_on(f, big), in[i], python, b);
  }
  dt_buf_fini(&who);
}

static void word_it (DtTrial *t, const DtMesh *big, int moved, int first,
                     DtVar *const *in, DtRepairs *out, DtRepair *r) {
  bool each = moved > 1 && have_same_placements(t->f, big, in, first);
  char **text[] = {&r->lua, &r->torch};
  DtBuf b;
  dt_buf_init(&b, t->d->s->cx);
  for (int python = 0; python < 2; python++) {
    dt_buf_clear(&b);
    if (each) call_of_each(t->f, big, in[first], python, &b);
    else add_calls(t->f, big, in, python, &b);
    *text[python] = dt_trial_words(t, out, dt_buf_str(&b));
  }
  dt_buf_clear(&b);
  if (apply_text(t->f, big, in, &b))
    r->apply = dt_trial_words(t, out, dt_buf_str(&b));
  dt_buf_fini(&b);
}

/* The mesh of all inputs that move, NULL when they have several. */
static const DtMesh *small_mesh (const DtFailed *f, const DtMesh *big) {
  const DtMesh *m = NULL;
  for (int i = 0; i < f->nin; i++) {
    if (!is_moved(f, i, big)) continue;
    if (m != NULL && !dt_mesh_equal(m, spec_of(f, i)->mesh)) return NULL;
    m = spec_of(f, i)->mesh;
  }
  return m;
}

/* What was seen, where such tensors come from, and what ends it for good. */
static void add_advice (const DtMesh *big, const DtMesh *small, int moved,
                        DtBuf *b) {
  dt_buf_addf(b, "%d on ", moved);
  if (small) {
    dt_buf_add(b, "mesh ");
    dt_mesh_print(small, b);
  } else dt_buf_add(b, "smaller meshes");
  dt_buf_add(b, moved == 1 ? " is" : " are");
  dt_buf_add(b, " the same on all ranks it does not tell apart  ->  Replicate "
             "on the other dims of ");
  dt_mesh_print(big, b);
  if (moved == 1 || small == NULL) return;
  dt_buf_add(b, "\na module without a plan leaves its parameters on ");
  dt_mesh_print(small, b);
  dt_buf_add(b, ": give it one, SequenceParallel or distribute_module");
}

/* Inputs on different meshes: if all are slices of one, those of the smaller
** meshes are lifted to the largest. Whether the parts are equal across it is
** compared first, collectively; only then is the repair tried, and the answer
** is told either way. */
DtStatus dt_repair_join_meshes (DtTrial *t, DtRepairs *out) {
  DtSession *s = t->d->s;
  DtMesh *big = largest_mesh(t->f);
  DtVar *in[DT_TRIAL_SLOTS] = {NULL};
  DtStatus st = DT_OK;
  bool same = true;
  int moved = 0, first = -1;
  DtBuf b;
  if (big == NULL || !all_slices(t->f, big)) return DT_OK;
  dt_buf_init(&b, s->cx);
  st = compare_moved_inputs(t, big, &moved, &same, &b);
  if (st == DT_OK && same) add_advice(big, small_mesh(t->f, big), moved, &b);
  if (st == DT_OK) out->equality = dt_trial_words(t, out, dt_buf_str(&b));
  dt_buf_fini(&b);
  if (st != DT_OK || !same) return st;
  DT_TRY(s->cx, dt_trial_one_device(t));
  for (int i = 0; i < t->f->nin && st == DT_OK; i++) {
    if (!is_moved(t->f, i, big)) {
      in[i] = dt_var_ref(t->f->in[i]);
      continue;
    }
    st = lift_to_mesh(s, t->f->in[i], big, &in[i]);
    if (first < 0) first = i;
  }
  if (st == DT_OK) {
    DtRepair *r = dt_trial_repair(out);
    dt_trial_inputs(t, in);
    word_it(t, big, moved, first, in, out, r);
    dt_trial_run(t, out, r);
  }
  for (int i = 0; i < t->f->nin; i++) dt_var_unref(in[i]);
  return st;
}
