/* SPDX-License-Identifier: MIT
** shard/text.c: a call as PyTorch's errors print it: str(op_schema).
**
** Only positional arguments are shown, without trailing ones that have their
** default (the dispatcher strips them); a tensor among them prints its spec,
** a list of tensors prints the specs in full.  The bracket after the mesh has
** no partner there either. */
#include <string.h>
#include "shard/prop_int.h"

void dt_pls_repr (const DtPlacement *pl, int n, DtBuf *b) {
  int i;
  dt_buf_addc(b, '(');
  for (i = 0; i < n; i++) {
    if (i > 0) dt_buf_add(b, ", ");
    dt_pl_repr(pl[i], b);
  }
  dt_buf_add(b, n == 1 ? ",)" : ")");
}

static void order_repr (const DtSpec *s, DtBuf *b) {
  DtShardOrder o;
  int i, k;
  dt_spec_order(s, &o);
  if (!o.known) {
    dt_buf_add(b, "None");
    return;
  }
  dt_buf_addc(b, '(');
  for (i = 0; i < o.n; i++) {
    int64_t dims[DT_MAX_MDIM];
    for (k = 0; k < o.e[i].n; k++) dims[k] = o.e[i].mdims[k];
    dt_buf_addf(b, "%sShardOrderEntry(tensor_dim=%d, mesh_dims=",
                i > 0 ? ", " : "", o.e[i].tdim);
    dt_buf_add_tuple(b, dims, o.e[i].n);
    dt_buf_addc(b, ')');
  }
  dt_buf_add(b, o.n == 1 ? ",)" : ")");
}

/* The whole spec, as a list of them prints it. */
static void spec_repr (const DtSpec *s, DtBuf *b) {
  dt_buf_add(b, "DTensorSpec(mesh=");
  dt_mesh_repr(s->mesh, b);
  dt_buf_add(b, ", placements=");
  dt_pls_repr(s->pl, s->npl, b);
  dt_buf_add(b, ", tensor_meta=TensorMeta(shape=torch.Size(");
  dt_buf_add_i64s(b, s->meta.shape, s->meta.ndim);
  dt_buf_add(b, "), stride=");
  dt_buf_add_tuple(b, s->meta.stride, s->meta.ndim);
  dt_buf_addf(b, ", dtype=%s), shard_order=",
              dt_dtype_info((DtDtype)s->meta.dtype)->torch);
  order_repr(s, b);
  dt_buf_addf(b, ", use_strided_shard_as_shard_order=%s)",
              s->strided_is_order ? "True" : "False");
}

typedef struct Print { const DtSpec *const *in; } Print;

static void print_in_list (void *ud, int slot, DtBuf *b) {
  spec_repr(((const Print *)ud)->in[slot], b);
}

static int count_shown_args (const DtArgs *args) {
  const DtSchema *s = args->schema;
  int n = s->nargs - s->nkwonly;
  while (n > 0 && s->arg[n - 1].has_default &&
         dt_value_equal(&args->v[n - 1], &s->arg[n - 1].dflt))
    n--;
  return n;
}

/* An argument as the schema's type reads it: one number for a list of them,
** a whole number for a float. */
static void print_arg (const DtArgDef *d, const DtValue *v, Print *p,
                       DtBuf *b) {
  bool whole = v->kind == DT_V_INT;
  if (whole && d->list && d->type == DT_T_INT) {
    int n = d->fixed > 0 ? d->fixed : 1;
    for (int i = 0; i < n; i++)
      dt_buf_addf(b, "%s%lld", i > 0 ? ", " : "[", (long long)v->u.i);
    dt_buf_addc(b, ']');
  } else if (whole && !d->list && d->type == DT_T_FLOAT)
    dt_buf_add_pyfloat(b, (double)v->u.i);
  else
    dt_value_print(v, print_in_list, p, b);
}

void dt_prop_schema_str (const DtOpDef *op, const DtArgs *args,
                         const DtSpec *const *in, DtBuf *b) {
  Print p = { in };
  const DtMesh *mesh = NULL;
  int i, n = count_shown_args(args);
  dt_buf_addf(b, "%s(", op->sig->full);
  for (i = 0; i < n; i++) {
    const DtValue *v = &args->v[i];
    if (i > 0) dt_buf_add(b, ", ");
    if (v->kind == DT_V_TENSOR) {
      dt_spec_str(in[v->u.slot], b);
      mesh = in[v->u.slot]->mesh;
    } else {
      print_arg(&args->schema->arg[i], v, &p, b);
    }
  }
  dt_buf_add(b, ") on ");
  if (mesh != NULL) dt_mesh_repr(mesh, b);
  else dt_buf_add(b, "None");
  dt_buf_addc(b, ')');
}
