/* SPDX-License-Identifier: MIT
** diag/diag_int.h: what the runner and the rules share: their functions, by the
** file that has them.  What they keep is in state.h. */
#ifndef DT_DIAG_DIAG_INT_H
#define DT_DIAG_DIAG_INT_H

#include "diag/state.h"

/* --- listen.c --- */
/* Of which operators: those that write into an argument; whose results are
** views; that copy as it is (clone, _to_copy).  Pure. */
bool dt_diag_inplace (const DtDiag *g, const DtOpDef *op);
bool dt_diag_view (const DtDiag *g, const DtOpDef *op);
bool dt_diag_clones (const DtDiag *g, const DtOpDef *op);
/* cat; copy_. */
bool dt_diag_flattens (const DtDiag *g, const DtOpDef *op);
bool dt_diag_copies_over (const DtDiag *g, const DtOpDef *op);
/* Collect the rules of all tables and the operators they know.  INTERNAL:
** more rules of one event than there is room for.  Local. */
DtStatus dt_diag_rules (DtDiag *g);
/* The listener (DtListenFn): asks the rules.  Local. */
DtStatus dt_diag_hear (void *ud, DtSession *s, const DtEvent *e);
void dt_diag_rules_free (DtDiag *g);


/* Report.  `v`: the tensor it is about, may be NULL; `pl`: placements of the
** fix, NULL = all Replicate.  `fmt`: the evidence.  Repeats are counted. */
void dt_diag_add (DtDiag *g, const DtEvent *e, DtFindId id, const DtVar *v,
                  int npl, const DtPlacement *pl, const char *fmt, ...)
#if defined(__GNUC__)
  __attribute__((format(printf, 7, 8)))
#endif
;
/* The place of an earlier call as an event to claim at; `text` where it has no
** operator.  The strings are the origin's.  Pure. */
DtEvent dt_diag_origin (const DtOrigin *o, const char *text);
/* The text of a buffer, interned in the session; ends the buffer.  NULL without
** memory, and the error is cleared.  Local. */
const char *dt_diag_intern (DtDiag *g, DtBuf *b);
/* The name of `v` for later, interned in the session; "" where it has none, without
** memory and of NULL.  Local. */
const char *dt_diag_kept_name (DtDiag *g, const DtVar *v);
/* The name of a parameter for a sentence; "a parameter" where it has none.  Pure. */
const char *dt_diag_learn_name (const DtLearn *l);
/* "%s ... %s:%d ... %d" of a parameter: its name, the file and line of its
** gradient, how often it was used.  Interned in the session; NULL without
** memory.  Local. */
const char *dt_diag_learn_words (DtDiag *g, const DtLearn *l, const char *fmt);
/* Claim for the group of this rank along `mdim` of `mesh` (-1: the whole
** mesh) that `t` is the same (or, with `differ`, not the same). */
void dt_diag_claim (DtDiag *g, const DtEvent *e, DtFindId id, bool differ,
                    const DtMesh *mesh, int mdim, const DtVar *v,
                    uint64_t hash, const char *what);
/* The same of what is called `name`. */
void dt_diag_claim_named (DtDiag *g, const DtEvent *e, DtFindId id, bool differ,
                          const DtMesh *mesh, int mdim, const char *name,
                          uint64_t hash, const char *what);
/* What tells claims of one finding at one line apart (the `salt` below).  One that
** counts is told apart by the count itself (0 and on), or, where another rule
** counts for the same finding, by a name with room behind it. */
enum DtSalt {
  DT_SALT_DEALT_OUT = 1, DT_SALT_ALONG_CUT, DT_SALT_PIECES_MET,
  DT_SALT_DIVIDED_ALONE, DT_SALT_NEIGHBOURS_MET, DT_SALT_STAT_MET,
  DT_SALT_CAUSAL_ATTENTION, DT_SALT_KEYS_ALONE, DT_SALT_HEADS,
  DT_SALT_HEADS_OF_PIECES, DT_SALT_PIECES_OF_HEADS, DT_SALT_JOINED_STACKED,
  DT_SALT_JOINED, DT_SALT_SOURCE_EQUAL, DT_SALT_SOURCE_WHOLE, DT_SALT_SAME_GROUP,
  DT_SALT_PART_SENT, DT_SALT_ALIKE_SENT, DT_SALT_PICKED_SUMMED, DT_SALT_STAT_REDUCED,
  DT_SALT_COLUMNS_REDUCED, DT_SALT_POOL_MET, DT_SALT_PREFIX_MET, DT_SALT_CONV_MET,
  DT_SALT_EDGE_MET, DT_SALT_GATHER_BACK, DT_SALT_COUNTED_APART, DT_SALT_BEGINS_ALIKE,
  DT_SALT_ALIKE_BEGINS, DT_SALT_SUMMED_ALIKE, DT_SALT_ALIKE_SUMMED,
  DT_SALT_SHIFTED_SUM, DT_SALT_INDEX_WHOLE, DT_SALT_INDEX_MET,
  DT_SALT_FOUND_COMPARED, DT_SALT_ROUTED_SUM, DT_SALT_HALF_REDUCED,
  DT_SALT_LABELS_MET, DT_SALT_MOVED_ALONG, DT_SALT_SHIFTED_ADDED, DT_SALT_MIXED, DT_SALT_BASIS,
  DT_SALT_SHARED_LOSS, DT_SALT_BENT_SHARE, DT_SALT_ORDER_MET, DT_SALT_MADE_ALONE,
  DT_SALT_SAME_PART, DT_SALT_CUT_OFF, DT_SALT_MEAN_MET, DT_SALT_UPDATED_BY_ONE,
  DT_SALT_LEFT_OUT, DT_SALT_PIECES_CLIPPED, DT_SALT_UNITS, DT_SALT_MADE_OF_PART,
  DT_SALT_SOLO, DT_SALT_CUT_WHOLE, DT_SALT_FACTORS, DT_SALT_DEVIATION,
  DT_SALT_EXTRA = 1 << 20,
  DT_SALT_STATE = 2 << 20,
  DT_SALT_PARTS_STEPPED = 3 << 20,
  DT_SALT_AVERAGES = 4 << 20,
  DT_SALT_CLIPPED = 5 << 20,
  DT_SALT_SOURCE_WINS = 6 << 20,
  DT_SALT_IN_GROUP = 7 << 20
};
/* The same with several facts that must hold together; `place`: event of the
** operator to be named; `salt` distinguishes claims of one line; mesh
** NULL: all ranks.  `subject` may be NULL; `what` must outlive the session's
** findings (interned or static).  Borrowed until the next claim; NULL when it
** was made before, or cannot be. */
DtClaim *dt_diag_claim_all (DtDiag *g, const DtEvent *place, DtFindId id,
                            const DtMesh *mesh, int mdim, int64_t salt,
                            int nfact, const DtFact *fact,
                            const char *subject, const char *what);
/* The same, of all ranks, where it comes again and again at one place: each time
** counts, and it holds when it holds of all of them.  The ranks must have come as
** often.  `nfact` below DT_FACTS. */
void dt_diag_claim_often (DtDiag *g, const DtEvent *e, DtFindId id, int64_t salt,
                          int nfact, const DtFact *fact, const char *subject,
                          const char *what);
/* What makes findings one, of one text that runs: kind, operator, line. */
uint64_t dt_diag_key (const DtFindKind *k, const char *op, const char *file,
                      int line);
/* What a tensor is to the one that one rank has, for fixes.def and edits.def. */
#define DT_IS_ADDEND "addend"
#define DT_IS_MEAN "mean"
#define DT_IS_PART "part"
/* The ranks' losses are one, or parts of one: gradients of it are to be summed. */
#define DT_OF_ONE_LOSS "one loss"
/* Keep a finding; its owned texts are made here.  put_for: its fix is that of
** fixes.def for `what`, NULL or none there: its kind's; put: for its operator. */
void dt_diag_put_for (DtDiag *g, const DtFinding *f, const char *what, int npl,
                      const DtPlacement *pl, const char *subject,
                      const char *evidence);
void dt_diag_put (DtDiag *g, const DtFinding *f, int npl,
                  const DtPlacement *pl, const char *subject,
                  const char *evidence);
/* A finding at that place; ends the buffer of its evidence. */
void dt_diag_put_at (DtDiag *g, DtFindId id, const DtOrigin *at, const char *subject,
                     DtBuf *b);
/* Keep a finding whose texts are there already; `edit` NULL or "": none. */
void dt_diag_keep (DtDiag *g, const DtFinding *f, const char *subject,
                   const char *evidence, const char *lua, const char *torch,
                   const char *edit);
/* Append the edit of the program's line that mends a finding there, lines of a
** difference; nothing where edits.def has none that fits.  `what` as in put_for. */
void dt_diag_edit (DtDiag *g, const DtFinding *f, const char *what, const char *subject,
                   const char *evidence, DtBuf *out);
/* An event as if it were where forward called for what backward does: the fault of
** what backward computes is told there.  Pure. */
DtEvent dt_diag_called (const DtDiag *g, const DtEvent *e);
/* Forget the repair that was tried. */
void dt_diag_untry (DtDiag *g, DtFinding *f);
/* Was its memory never written?  Its values are no evidence of anything. */
bool dt_diag_blank (DtDiag *g, const DtVar *v);
/* Script variable that holds the tensor, "" when none. */
const char *dt_diag_name (DtDiag *g, const DtVar *v);
/* Forget the claims. */
void dt_diag_unclaim (DtDiag *g);
/* Decide the call of an event again, with `args` (its own or others), past the
** cache; the caller's reference, NULL when a tensor is plain or nothing can be
** decided.  Local. */
DtProp *dt_diag_decide (DtDiag *g, const DtEvent *e, const DtArgs *args);
/* The product that an operator is, NULL: none. */
const DtProduct *dt_diag_product (const DtOpDef *op);
/* Dimensions along which a plain tensor was cut out of another, as bits. */
uint32_t dt_diag_cut_dims (const DtDiag *g, const DtVar *v);
/* A raw sum over the ranks of what this rank made of its part. */
void dt_diag_summed (DtDiag *g, const DtRecRaw *raw, const DtVar *in);
/* Turn the copies that changed into claims. */
void dt_diag_copies (DtDiag *g);
void dt_diag_copies_free (DtDiag *g);
/* The slice of a plain tensor that `v` is, NULL: none. */
const DtPart *dt_diag_cut_of (const DtDiag *g, const DtVar *v);
/* Does the operator go along one of `dims` (bits) of its first argument? */
bool dt_diag_along (const DtEvent *e, uint32_t dims);
/* The same of one dimension; an operator that names none goes along all. */
bool dt_diag_along_dim (const DtEvent *e, int dim);
/* What is known of a plain tensor, NULL: nothing; and of this kind.  Pure. */
DtPlace *dt_diag_place (const DtDiag *g, const DtVar *v);
const DtPlace *dt_diag_place_of (const DtDiag *g, const DtEvent *e, int i,
                                 DtPlaceKind kind);
/* The same where the ranks hold other parts, in one way or another.  Pure. */
DtPlace *dt_diag_place_spread (const DtDiag *g, const DtVar *v);
/* Is something cut that is `n` long?  A sum divided by such a number may be meant as
** one rank's share of the mean, also where a part has as many elements.  Pure. */
bool dt_diag_is_whole (const DtDiag *g, double n);
/* Is a part of that length one of an even split?  A longer one has items of its
** neighbours as well, and nothing is missing at its edge.  Pure. */
bool dt_diag_is_split (const DtDiag *g, int64_t len, int64_t whole);
/* Note it.  Local. */
void dt_diag_place_put (DtDiag *g, const DtVar *v, const DtPlace *w);
/* Nothing is known of it any more.  Local. */
void dt_diag_place_drop (DtDiag *g, const DtVar *v);
/* Note it of whoever has this memory in this shape.  Local. */
void dt_diag_place_put_at (DtDiag *g, const DtTensor *t, const DtPlace *w);
/* `w` becomes something that the event's operator made.  Pure. */
DtPlace dt_diag_place_made (const DtPlace *w, const DtEvent *e,
                            DtPlaceKind kind);
void dt_diag_places_free (DtDiag *g);
/* rules_cut.c. */
void dt_diag_splits_free (DtDiag *g);
/* The script's name of a tensor, "" where it has none.  Pure. */
const char *dt_diag_place_name (const DtDiag *g, int64_t id);
/* As it was before the write that has just been made.  Pure. */
const DtPlace *dt_diag_place_before (const DtDiag *g, const DtVar *v);
/* index.c.  Which items of the whole a part has, from its first, as a hash.  Pure. */
uint64_t dt_diag_items_of (const DtPlace *w);
/* Set `off` and `items` of what is counted to the numbers in `v`; items 0: they are
** not whole numbers in a row. */
void dt_diag_items_read (const DtVar *v, DtPlace *w);
/* Are the inputs pieces of one tensor, which are joined where they were cut?  Then
** `to`, the first one's place, becomes that of the result.  Pure. */
bool dt_diag_pieces_joined (const DtDiag *g, const DtEvent *e, DtPlace *to);
/* Is `t` every n-th item of `whole`?  Then *w is where.  Pure. */
bool dt_diag_every_nth (const DtTensor *whole, const DtTensor *t, DtPlace *w);
/* rules_view.c.  A view, or a copy of the same elements, was made: each result is
** a part, or goes on being one.  Local. */
void dt_diag_view_end (DtDiag *g, const DtEvent *e);
/* rules_meet.c.  Counted numbers `count` meet the part `part`; two parts meet; a
** maximum was taken of a part; pointwise of argument `i`, is it shifted by it? */
void dt_diag_counted_met (DtDiag *g, const DtEvent *e, int part, int count);
void dt_diag_parts_met (DtDiag *g, const DtEvent *e, int i, int k);
/* A product has a column for each row of all ranks; labels choose among its
** columns. */
void dt_diag_scored (DtDiag *g, const DtEvent *e, const DtVar *keys, int64_t n);
void dt_diag_labels_met (DtDiag *g, const DtEvent *e);
/* rules_shuffled.c.  `out` has the parts of all ranks, of which this rank's is
** `part`, one after the other along its dimension, joined at `at`. */
void dt_diag_shuffle (DtDiag *g, const DtPlace *part, const DtOrigin *at,
                      const DtVar *out);
/* rules_p2p.c.  Pieces that came from other ranks are joined along `dim` with a part;
** items are moved along `dim` of a part; positions are compared; a mask meets scores:
** true where it needs no other look; one of two addends was shifted by the maximum of
** its own block. */
void dt_diag_beside (DtDiag *g, const DtEvent *e, int64_t dim);
bool dt_diag_positions_compared (DtDiag *g, const DtEvent *e, const DtPlace *was);
bool dt_diag_block_masked (DtDiag *g, const DtEvent *e, const DtPlace *p,
                           const DtPlace *by, uint64_t mask);
void dt_diag_moved_along (DtDiag *g, const DtEvent *e, int64_t dim);
void dt_diag_shifted_added (DtDiag *g, const DtEvent *e);
/* rules_padded.c.  `rows`, the first of a tensor, become a copy of the part `w`. */
void dt_diag_part_filled (DtDiag *g, const DtVar *rows, const DtPlace *w);
/* rules_total.c.  A raw collective sums `in`, of which `to` is known, which becomes
** the total; a total meets something: true when its place is known now. */
void dt_diag_total_sent (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                         DtPlace *to);
bool dt_diag_total_met (DtDiag *g, const DtEvent *e);

/* rules_total.c.  A logarithm to any base; a number to the power of what it takes,
** which undoes one.  Pure. */
bool dt_diag_is_logarithm (const DtOpDef *op);
bool dt_diag_is_power (const DtOpDef *op);
/* What was summed over the ranks is added to what was not. */
void dt_diag_half_reduced (DtDiag *g, const DtEvent *e);
/* A product sums along the parts `a` and `b`. */
void dt_diag_summed_parts (DtDiag *g, const DtEvent *e, const DtPlace *a,
                           const DtPlace *b);
void dt_diag_peak_taken (DtDiag *g, const DtEvent *e, const DtPlace *w);
void dt_diag_shift (DtDiag *g, const DtEvent *e, int i, DtPlace *to);
/* Rows are taken by the indices `w`; one item of a part (NULL: of a whole) is
** taken, used, and its results put into rows. */
void dt_diag_index_met (DtDiag *g, const DtEvent *e, const DtPlace *w);
void dt_diag_found_compared (DtDiag *g, const DtEvent *e);
void dt_diag_item_taken (DtDiag *g, const DtEvent *e, const DtPlace *part);
void dt_diag_item_used (DtDiag *g, const DtEvent *e);
void dt_diag_routed (DtDiag *g, const DtEvent *e);
/* A raw collective sums what was shifted, or routed. */
void dt_diag_shifted_sum (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                          const DtPlace *w);
void dt_diag_routed_sum (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                         const DtPlace *w);
/* rules_local.c.  A statistic of a part meets that part; two pieces of one part
** meet; an operator goes along the cut dimension; queries meet keys. */
void dt_diag_stat_met (DtDiag *g, const DtEvent *e);
void dt_diag_along_cut (DtDiag *g, const DtEvent *e, DtPlace *w);
void dt_diag_heads_met (DtDiag *g, const DtEvent *e);
void dt_diag_keys_alone (DtDiag *g, const DtEvent *e);
void dt_diag_lse_used (DtDiag *g, const DtEvent *e);
/* Two pieces of one part are multiplied; either may be NULL. */
void dt_diag_pieces_met (DtDiag *g, const DtEvent *e, const DtPlace *a,
                         const DtPlace *b);
/* A view of what an all_gather brought; pieces that are joined; a slice. */
void dt_diag_stacked_view (DtDiag *g, const DtEvent *e, const DtPlace *w);
void dt_diag_joined (DtDiag *g, const DtEvent *e);
void dt_diag_sliced (DtDiag *g, const DtEvent *e);
/* An all_gather over `n` ranks gave `piece` as that of the rank `shift` further on. */
void dt_diag_where_gathered (DtDiag *g, const DtVar *mine, const DtVar *piece,
                             int64_t shift, int64_t n);
/* A raw collective took `in`: was it made of a part alone? */
void dt_diag_where_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                        const DtVar *out);
/* Is the storage one that a broadcast made equal on a group's ranks, or the local part
** of a parameter that is Replicate?  One whose broadcast the program asked for
** itself?  Pure. */
bool dt_diag_copied (const DtDiag *g, int64_t storage);
bool dt_diag_chosen (const DtDiag *g, int64_t storage);
/* Where a copy was written between the broadcast that made it equal and its first
** gradient; NULL: it was not.  Borrowed.  Pure. */
const DtOrigin *dt_diag_rewrote (const DtDiag *g, int64_t storage);
/* to_local() of the parameter `p` gave `local`: if `p` is Replicate and no gradients
** are recorded, it is to stay equal.  Local. */
void dt_diag_replicated (DtDiag *g, const DtVar *local, const DtVar *p);
/* A raw collective took `in`: does it reduce gradients? */
void dt_diag_train_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in);
/* A raw collective took `in`, which may have a gradient, and gave `out`. */
void dt_diag_graph_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                        const DtVar *out);
void dt_diag_graph_free (DtDiag *g);
/* Of local parts that a raw collective takes (rules_shards.c). */
void dt_diag_shards_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                         const DtVar *out);
void dt_diag_shards_free (DtDiag *g);
/* Is a tensor multiplied or divided by a number, *x, that is not 1? */
bool dt_diag_scales (const DtDiag *g, const DtEvent *e, double *x);
/* A raw collective took `in`: does a broadcast drop what was loaded? */
void dt_diag_state_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in);
/* A raw collective took `in` and gave `out`: are these rows in an order of their
** own?  Is it the result of a functional collective? */
void dt_diag_rows_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                       const DtVar *out);
void dt_diag_rows_carry (DtDiag *g, const DtVar *from, const DtVar *to);
void dt_diag_result_raw (DtDiag *g, const DtVar *in);
/* rules_loss.c.  Is the statistic `to` a mean along the cut dimension alone?  One
** goes through what is not linear. */
void dt_diag_pooled (const DtEvent *e, DtPlace *to);
void dt_diag_pool_met (DtDiag *g, const DtPlace *w);
/* Sums from the start of a part on are used as they are. */
void dt_diag_prefix_met (DtDiag *g, const DtPlace *w);
/* A raw collective took `in`: the largest norm?  A gradient is scaled by it. */
void dt_diag_norm_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in);
void dt_diag_most_used (DtDiag *g, const DtVar *grad);
/* Results of functional collectives that nobody used. */
void dt_diag_results (DtDiag *g);
/* A parameter that is a part is written over with values that are the same on
** all ranks. */
void dt_diag_same_part (DtDiag *g, const DtEvent *e);
/* rules_stale.c.  An all_gather of `mine` gave `out`, or a piece of it.  Local. */
void dt_diag_stale_gathered (DtDiag *g, const DtVar *mine, const DtVar *out);
void dt_diag_stales_free (DtDiag *g);
/* rules_lag.c.  Claims that no rank has the batches that another had before.  Local. */
void dt_diag_lagging (DtDiag *g);
/* Are the facts of all ranks but one, so many steps later, the first of another? */
bool dt_diag_is_lagging (uint64_t (*hash)[DT_FACTS], int nrank, int nfact, bool only);
/* rules_picked.c.  A raw collective takes `in`.  Local. */
void dt_diag_picked_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in);
void dt_diag_picks_free (DtDiag *g);
/* rules_clamped.c.  A raw collective takes `in`.  Local. */
void dt_diag_clamped_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in);
void dt_diag_clamps_free (DtDiag *g);
void dt_diag_caps_free (DtDiag *g);   /* rules_capped.c */
/* rules_noise.c.  A raw collective takes `in`.  Local. */
void dt_diag_noise_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in);
/* Are they random numbers, or made of them and numbers alone?  Pure. */
bool dt_diag_is_noise (const DtDiag *g, const DtVar *v);
void dt_diag_noises_free (DtDiag *g);
/* rules_perm.c.  Local. */
void dt_diag_perms_free (DtDiag *g);
void dt_diag_decks_free (DtDiag *g);  /* rules_dealt.c */
/* rules_copies.c.  A raw collective takes `in`: one rank's gradient for all?  Local. */
void dt_diag_gradient_sent (DtDiag *g, const DtRecRaw *raw, const DtVar *in);
/* A message takes `v` to another rank.  Local. */
void dt_diag_gradient_passed (DtDiag *g, const DtVar *v);
/* rules_factors.c.  A raw collective takes `in`.  Local. */
void dt_diag_factors_raw (DtDiag *g, const DtVar *in);
/* rules_meter.c.  A raw collective took `in` and gave `out`.  Local. */
void dt_diag_meter_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                        const DtVar *out);
/* rules_whole.c.  A raw collective takes `in`.  Local. */
void dt_diag_whole_raw (DtDiag *g, const DtVar *in);
/* rules_tied.c.  A raw collective took `in` and gave `out`; gradients are scaled by what
** came of a norm.  Local. */
void dt_diag_tied_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in, const DtVar *out);
void dt_diag_tied_used (DtDiag *g);
/* Was `v` summed up of squares of gradients?  Known once some were reduced over ranks. */
bool dt_diag_sums_gradients (DtDiag *g, const DtVar *v);
/* rules_deviation.c.  A raw collective took `in` and gave `out`.  Local. */
void dt_diag_deviation_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                            const DtVar *out);
/* rules_unread.c.  What came into `v` is used otherwise than by an operator: it goes to
** other ranks, or is shown or saved.  Local. */
void dt_diag_unread_taken (DtDiag *g, const DtVar *v);
void dt_diag_unreads_free (DtDiag *g);

/* --- rules_scattered.c --- */

/* A raw collective gave `out` (may be NULL).  Local. */
void dt_diag_scattered_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *out);
/* Claims what such pieces were scaled by, if a norm of them was taken before.  Local. */
void dt_diag_scattered_clips (DtDiag *g);

/* --- rules_adjoint.c --- */

/* A raw collective ran.  Local. */
void dt_diag_adjoint_raw (DtDiag *g, const DtRecRaw *raw);
void dt_diag_adjoints_free (DtDiag *g);
/* The facts of a claim with `sums`, of each of `n` ranks: is that backward another map's?
** *out, *in: the two sums that were to be equal.  Pure. */
enum { DT_SUMS = 3 };
typedef struct DtSums { uint64_t fact[DT_SUMS]; } DtSums;
bool dt_diag_adjoint_fails (int n, const DtSums *s, double *out, double *in);

/* --- rules_train.c: of others --- */

/* Does the operator take a norm, or squares on the way to one?  Pure. */
bool dt_diag_takes_norm (const DtDiag *g, const DtOpDef *op);

/* --- rules_answer.c --- */
/* A message was sent to a rank; one came from one; turn what is known of them into
** claims and forget it.  Local. */
void dt_diag_answer_sent (DtDiag *g, int to, const DtVar *v);
void dt_diag_answer_came (DtDiag *g, int from, const DtVar *v);
void dt_diag_answers (DtDiag *g);
void dt_diag_answers_free (DtDiag *g);
/* rules_groups.c.  Parameters whose copies some ranks have, others not: claims. */
void dt_diag_groups (DtDiag *g);
/* fully_shard cuts over `mesh`; what is claimed of that at the end. */
void dt_diag_wraps (DtDiag *g, DtMesh *mesh);
void dt_diag_besides (DtDiag *g);
void dt_diag_besides_free (DtDiag *g);
/* rules_drift.c.  A parameter is frozen; a parameter was updated;
** a collective took `v`; claims of all. */
void dt_diag_drift_frozen (DtDiag *g, const DtVar *v);
void dt_diag_drift_updated (DtDiag *g, const DtEvent *e);
void dt_diag_drift_met (DtDiag *g, const DtVar *v);
void dt_diag_drifts (DtDiag *g);
void dt_diag_drifts_free (DtDiag *g);
/* rules_master.c.  Is a copy of parameters trained, and they are not?  Finds it. */
void dt_diag_masters (DtDiag *g);
void dt_diag_masters_free (DtDiag *g);
/* What buffers were read as until now does not count, where nothing was trained yet.
** Local. */
void dt_diag_buffers_unread (DtDiag *g);
/* A parameter whose gradient was reduced; NULL: none.  Pure. */
const DtLearn *dt_diag_any_reduced (const DtDiag *g);
/* Is a scheduler made for the steps of all ranks together?  Finds it. */
void dt_diag_schedule (DtDiag *g);
/* Turn what is known of buffers into claims. */
void dt_diag_state (DtDiag *g);
/* Where the script is.  Local. */
DtOrigin dt_diag_here (const DtDiag *g, const char *op);
/* Turn what is known of parameters into claims. */
void dt_diag_train (DtDiag *g);
/* Turn what fully_shard's units reduced into a claim; forget it. */
void dt_diag_batch (DtDiag *g);
void dt_diag_batch_free (DtDiag *g);
void dt_diag_learn_free (DtDiag *g);
/* Note `v` as the part `p`, among those that are joined. */
void dt_diag_part_add (DtDiag *g, const DtVar *v, const DtPart *p);
/* rules_lost.c.  A gradient came, in this memory; `v` as it is at its first; an
** update left some of it; something is added to a gradient; claims of all. */
void dt_diag_gradient_came (DtDiag *g, const DtEvent *e, DtLearn *l,
                            int64_t storage);
void dt_diag_keep_first (DtDiag *g, DtLearn *l, const DtVar *v);
void dt_diag_look_still (DtLearn *l, const DtVar *v);
void dt_diag_gradient_added (DtDiag *g, const DtEvent *e, DtLearn *l);
void dt_diag_lost (DtDiag *g);
/* Claim that the numbers which scale the loss stay the same. */
void dt_diag_factors (DtDiag *g);
/* The parameter in this storage that got a gradient; NULL: none.  Pure. */
DtLearn *dt_diag_by_storage (const DtDiag *g, int64_t storage);
/* What parameter `l` began with, as evidence that the ranks hold copies of it; 0: none.
** Pure. */
uint64_t dt_diag_began_with (const DtDiag *g, const DtLearn *l);
/* Whose gradient lies in this storage; NULL: none.  Pure. */
DtLearn *dt_diag_by_grad (const DtDiag *g, int64_t storage);
/* How the gradient `t`, at an update, stands to that of the mean over all ranks.
** *over: the ranks; *times: micro-batches. */
DtKept dt_diag_share_kept (DtDiag *g, const DtTensor *t, int *over, int *times);
/* Turn a loss that is divided by the ranks, where the library averages over them,
** into a claim. */
void dt_diag_shared_loss (DtDiag *g);
/* Is the gradient `t` averaged over ranks?  *over: how many. */
bool dt_diag_share_averaged (DtDiag *g, const DtTensor *t, int *over);
/* Is it a gradient that was reduced? */
bool dt_diag_share_reduced (DtDiag *g, const DtTensor *t);
/* Is it the gradient of one backward of this rank's mean, as it came? */
bool dt_diag_share_whole (DtDiag *g, const DtTensor *t);
/* How many means of micro-batches the gradient `t` is the sum of; 0: other. */
int dt_diag_share_micro (DtDiag *g, const DtTensor *t);
/* Is it the sum of this rank's elements, divided by those of all ranks? */
bool dt_diag_is_part_of_mean (DtDiag *g, const DtTensor *t);
/* How a gradient that was reduced over `over` ranks, once, is scaled: it was averaged
** and then divided by them, `twice`, or it is their sum. */
typedef struct DtShareStep {
  int over; bool twice;
  DtOrigin reduced_at, divided_at;
} DtShareStep;
/* *rate, of an update with `t`, becomes that of the gradient; false: nothing is wrong
** with it, or it is not known.  Pure. */
bool dt_diag_share_step (DtDiag *g, const DtTensor *t, double *rate, DtShareStep *how);
/* Where a checkpoint was loaded into it, of the last ones; NULL.  Pure. */
const DtOrigin *dt_diag_load_of (const DtDiag *g, int64_t storage);
/* rules_state.c.  Claim that the ranks trained in the same mode. */
void dt_diag_modes (DtDiag *g);
/* rules_units.c.  A plain tensor that to_local() gave, `h`, is reduced. */
void dt_diag_units_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                        const DtHeld *h);
void dt_diag_units_free (DtDiag *g);
/* The script's name of a tensor, kept for the session; "". */
const char *dt_diag_kept_place (DtDiag *g, int64_t id);
/* How many digits a number has that somebody wrote.  Pure. */
int dt_diag_digits (double x);
/* Weight of `t` by that of `of`; 1 where either is unknown. */
double dt_diag_share_ratio (DtDiag *g, const DtTensor *t, const DtTensor *of);
/* How much of the mean over all elements the gradient `t` is; NAN: not known, or it
** was summed over ranks and not divided. */
double dt_diag_share_total (DtDiag *g, const DtTensor *t);
/* rules_steps.c.  The gradient of a parameter is written; backward adds to it: what
** was there had been scaled? */
void dt_diag_gradient_scaled (DtDiag *g, const DtEvent *e, DtLearn *l);
void dt_diag_scaled_added (DtDiag *g, const DtEvent *e, DtLearn *l, int64_t storage);
/* rules_steps.c.  What an operator multiplies its second addend with.  Pure. */
double dt_diag_alpha (const DtEvent *e);
/* rules_steps.c.  An update of a parameter; turn its rate into a claim. */
void dt_diag_rate_used (DtDiag *g, const DtEvent *e, const DtLearn *l);
void dt_diag_rates (DtDiag *g);
/* rules_steps.c.  A gradient is reduced over the ranks: were its values cut off? */
void dt_diag_bounded_reduced (DtDiag *g, const DtRecRaw *raw, const DtVar *grad,
                              DtLearn *l);
/* rules_steps.c.  The first update of `p`; claims of it; of a part of one; of
** moving averages; a raw collective took one. */
void dt_diag_step_scaled (DtDiag *g, const DtEvent *e, const DtVar *p,
                          DtLearn *l);
void dt_diag_kept (DtDiag *g, const DtLearn *l, int64_t nr);
void dt_diag_parts_stepped (DtDiag *g, const DtLearn *l, int64_t nr);
void dt_diag_averages (DtDiag *g);
void dt_diag_average_raw (DtDiag *g, const DtVar *in);
/* Is the loss of the backward under way one of this rank, not its share of one:
** a mean, or a sum of elements?  Pure. */
bool dt_diag_whole_loss (const DtDiag *g);
/* What the shares hold. */
void dt_diag_shares_free (DtDiag *g);
/* Turn the folded numbers into claims. */
void dt_diag_numbers (DtDiag *g);
/* Hash of a tensor's values (of large ones, of a sample); 0 without data.
** `varied`: 0 also when all values are the same. */
uint64_t dt_diag_hash (const DtTensor *t, bool varied);
/* Is the local part as the spec says?  Unknown counts as yes. */
bool dt_diag_fits (DtDiag *g, DtSpec *spec, int ndim, const int64_t *shape);

/* Name of the operator or call of an event. */
static inline const char *dt_diag_op (const DtEvent *e) {
  return e->op && e->op->sig ? e->op->sig->full : e->text ? e->text : "";
}
/* Is it this operator, or a form of it (in place, out=)? */
static inline bool dt_diag_op_is (const DtDiag *g, const DtOpDef *op,
                                  int which) {
  const DtOpDef *o = g->op[which];
  return o != NULL && (op == o || op->base == o);
}
static inline bool dt_diag_is (const DtDiag *g, const DtEvent *e, int which) {
  return dt_diag_op_is(g, e->op, which);
}
/* Was it multiplied or divided: is it a share of what is to be added once? */
static inline bool dt_diag_is_scaled (const DtVar *v) {
  return v->origin.op && (strstr(v->origin.op, "aten.div") ||
                          strstr(v->origin.op, "aten.mul"));
}
/* Is it one of these, NULL at their end? */
static inline bool dt_diag_named (const DtOpDef *op, const char *const *names) {
  for (; *names; names++)
    if (strcmp(op->sig->full, *names) == 0) return true;
  return false;
}
static inline bool dt_diag_partial (const DtSpec *s) {
  int i;
  for (i = 0; i < s->npl; i++)
    if (dt_pl_is_partial(s->pl[i]) &&
        (i >= s->mesh->ndim || s->mesh->shape[i] > 1)) return true;
  return false;
}

#endif
