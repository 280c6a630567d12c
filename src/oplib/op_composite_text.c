/* SPDX-License-Identifier: MIT
** oplib/op_composite_text.c: operators that are a few others, in order.
**
** Each is its program (op_program.c): the calls of PyTorch's decomposition, so
** that placements found by tracing are the same.  D: composites, which nobody
** sees whole; T: operators that are dispatched, and differentiated, as one.
** What depends on shapes is in op_composite_shape.c. */
#include "oplib/oplib_int.h"

#define D(id, schema_, brief_, program_, ...) \
  static const char *const id##_samples[] = { __VA_ARGS__, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = DT_OP_COMPOSITE, \
    .decomp = op_d_program, .program = program_, .samples = id##_samples }

/* The same for an operator that PyTorch dispatches whole: its program stands
** for its kernel as well, `backward_` is its gradient (T0: has none). */
#define T(id, schema_, brief_, program_, backward_, ...) \
  static const char *const id##_samples[] = { __VA_ARGS__, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .decomp = op_d_program, \
    .program = program_, .grad = op_g_program, .backward = backward_, \
    .samples = id##_samples }
#define T0(id, schema_, brief_, program_, ...) \
  static const char *const id##_samples[] = { __VA_ARGS__, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .decomp = op_d_program, \
    .program = program_, .samples = id##_samples }

#define U "f32[8, 6]"
#define B "f32[8, 6], f32[8, 6]"
#define MM "f32[4, 6], f32[3, 6]"

T(_euclidean_dist,
  "_euclidean_dist(Tensor x1, Tensor x2) -> Tensor",
  "Distances of all pairs of rows by one matrix product.",
  "p = pow.Tensor_Scalar(x1, 2); s = sum.dim_IntList(p, [-1], true); "
  "o = ones_like(s, pin_memory=false, "
  "memory_format=!contiguous_format); a = detach(o); q = "
  "pow.Tensor_Scalar(x2, 2); t = sum.dim_IntList(q, [-1], true); u = "
  "ones_like(t, pin_memory=false, memory_format=!contiguous_format); "
  "b = detach(u); m = mul.Tensor(x1, -2); x = cat([m, s, a], -1); y "
  "= cat([x2, b, t], -1); z = transpose.int(y, -2, -1); d = matmul(x, "
  "z); e = clamp_min(d, 0); sqrt(e)",
  "x1: r = div.Tensor(grad, result); m = eq.Scalar(result, 0); f = "
  "masked_fill_.Scalar(r, m, 0); s = sum.dim_IntList(f, [-1], true); a = "
  "mul.Tensor(x1, s); b = matmul(f, x2); sub.Tensor(a, b) | x2: r = "
  "div.Tensor(grad, result); m = eq.Scalar(result, 0); f = "
  "masked_fill_.Scalar(r, m, 0); s = sum.dim_IntList(f, [-2]); u = "
  "unsqueeze(s, -1); a = mul.Tensor(x2, u); t = mT(f); b = matmul(t, x1); "
  "sub.Tensor(a, b)",
  MM, "f32[2, 4, 6], f32[2, 3, 6]");
D(alias_copy,
  "alias_copy(Tensor self) -> Tensor",
  "A copy of the same shape.",
  "x = alias(self); clone(x, memory_format=!contiguous_format)",
  U);
T(t_copy,
  "t_copy(Tensor self) -> Tensor",
  "A transposed copy.",
  "x = t(self); clone(x, memory_format=!contiguous_format)",
  "self: t(grad)",
  "f32[8, 6]");
T(transpose_copy_int,
  "transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor",
  "A copy with two dims exchanged.",
  "ranked(self); x = transpose.int(self, dim0, dim1); clone(x, "
  "memory_format=!contiguous_format)",
  "self: transpose.int(grad, dim0, dim1)",
  "f32[8, 6], 0, 1");
D(squeeze_copy,
  "squeeze_copy(Tensor self) -> Tensor",
  "A copy without dims of size 1.",
  "x = squeeze(self); clone(x, memory_format=!contiguous_format)",
  "f32[8, 1]");
D(squeeze_copy_dim,
  "squeeze_copy.dim(Tensor self, int dim) -> Tensor",
  "A copy without a dim of size 1.",
  "x = squeeze.dim(self, dim); clone(x, "
  "memory_format=!contiguous_format)",
  "f32[8, 1], 1");
D(squeeze_copy_dims,
  "squeeze_copy.dims(Tensor self, int[] dim) -> Tensor",
  "A copy without some dims of size 1.",
  "x = squeeze.dims(self, dim); clone(x, "
  "memory_format=!contiguous_format)",
  "f32[8, 1], [1]");
T(unsqueeze_copy,
  "unsqueeze_copy(Tensor self, int dim) -> Tensor",
  "A copy with a dim of size 1.",
  "x = unsqueeze(self, dim); clone(x, "
  "memory_format=!contiguous_format)",
  "self: squeeze.dim(grad, dim)",
  "f32[8, 6], 1");
T0(view_copy_dtype,
  "view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor",
  "A copy of the bytes as another type.",
  "x = view.dtype(self, dtype); d = detach(x); clone(d, "
  "memory_format=!contiguous_format)",
  "f32[8, 6], torch.int32");
T0(count_nonzero_dim_IntList,
  "count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
  "How many elements are not 0, over dims.",
  "a = ne.Scalar(self, 0); sum.dim_IntList(a, dim)",
  "f32[8, 6], [1]");
/* Back through the norm: the difference is made again for each operand. */
static DtHandle *dist_part (DtGradCall *c) {
  DtHandle *d = EMIT("aten.sub.Tensor", "tt", c->in[0], c->in[1]);
  double p = dt_arg_float(c->args, 2);
  if (p == 0) return EMIT("aten.mul.Scalar", "ti", d, (int64_t)0);
  return op_g_norm(c, d, c->gout[0], c->out[0], p, 0);
}
static DtStatus dist_grad (DtGradCall *c) {
  if (op_g_need(c, 1))
    op_g_set(c, 1, EMIT("aten.neg.default", "t", dist_part(c)));
  if (op_g_need(c, 0)) op_g_set(c, 0, dist_part(c));
  return op_g_finish(c);
}
static const char *const dist_samples[] = { B, "f32[7], f32[7], 1.0", NULL };
const DtOpDef dt_op_dist = {
  .schema = "aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
  .brief = "Norm of the difference.", .flags = DT_OP_SAVE_OUT,
  .decomp = op_d_program,
  .program = "d = sub.Tensor(self, other); norm.Scalar(d, p)",
  .grad = dist_grad, .samples = dist_samples
};
T(fill_Scalar,
  "fill.Scalar(Tensor self, Scalar value) -> Tensor",
  "A number everywhere.",
  "x = full_like(self, value, pin_memory=false); detach(x)",
  "self: zeros_like(grad)",
  "f32[8, 6], 2.0");
D(margin_ranking_loss,
  "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, "
  "float margin=0., int reduction=1) -> Tensor",
  "max(0, margin - target (input1 - input2)).",
  "ungiven(reduction); n = neg(target); s = sub.Tensor(input1, input2); m = "
  "mul.Tensor(n, s); a = add.Tensor(m, margin); c = clamp_min(a, 0); "
  "reduced(c)",
  "f32[8], f32[8], f32[8]");
/* The rows are in dimension `dim`, that of the target: one row without any. */
#define COSINE(dim) "a = mul.Tensor(input1, input2); b = sum.dim_IntList(a, [" \
  dim "]); c = mul.Tensor(input1, input1); d = sum.dim_IntList(c, [" dim "]); " \
  "e = add.Scalar(d, 9.999999960041972e-13); f = mul.Tensor(input2, input2); " \
  "g = sum.dim_IntList(f, [" dim "]); h = add.Scalar(g, " \
  "9.999999960041972e-13); i = mul.Tensor(e, h); j = sqrt_(i); k = " \
  "div.Tensor(b, j); l = zeros_like(k, memory_format=!contiguous_format); m = " \
  "empty_like(k, memory_format=!preserve_format); n = fill_.Scalar(m, 1); o = " \
  "sub_.Tensor(n, k); p = sub.Scalar(k, margin); q = clamp_min_(p, 0); r = " \
  "eq.Scalar(target, 1); s = where.self(r, o, l); t = eq.Scalar(target, -1); " \
  "u = where.self(t, q, l); v = add.Tensor(s, u); reduced(v)"

static DtStatus cosine_embedding_decomp (DtDecompCall *c) {
  const DtMeta *m[3];
  for (int i = 0; i < 3; i++) m[i] = dt_emit_meta(c->e, c->in[i]);
  if (!dt_emit_ok(c->e)) return c->e->st;
  int n = m[2]->ndim;
  DT_CHECK(c->e->cx, n <= 1, DT_E_RUNTIME,
           "0D or 1D target tensor expected, multi-target not supported");
  DT_CHECK(c->e->cx, m[0]->ndim == n + 1 && m[1]->ndim == n + 1, DT_E_RUNTIME,
           "%dD target tensor expects %dD input tensors, but found inputs with "
           "sizes %s and %s.", n, n + 1, op_shape_text(m[0]).s,
           op_shape_text(m[1]).s);
  return op_program(c, n == 0 ? COSINE("0") : COSINE("1"));
}
static const char *const cosine_embedding_samples[] = {
  "f32[8, 6], f32[8, 6], f32[8]", "f32[6], f32[6], f32[]", NULL
};
const DtOpDef dt_op_cosine_embedding_loss = {
  .schema = "aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor "
            "target, float margin=0., int reduction=1) -> Tensor",
  .brief = "Loss of the cosine of two rows, by the sign of target.",
  .flags = DT_OP_COMPOSITE, .decomp = cosine_embedding_decomp,
  .samples = cosine_embedding_samples
};
D(log_sigmoid,
  "log_sigmoid(Tensor self) -> Tensor",
  "log(sigmoid(self)).",
  "o, b = log_sigmoid_forward(self); return o",
  U);
D(special_ndtr,
  "special_ndtr(Tensor self) -> Tensor",
  "Area below the normal density.",
  "a = mul.Tensor(self, 0.7071067811865476); b = erf(a); c = "
  "add.Tensor(b, 1); mul.Tensor(c, 0.5)",
  U);
T(take,
  "take(Tensor self, Tensor index) -> Tensor",
  "Elements by their place in the flattened tensor.",
  "ranked(index); long(index); v = view(self, [-1]); index.Tensor(v, [index])",
  "self: z = zeros_like(self); put(z, index, grad, true)",
  "f32[8, 6], i64[4]");
D(ravel,
  "ravel(Tensor(a) self) -> Tensor(a)",
  "All elements in one dim.",
  "view(self, [-1])",
  U);
D(broadcast_to,
  "broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)",
  "expand.",
  "expand(self, size)",
  "f32[8, 1], [8, 6]");
D(lift,
  "lift(Tensor self) -> Tensor",
  "The tensor itself.",
  "alias(self)",
  U);
T(lift_fresh,
  "lift_fresh(Tensor(a) self) -> Tensor(a)",
  "The tensor itself.",
  "alias(self)",
  "self: return grad",
  U);
D(argsort,
  "argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
  "The order that sorts.",
  "v, i = sort(self, dim, descending); return i",
  U);
D(argsort_stable,
  "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool "
  "descending=False) -> Tensor",
  "The order that sorts, ties in place.",
  "v, i = sort.stable(self, stable=stable, dim=dim, "
  "descending=descending); return i",
  "f32[8, 6], stable=true");
D(msort,
  "msort(Tensor self) -> Tensor",
  "Sorted along the first dim.",
  "v, i = sort(self, 0); return v",
  "f32[8, 6]");
D(linalg_det,
  "linalg_det(Tensor A) -> Tensor",
  "Determinants.",
  "d, l, p = _linalg_det(A); return d",
  "f32[3, 3]");
D(linalg_eigh,
  "linalg_eigh(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, "
  "Tensor eigenvectors)",
  "Eigenvalues and vectors of a symmetric matrix.",
  "_linalg_eigh(self, UPLO)",
  "f32[3, 3]");
D(linalg_eigvals,
  "linalg_eigvals(Tensor self) -> Tensor",
  "Eigenvalues.",
  "v, x = linalg_eig(self); return v",
  "f32[3, 3]");
D(linalg_eigvalsh,
  "linalg_eigvalsh(Tensor self, str UPLO=\"L\") -> Tensor",
  "Eigenvalues of a symmetric matrix.",
  "v, x = _linalg_eigh(self, UPLO); return v",
  "f32[3, 3]");
D(linalg_slogdet,
  "linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
  "Sign and logarithm of determinants.",
  "s, l, a, p = _linalg_slogdet(A); return s, l",
  "f32[3, 3]");
D(linalg_solve_ex,
  "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool "
  "check_errors=False) -> (Tensor result, Tensor info)",
  "Solutions of linear equations.",
  "r, l, p, i = _linalg_solve_ex(A, B, left=left, "
  "check_errors=check_errors); return r, i",
  "f32[3, 3], f32[3, 2]");
D(linalg_svd,
  "linalg_svd(Tensor A, bool full_matrices=True, *, str? "
  "driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
  "Singular value decomposition.",
  "_linalg_svd(A, full_matrices)",
  "f32[3, 3]");
D(linalg_svdvals,
  "linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor",
  "Singular values.",
  "u, s, v = _linalg_svd(A); return s",
  "f32[3, 3]");
D(lu_solve,
  "lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
  "Solutions from factors.",
  "linalg_lu_solve(LU_data, LU_pivots, self)",
  "f32[3, 2], f32[3, 3], i32[3]");
D(matrix_exp,
  "matrix_exp(Tensor self) -> Tensor",
  "Exponential of matrices.",
  "linalg_matrix_exp(self)",
  "f32[3, 3]");
D(_lu_with_info,
  "_lu_with_info(Tensor self, bool pivot=True, bool "
  "check_errors=True) -> (Tensor LU, Tensor pivots, Tensor info)",
  "Triangular factors.",
  "linalg_lu_factor_ex(self, pivot=pivot, check_errors=false)",
  "f32[3, 3]");
/* nanmean: of floats only, whatever the result's type. */
static DtStatus nanmean_decomp (DtDecompCall *c) {
  const DtMeta *m = dt_emit_meta(c->e, c->in[0]);
  DtDtype t = dt_arg_dtype(c->args, 3);
  if (m == NULL) return c->e->st;
  DT_CHECK_SAY(c->e->cx, !dt_dtype_is_integral((DtDtype)m->dtype, true),
               DT_E_RUNTIME, NANMEAN_INTS, op_dtype_word((DtDtype)m->dtype));
  DT_CHECK(c->e->cx, t == DT_DTYPE_NONE || !dt_dtype_is_integral(t, true),
           DT_E_RUNTIME, "nanmean(): could not infer output dtype. Optional "
           "dtype must be either a floating point or complex dtype. Got: %s",
           op_dtype_word(t));
  return op_d_program(c);
}
static const char *const nanmean_samples[] = { U, "f32[8, 6], [1]", NULL };
const DtOpDef dt_op_nanmean = {
  .schema = "aten::nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, "
            "*, ScalarType? dtype=None) -> Tensor",
  .brief = "Mean of what is not NaN.", .flags = DT_OP_COMPOSITE,
  .decomp = nanmean_decomp,
  .program = "a = detach(self); n = ne.Tensor(a, a); m = logical_not_(n); f = "
             "sum.dim_IntList(m, dim, keepdim); s = nansum(self, dim, "
             "keepdim, dtype=dtype); div.Tensor(s, f)",
  .samples = nanmean_samples
};
D(__iand___Scalar,
  "__iand__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
  "Bitwise and, in place.",
  "bitwise_and_.Scalar(self, other)",
  "i64[8, 6], 2");
D(__iand___Tensor,
  "__iand__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
  "Bitwise and, in place.",
  "bitwise_and_.Tensor(self, other)",
  "i64[8, 6], i64[8, 6]");
D(__ior___Scalar,
  "__ior__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
  "Bitwise or, in place.",
  "bitwise_or_.Scalar(self, other)",
  "i64[8, 6], 2");
D(__ior___Tensor,
  "__ior__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
  "Bitwise or, in place.",
  "bitwise_or_.Tensor(self, other)",
  "i64[8, 6], i64[8, 6]");
D(true_divide_Scalar,
  "true_divide.Scalar(Tensor self, Scalar other) -> Tensor",
  "Quotient by a number.",
  "div.Scalar(self, other)",
  "f32[8, 6], 2.0");
T0(view_copy_out,
  "view_copy.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> "
  "Tensor(a!)",
  "A copy in another shape.",
  "v = view(self, size); copy_(out, v)",
  "f32[8, 6], [48], out=f32[48]");
T0(expand_copy_out,
  "expand_copy.out(Tensor self, SymInt[] size, *, bool implicit=False, "
  "Tensor(a!) out) -> Tensor(a!)",
  "A copy, repeated along dims of size 1.",
  "v = expand(self, size); copy_(out, v)",
  "f32[8, 1], [8, 6], out=f32[8, 6]");
T0(diagonal_copy_out,
  "diagonal_copy.out(Tensor self, int offset=0, int dim1=0, int dim2=1, *, "
  "Tensor(a!) out) -> Tensor(a!)",
  "A copy of a diagonal.",
  "v = diagonal(self, offset, dim1, dim2); copy_(out, v)",
  "f32[8, 8], out=f32[8]");
T(masked_fill__Tensor,
  "masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) -> "
  "Tensor(a!)",
  "A value where the mask is true.",
  "fits(mask); x = masked_fill.Tensor(self, mask, value); copy_(self, x)",
  "self: masked_fill.Scalar(grad, mask, 0) | value: z = zeros_like(grad); "
  "w = where.self(mask, grad, z); sum(w)",
  "f32[8, 6], bool[8, 6], f32[]");
T(diagonal_backward,
  "diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, "
  "int dim1, int dim2) -> Tensor",
  "Gradient of diagonal.",
  "z = new_zeros(grad_output, input_sizes, pin_memory=false); "
  "diagonal_scatter(z, grad_output, offset, dim1, dim2)",
  "grad_output: diagonal(grad, offset, dim1, dim2)",
  "f32[8], [8, 8], 0, 0, 1");
/* out= forms that PyTorch decomposes otherwise than their base. */
T0(any_all_out,
  "any.all_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
  "Is an element true?",
  "b = _to_copy(self, dtype=:bool); s = sum.dim_IntList(b, none); n = "
  "ne.Scalar(s, false); copy_(out, n)",
  "bool[8, 6], out=bool[]");
T0(any_dims_out,
  "any.dims_out(Tensor self, int[]? dim=None, bool keepdim=False, *, "
  "Tensor(a!) out) -> Tensor(a!)",
  "Is an element true, over dims?",
  "b = _to_copy(self, dtype=:bool); s = sum.dim_IntList(b, dim, keepdim); n = "
  "ne.Scalar(s, false); copy_(out, n)",
  "bool[8, 6], [1], out=bool[8]");
/* Traced, it is its program; else numbers become the out='s before they are
** added, unless dtype= says of which type they are. */
static DtStatus sum_out_decomp (DtDecompCall *c) {
  const DtMeta *to = dt_emit_meta(c->e, c->in[1]);
  if (to == NULL) return c->e->st;
  if (c->e->tracing || !dt_arg_is_none(c->args, 3) ||
      to->dtype == dt_emit_meta(c->e, c->in[0])->dtype)
    return op_program(c, c->e->tracing ? c->op->program
                         : "s = sum.dim_IntList(self, dim, keepdim, "
                           "dtype=dtype); copy_(out, s)");
  DtHandle *s = EMIT("aten.sum.dim_IntList", "tvv dtype=d", c->in[0], ARG(1),
                     ARG(2), (int)to->dtype);
  c->out[0] = EMIT("aten.copy_.default", "tt", c->in[1], s);
  c->nout = 1;
  return c->e->st;
}
static const char *const sum_out_samples[] = {
  "f32[8, 6], [1], out=f32[8]", NULL
};
const DtOpDef dt_op_sum_IntList_out = {
  .schema = "aten::sum.IntList_out(Tensor self, int[1]? dim, bool keepdim="
            "False, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)",
  .brief = "Sum over dims.", .decomp = sum_out_decomp,
  .program = "unless(keepdim); s = sum.dim_IntList(self, dim, keepdim); "
             "copy_(out, s)",
  .samples = sum_out_samples
};
D(chalf,
  "chalf(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
  "As complex numbers of two halves.",
  "_to_copy(self, dtype=:complex32, memory_format=memory_format)",
  "f32[8]");
T0(cat_out,
  "cat.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)",
  "Tensors joined along a dim.",
  "never(out); x = cat(tensors, dim); copy_(out, x)",
  "[f32[4, 6], f32[4, 6]], 0, out=f32[8, 6]");
T0(dot_out,
  "dot.out(Tensor self, Tensor tensor, *, Tensor(a!) out) -> Tensor(a!)",
  "Scalar product.",
  "m = mul.Tensor(self, tensor); s = sum(m); copy_(out, s)",
  "f32[8], f32[8], out=f32[]");
D(outer_out,
  "outer.out(Tensor self, Tensor vec2, *, Tensor(a!) out) -> Tensor(a!)",
  "Products of all pairs.",
  "v = view(self, [-1, 1]); mul.out(v, vec2, out=out)",
  "f32[8], f32[6], out=f32[8, 6]");
T0(select_backward_out,
  "select_backward.out(Tensor grad_output, SymInt[] input_sizes, int dim, "
  "SymInt index, *, Tensor(a!) out) -> Tensor(a!)",
  "Gradient of select.",
  "z = new_zeros(grad_output, input_sizes, pin_memory=false); s = "
  "select_scatter(z, grad_output, dim, index); copy_(out, s)",
  "f32[8], [8, 6], 1, 2, out=f32[8, 6]");
T0(slice_backward_out,
  "slice_backward.out(Tensor grad_output, SymInt[] input_sizes, int dim, "
  "SymInt start, SymInt end, SymInt step, *, Tensor(a!) out) -> Tensor(a!)",
  "Gradient of slice.",
  "z = new_zeros(grad_output, input_sizes, pin_memory=false); s = "
  "slice_scatter(z, grad_output, dim, start, end, step); copy_(out, s)",
  "f32[2, 6], [8, 6], 0, 0, 2, 1, out=f32[8, 6]");
T0(_softmax_backward_data_out,
  "_softmax_backward_data.out(Tensor grad_output, Tensor output, int dim, "
  "ScalarType input_dtype, *, Tensor(a!) grad_input) -> Tensor(a!)",
  "Gradient of softmax.",
  "a = mul.Tensor(grad_output, output); s = sum.dim_IntList(a, [dim], true); "
  "b = mul.Tensor(output, s); d = sub.Tensor(a, b); copy_(grad_input, d)",
  "f32[8, 6], f32[8, 6], 1, f32, grad_input=f32[8, 6]");
T0(_log_softmax_backward_data_out,
  "_log_softmax_backward_data.out(Tensor grad_output, Tensor output, int dim, "
  "ScalarType input_dtype, *, Tensor(a!) out) -> Tensor(a!)",
  "Gradient of log_softmax.",
  "e = exp(output); s = sum.dim_IntList(grad_output, [dim], true); m = "
  "mul.Tensor(e, s); d = sub.Tensor(grad_output, m); copy_(out, d)",
  "f32[8, 6], f32[8, 6], 1, f32, out=f32[8, 6]");
T0(narrow_copy_out,
  "narrow_copy.out(Tensor self, int dim, SymInt start, SymInt length, *, "
  "Tensor(a!) out) -> Tensor(a!)",
  "A copy of a range of a dim.",
  "v = narrow(self, dim, start, length); copy_(out, v)",
  "f32[8, 6], 0, 2, 4, out=f32[4, 6]");
