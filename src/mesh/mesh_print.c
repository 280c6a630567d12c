/* SPDX-License-Identifier: MIT
** mesh/mesh_print.c: meshes as text: PyTorch's repr in the style of each
** release, the short form, and Python's quoting for error texts. */
#include <string.h>
#include "mesh/mesh_int.h"

void dt_buf_add_pystr (DtBuf *b, const char *s) {
  char q = strchr(s, '\'') != NULL && strchr(s, '"') == NULL ? '"' : '\'';
  dt_buf_addc(b, q);
  for (; *s != 0; s++) {
    if (*s == '\\' || *s == q)
      dt_buf_addf(b, "\\%c", *s);
    else if (*s == '\n')
      dt_buf_add(b, "\\n");
    else if (*s == '\t')
      dt_buf_add(b, "\\t");
    else if (*s == '\r')
      dt_buf_add(b, "\\r");
    else
      dt_buf_addc(b, *s);
  }
  dt_buf_addc(b, q);
}

void dt_buf_add_pynames (DtBuf *b, const char *const *names, int n,
                         bool list) {
  dt_buf_addc(b, list ? '[' : '(');
  for (int i = 0; i < n; i++) {
    if (i > 0)
      dt_buf_add(b, ", ");
    dt_buf_add_pystr(b, names[i]);
  }
  if (n == 1 && !list)
    dt_buf_addc(b, ',');
  dt_buf_addc(b, list ? ']' : ')');
}

/* (dp=2, tp=4), (2, 4), (3,) */
void dt_mesh_print (const DtMesh *m, DtBuf *b) {
  if (m->ndim == 0 || m->name[0] == NULL) {
    dt_buf_add_tuple(b, m->shape, m->ndim);
    return;
  }
  for (int i = 0; i < m->ndim; i++)
    dt_buf_addf(b, "%s%s=%lld", i == 0 ? "(" : ", ",
                m->name[i] == NULL ? "" : m->name[i], (long long)m->shape[i]);
  dt_buf_addc(b, ')');
}

/* The mesh tensor as a nested list: one dim of it. */
static void print_nested (const DtMesh *m, int d, int64_t pos, DtBuf *b) {
  if (d == m->ndim) {
    dt_buf_addf(b, "%lld", (long long)dt_mesh_map(m, pos));
    return;
  }
  dt_buf_addc(b, '[');
  for (int64_t c = 0; c < m->shape[d]; c++) {
    if (c > 0)
      dt_buf_add(b, ", ");
    print_nested(m, d + 1, pos + dt_axis_offset(&m->axis[d], c), b);
  }
  dt_buf_addc(b, ']');
}

/* Releases 2.4 to 2.8: the ranks themselves. */
static void repr_ranks (const DtMesh *m, bool device, DtBuf *b) {
  dt_buf_add(b, "DeviceMesh(");
  if (device)
    dt_buf_addf(b, "'%s', ", m->device_name);
  print_nested(m, 0, m->base, b);
  if (m->ndim > 0 && m->name[0] != NULL) {
    dt_buf_add(b, ", mesh_dim_names=");
    dt_buf_add_pynames(b, (const char *const *)m->name, m->ndim, false);
  }
  dt_buf_addc(b, ')');
}

/* From 2.10 on: strides of the layout; several modes print as a tuple. */
static void print_strides (const DtMesh *m, DtBuf *b) {
  dt_buf_addc(b, '(');
  for (int i = 0; i < m->ndim; i++) {
    const DtAxis *a = &m->axis[i];
    if (i > 0)
      dt_buf_add(b, ", ");
    if (a->n == 1)
      dt_buf_addf(b, "%lld", (long long)a->stride[0]);
    else
      dt_buf_add_tuple(b, a->stride, a->n);
  }
  dt_buf_add(b, m->ndim == 1 ? ",)" : ")");
}

/* "DeviceMesh((dp=2, tp=4), 'cpu', stride=(4, 1)" without the end. */
static void repr_layout (const DtMesh *m, DtMeshStyle style, DtBuf *b) {
  dt_buf_add(b, "DeviceMesh(");
  dt_mesh_print(m, b);
  dt_buf_addf(b, ", '%s', stride=", m->device_name);
  if (style == DT_MESH_NUMBER && m->is_flat && m->axis[0].n == 1)
    dt_buf_addf(b, "%lld", (long long)m->axis[0].stride[0]);
  else
    print_strides(m, b);
}

void dt_mesh_repr_detail (const DtMesh *m, DtBuf *b) {
  repr_layout(m, DT_MESH_TUPLE, b);
  dt_buf_add(b, ", Mesh: ");
  print_nested(m, 0, m->base, b);
  dt_buf_addc(b, ')');
}

void dt_mesh_repr (const DtMesh *m, DtBuf *b) {
  const DtMeshStyle style = m->style != 0 ? m->style : DT_MESH_TUPLE;
  if (style <= DT_MESH_DEVICE) {
    repr_ranks(m, style == DT_MESH_DEVICE, b);
    return;
  }
  if (style == DT_MESH_COLONS) {
    dt_buf_add(b, "DeviceMesh(");
    dt_mesh_print(m, b);
    dt_buf_addf(b, ", device: '%s', stride: ", m->device_name);
    dt_buf_add_tuple(b, m->tstride, m->ndim);
  }
  else
    repr_layout(m, style, b);
  dt_buf_addc(b, ')');
}

void dt_mesh_dim_label (const DtMesh *m, int mdim, DtBuf *b) {
  if (mdim >= 0 && mdim < m->ndim && m->name[mdim] != NULL)
    dt_buf_add(b, m->name[mdim]);
  else
    dt_buf_addf(b, "dim %d", mdim);
}
