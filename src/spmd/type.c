/* SPDX-License-Identifier: MIT
** spmd/type.c: what is known of one tensor, and the words for it. */
#include <stdarg.h>
#include <string.h>
#include "base/error_tool.h"
#include "spmd/spmd.h"

void dt_spmd_type_init (DtSpmdType *t) {
  memset(t, 0, sizeof *t);
  t->ndim = -1;
}

char dt_spmd_type_on (const DtSpmdType *t, int axis) {
  for (int i = 0; t != NULL && i < t->n; i++)
    if (t->at[i].axis == axis) return t->at[i].type;
  return 0;
}

/* On an axis of one rank all types are the same: none is kept. */
DtStatus dt_spmd_type_put (DtSpmd *s, DtSpmdType *t, int axis, char type) {
  if (dt_spmd_axis_size(s, axis) == 1) return DT_OK;
  for (int i = 0; i < t->n; i++)
    if (t->at[i].axis == axis) {
      t->at[i].type = type;
      return DT_OK;
    }
  DT_CHECK(s->cx, t->n < DT_SPMD_AXES, DT_E_LIMIT,
           "a tensor with types on more than %d mesh axes", DT_SPMD_AXES);
  t->at[t->n].axis = axis;
  t->at[t->n++].type = type;
  return DT_OK;
}

void dt_spmd_type_text (const DtSpmd *s, const DtSpmdType *t, DtBuf *b) {
  dt_buf_addc(b, '{');
  for (int i = 0; t != NULL && i < t->n; i++) {
    if (i > 0) dt_buf_add(b, ", ");
    dt_spmd_axis_text(s, t->at[i].axis, b);
    dt_buf_addf(b, ": %c", t->at[i].type);
  }
  dt_buf_addc(b, '}');
}

void dt_spmd_spec_text (const DtSpmd *s, const DtSpmdType *t, DtBuf *b) {
  dt_buf_add(b, "PartitionSpec(");
  for (int i = 0; i < t->ndim; i++) {
    const DtSpmdDim *d = &t->dim[i];
    if (i > 0) dt_buf_add(b, ", ");
    if (d->n == 0) dt_buf_add(b, "None");
    if (d->n > 1) dt_buf_addc(b, '(');
    for (int j = 0; j < d->n; j++) {
      if (j > 0) dt_buf_add(b, ", ");
      dt_spmd_axis_text(s, d->axis[j], b);
    }
    if (d->n > 1) dt_buf_addc(b, ')');
  }
  dt_buf_addc(b, ')');
}

const char *dt_spmd_long (char type) {
  switch (type) {
    case 'R': return "PerMeshAxisLocalSpmdType.R";
    case 'I': return "PerMeshAxisLocalSpmdType.I";
    case 'V': return "PerMeshAxisLocalSpmdType.V";
    default: return "PerMeshAxisLocalSpmdType.P";
  }
}

/* {==== Messages ==== */

static const struct { const char *key, *cls, *text; } messages[] = {
#define X(KEY, CLASS, TEXT) { #KEY, CLASS, TEXT },
#include "spmd/messages.def"
#undef X
};

int dt_spmd_message (const char *key) {
  for (int i = 0; i < DT_SPMD_NMESSAGES; i++)
    if (strcmp(messages[i].key, key) == 0) return i;
  return -1;
}

const char *dt_spmd_message_class (DtSpmdMessage m) { return messages[m].cls; }
const char *dt_spmd_message_text (DtSpmdMessage m) { return messages[m].text; }

/* The value of a place, "{name}" as long as it is not known. */
static const char *filled (const char *name, size_t len, int n,
                           const char *const *pair) {
  for (int i = 0; i < n; i++)
    if (strlen(pair[2 * i]) == len && strncmp(pair[2 * i], name, len) == 0)
      return pair[2 * i + 1];
  return NULL;
}

static void fill (DtBuf *b, const char *text, int n, const char *const *pair) {
  while (*text != '\0') {
    size_t len = strcspn(text, "{");
    dt_buf_addn(b, text, len);
    text += len;
    if (*text == '{') {
      size_t inner = strcspn(text + 1, "}");
      const char *v = filled(text + 1, inner, n, pair);
      if (v != NULL) {
        dt_buf_add(b, v);
        text += inner + (text[inner + 1] == '}' ? 2 : 1);
      } else
        dt_buf_addc(b, *text++);
    }
  }
}

DtStatus dt_spmd_raise (DtSpmd *s, DtSpmdMessage m, ...) {
  const char *pair[16];
  DtStatus st;
  DtBuf b;
  va_list ap;
  int n = 0;
  va_start(ap, m);
  while (n < 8 && (pair[2 * n] = va_arg(ap, const char *)) != NULL)
    pair[2 * n++ + 1] = va_arg(ap, const char *);
  va_end(ap);
  dt_buf_init(&b, s->cx);
  fill(&b, messages[m].text, n, pair);
  st = dt_buf_ok(&b);
  if (st == DT_OK)
    st = dt_error_reason(
      s->cx, dt_raise_as(s->cx, DT_E_SPMD, messages[m].cls, "%s",
                         dt_buf_str(&b)), messages[m].key);
  dt_buf_fini(&b);
  return st;
}

/* }==== */
