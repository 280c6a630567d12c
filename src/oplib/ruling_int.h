/* SPDX-License-Identifier: MIT
** oplib/ruling_int.h: what rulings of later releases share.  Private to oplib.
**
** A ruling replaces an operator's sharding from a release on (op/opdef.h):
** a line "since" in the operator's .ops text names the rule function, which
** is in ruling_*.c by family.
** Rows: outputs first, then tensor inputs.  Functions here are Local. */
#ifndef DT_OPLIB_RULING_INT_H
#define DT_OPLIB_RULING_INT_H

#include "oplib/oplib_int.h"

/* Partials that pass where a result is linear in its input or keeps order;
** P(product) does not since 2.14. */
enum { RL_NPASS = 4, RL_NALL = 5 };
extern const DtRedOp op_rl_ops[RL_NALL];

/* A row of one cell throughout. */
void op_rl_same (DtRuleCall *c, DtCell cell);
/* A row of one cell for outputs and another for inputs. */
void op_rl_to (DtRuleCall *c, DtCell out, DtCell in);
/* S(d) throughout for the dims that are not in `mask`. */
void op_rl_except (DtRuleCall *c, int ndim, uint32_t mask);
/* Each partial that passes, throughout. */
void op_rl_pass (DtRuleCall *c);
/* Position of an argument, -1 when the operator has none of that name. */
int op_rl_arg (const DtRuleCall *c, const char *name);
/* The wrapped dim of argument `at`, `dflt` where it is None or missing. */
DtStatus op_rl_dim (const DtRuleCall *c, int at, int64_t dflt, int ndim,
                    int *out);
/* Dims of argument "dim" (or "dims") that are reduced: all where it is None or
** missing.  An empty list is no dim, but for amax and amin, whose default it
** is, where keepdim does not follow it.  Errors: INDEX. */
DtStatus op_rl_dims (DtCtx *cx, const DtArgs *args, int ndim, uint32_t *mask);

#define RULE(fn) DtStatus op_rl_##fn (DtRuleCall *c)
#define FILTER(fn) DtStatus op_rf_##fn (DtFilterCall *c)
RULE(follow); RULE(shards); RULE(to_copy); RULE(both); RULE(like); RULE(new_from);
RULE(select); RULE(select_back); RULE(slice); RULE(slice_back);
RULE(slice_scatter); RULE(scatter); RULE(scatter_add); RULE(gather);
RULE(cat); RULE(split); RULE(unbind); RULE(turn); RULE(index_select);
RULE(index_fill);
RULE(reduce); RULE(reduce_bool); RULE(mean); RULE(arg_extreme); RULE(one_dim);
RULE(norm); RULE(cumsum); RULE(other_dims); RULE(logsumexp); RULE(spread);
RULE(pool); RULE(nll); RULE(nll_back); RULE(histc); RULE(dot); RULE(conv);
RULE(conv_back); RULE(norm_back); RULE(bn_back); RULE(flash); RULE(flash_back);
RULE(efficient); RULE(efficient_back); RULE(cudnn); RULE(cudnn_back);
RULE(grouped_mm);
FILTER(mean); FILTER(arg_extreme); FILTER(conv); FILTER(grouped_mm);
FILTER(unbind);
DtStatus op_rd_linear (DtDecompCall *c);
DtStatus op_rd_addmv (DtDecompCall *c);
DtStatus op_rd_polar (DtDecompCall *c);
DtStatus op_rd_combinations (DtDecompCall *c);
DtStatus op_rd_group_norm_back (DtDecompCall *c);
#undef RULE
#undef FILTER

#endif
