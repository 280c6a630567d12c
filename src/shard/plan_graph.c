/* SPDX-License-Identifier: MIT
** shard/plan_graph.c: the planner that searches: Dijkstra over states.
**
** A state is the placement of every mesh dim and the order in which mesh dims
** cut each tensor dim.  Placements are small numbers (an alphabet made for
** the request), the order is each mesh dim's position in its tensor dim's
** list, so a state is 32 bytes.  Ties are broken by age, and the moves of a
** state are generated in PyTorch's order, because both decide which of
** several equally cheap plans comes out.  The sets of allowed targets belong
** to one request: PyTorch lets them grow from call to call, which makes its
** plans depend on history; that is deliberately not done here.
** Facts: _redistribute.py, PyTorch 2.13. */
#include <string.h>
#include "base/error_shard.h"
#include "base/hash.h"
#include "mesh/layout.h"
#include "shard/plan_int.h"

enum { MAX_ALPHA = 1 + DT_MAX_NDIM + DT_NREDOPS + 2 * DT_MAX_MDIM,
       MAX_NODES = 1 << 22, MAX_TDIM = 128 };

typedef struct State {
  int8_t code[DT_MAX_MDIM];     /* index into the alphabet */
  int8_t pos[DT_MAX_MDIM];      /* in the tensor dim's order, or -1 */
} State;

typedef struct Node {
  double cost;
  int32_t state, parent;
} Node;

typedef struct Search {
  DtCtx *cx;
  const DtMesh *mesh;
  const DtMeta *meta;
  DtLinks links;
  int npl;
  DtPlacement alpha[MAX_ALPHA];
  int nalpha;
  int op_code[DT_NREDOPS], nops;        /* P(op) that R may become */
  int strided[DT_MAX_MDIM], nstrided;   /* _S that R may become */
  State goal;
  bool to_sum;                          /* S may become the goal's P(sum) */
  State *states;
  bool *visited;
  int32_t nstates, cap_states;
  int32_t *index, nindex;               /* open addressing, -1 empty */
  Node *nodes;
  int32_t nnodes, cap_nodes;
  int32_t *heap, nheap;                 /* as large as nodes */
} Search;

/* {==== States ==== */

static int alpha_find (Search *s, DtPlacement p) {
  for (int i = 0; i < s->nalpha; i++)
    if (dt_pl_equal(s->alpha[i], p))
      return i;
  s->alpha[s->nalpha] = p;
  return s->nalpha++;
}

static uint64_t state_hash (const State *st) {
  return dt_hash_bytes(DT_HASH_SEED, st, sizeof *st);
}

static DtStatus grow_index (Search *s) {
  int32_t n = s->nindex == 0 ? 256 : 2 * s->nindex;
  int32_t *index = dt_realloc(s->cx, s->index, (size_t)n * sizeof *index);
  if (index == NULL)
    return DT_E_NOMEM;
  s->index = index;
  s->nindex = n;
  for (int32_t i = 0; i < n; i++)
    index[i] = -1;
  for (int32_t k = 0; k < s->nstates; k++) {
    uint64_t h = state_hash(&s->states[k]);
    while (index[h & (uint64_t)(n - 1)] >= 0)
      h++;
    index[h & (uint64_t)(n - 1)] = k;
  }
  return DT_OK;
}

static DtStatus grow_states (Search *s) {
  int32_t cap = s->cap_states == 0 ? 128 : 2 * s->cap_states;
  State *a = dt_realloc(s->cx, s->states, (size_t)cap * sizeof *a);
  if (a == NULL)
    return DT_E_NOMEM;
  s->states = a;
  bool *v = dt_realloc(s->cx, s->visited, (size_t)cap * sizeof *v);
  if (v == NULL)
    return DT_E_NOMEM;
  s->visited = v;
  s->cap_states = cap;
  return DT_OK;
}

/* The number of a state, new ones added. */
static DtStatus state_find (Search *s, const State *st, int32_t *out) {
  uint64_t h = state_hash(st);
  if (2 * (s->nstates + 1) > s->nindex)
    DT_TRY(s->cx, grow_index(s));
  uint64_t mask = (uint64_t)(s->nindex - 1);
  for (; s->index[h & mask] >= 0; h++)
    if (memcmp(&s->states[s->index[h & mask]], st, sizeof *st) == 0) {
      *out = s->index[h & mask];
      return DT_OK;
    }
  if (s->nstates == s->cap_states)
    DT_TRY(s->cx, grow_states(s));
  s->states[s->nstates] = *st;
  s->visited[s->nstates] = false;
  s->index[h & mask] = s->nstates;
  *out = s->nstates++;
  return DT_OK;
}

static void state_make (Search *s, const DtPlacement *pl,
                        const DtShardOrder *o, State *out) {
  memset(out, 0, sizeof *out);
  memset(out->pos, -1, sizeof out->pos);
  for (int m = 0; m < s->npl; m++)
    out->code[m] = (int8_t)alpha_find(s, pl[m]);
  for (int i = 0; i < o->n; i++)
    for (int k = 0; k < o->e[i].n; k++)
      out->pos[o->e[i].mdims[k]] = (int8_t)k;
}

/* The order a state stands for. */
static void state_order (const Search *s, const State *st, DtShardOrder *o) {
  DtPlacement pl[DT_MAX_MDIM];
  for (int m = 0; m < s->npl; m++)
    pl[m] = s->alpha[st->code[m]];
  dt_order_default(pl, s->npl, o);
  for (int i = 0; i < o->n; i++) {
    DtShardOrderEntry e = o->e[i];
    for (int k = 0; k < e.n; k++)
      if (st->pos[e.mdims[k]] >= 0)
        o->e[i].mdims[st->pos[e.mdims[k]]] = e.mdims[k];
  }
}

static void state_print (const Search *s, const State *st, DtBuf *b) {
  DtPlacement pl[DT_MAX_MDIM];
  DtShardOrder o;
  for (int m = 0; m < s->npl; m++)
    pl[m] = s->alpha[st->code[m]];
  state_order(s, st, &o);
  dt_order_print(pl, s->npl, &o, b);
}

/* }==== Heap: cheapest first, then oldest ==== */

static bool is_before (const Search *s, int32_t a, int32_t b) {
  double x = s->nodes[a].cost, y = s->nodes[b].cost;
  return x < y || (!(x > y) && a < b);
}

static DtStatus push_node (Search *s, double cost, int32_t state,
                           int32_t parent) {
  DT_CHECK(s->cx, s->nnodes < MAX_NODES, DT_E_LIMIT,
           "the search for a redistribution plan became too large (%d steps "
           "looked at)", MAX_NODES);
  if (s->nnodes == s->cap_nodes) {
    int32_t cap = s->cap_nodes == 0 ? 256 : 2 * s->cap_nodes;
    Node *n = dt_realloc(s->cx, s->nodes, (size_t)cap * sizeof *n);
    if (n == NULL)
      return DT_E_NOMEM;
    s->nodes = n;
    int32_t *h = dt_realloc(s->cx, s->heap, (size_t)cap * sizeof *h);
    if (h == NULL)
      return DT_E_NOMEM;
    s->heap = h;
    s->cap_nodes = cap;
  }
  int32_t id = s->nnodes++, i = s->nheap++;
  s->nodes[id].cost = cost;
  s->nodes[id].state = state;
  s->nodes[id].parent = parent;
  for (; i > 0 && is_before(s, id, s->heap[(i - 1) / 2]); i = (i - 1) / 2)
    s->heap[i] = s->heap[(i - 1) / 2];
  s->heap[i] = id;
  return DT_OK;
}

static int32_t pop_node (Search *s) {
  int32_t top = s->heap[0], last = s->heap[--s->nheap], i = 0;
  for (;;) {
    int32_t c = 2 * i + 1;
    if (c >= s->nheap)
      break;
    if (c + 1 < s->nheap && is_before(s, s->heap[c + 1], s->heap[c]))
      c++;
    if (is_before(s, last, s->heap[c]))
      break;
    s->heap[i] = s->heap[c];
    i = c;
  }
  s->heap[i] = last;
  return top;
}

/* }==== Moves ==== */

/* What is looked up again and again while one state is expanded. */
typedef struct Expand {
  Search *s;
  int32_t node;
  State from;
  double gb;
  int8_t count[MAX_TDIM], last[MAX_TDIM];   /* per tensor dim */
  int ntdim;
} Expand;

/* Mesh dim m becomes alphabet entry `code`; a shard goes to the end of its
** tensor dim's order. */
static DtStatus move_to (Expand *x, int m, int code) {
  Search *s = x->s;
  State to = x->from;
  double gb = x->gb;
  int32_t id = 0;
  DtPlacement src = s->alpha[to.code[m]], dst = s->alpha[code];
  to.code[m] = (int8_t)code;
  to.pos[m] = -1;
  if (dt_pl_is_shard_like(dst))
    to.pos[m] = x->count[dst.dim];
  DT_TRY(s->cx, state_find(s, &to, &id));
  if (s->visited[id])
    return DT_OK;
  double cost = dt_cost_move(&s->links, s->mesh, m, src, dst, &gb);
  return push_node(s, s->nodes[x->node].cost + cost, id, x->node);
}

/* What the neighbours of a state need: the last shard of each tensor dim,
** which is the one that may be moved, and how large a part is, for the cost. */
static void expand_init (Expand *x, Search *s, int32_t node) {
  int64_t shards = 1;
  x->s = s;
  x->node = node;
  x->from = s->states[s->nodes[node].state];
  x->ntdim = s->meta->ndim;
  memset(x->count, 0, sizeof x->count);
  for (int m = 0; m < s->npl; m++) {
    DtPlacement p = s->alpha[x->from.code[m]];
    if (!dt_pl_is_shard_like(p))
      continue;
    shards *= s->mesh->shape[m];
    if (x->from.pos[m] + 1 > x->count[p.dim]) {
      x->count[p.dim] = (int8_t)(x->from.pos[m] + 1);
      x->last[p.dim] = (int8_t)m;
    }
    if (p.dim >= x->ntdim)
      x->ntdim = p.dim + 1;
  }
  x->gb = (double)dt_meta_nbytes(s->meta) / (double)shards
          / 1024 / 1024 / 1024;
}

static DtPlacement placement_at (const Expand *x, int m) {
  return x->s->alpha[x->from.code[m]];
}

/* The last mesh dim of a tensor dim, if it has that kind of shard. */
static bool last_is (const Expand *x, int d, DtPlKind kind) {
  return x->count[d] > 0 && placement_at(x, x->last[d]).kind == kind;
}

static DtStatus moves_from_shards (Expand *x) {
  Search *s = x->s;
  for (int d = 0; d < x->ntdim; d++)
    for (int b = 0; last_is(x, d, DT_PL_SHARD) && b < s->meta->ndim; b++)
      if (b != d)
        DT_TRY(s->cx, move_to(x, x->last[d], 1 + b));
  for (int d = 0; d < x->ntdim; d++)
    if (last_is(x, d, DT_PL_SHARD))
      DT_TRY(s->cx, move_to(x, x->last[d], 0));
  return DT_OK;
}

static DtStatus moves_to_shard (Expand *x, bool partial) {
  Search *s = x->s;
  for (int m = 0; m < s->npl; m++)
    if (partial ? dt_pl_is_partial(placement_at(x, m))
                : dt_pl_is_replicate(placement_at(x, m)))
      for (int b = 0; b < s->meta->ndim; b++)
        DT_TRY(s->cx, move_to(x, m, 1 + b));
  return DT_OK;
}

static bool mixes_partials (const Expand *x, int m, unsigned op) {
  unsigned seen = 1u << op;
  for (int i = 0; i < x->s->npl; i++)
    if (i != m && dt_pl_is_partial(placement_at(x, i)))
      seen |= 1u << placement_at(x, i).op;
  return (seen & (seen - 1)) != 0 &&
         seen != (1u << DT_OP_SUM | 1u << DT_OP_AVG);
}

static DtStatus moves_to_partial (Expand *x) {
  Search *s = x->s;
  for (int m = 0; m < s->npl; m++)
    for (int k = 0; dt_pl_is_replicate(placement_at(x, m)) && k < s->nops; k++)
      if (!mixes_partials(x, m, s->alpha[s->op_code[k]].op))
        DT_TRY(s->cx, move_to(x, m, s->op_code[k]));
  return DT_OK;
}

/* The last mesh dim of a tensor dim becomes the sum that the goal has there:
** zeros around the shard, nothing is sent. */
static DtStatus moves_to_sum (Expand *x) {
  Search *s = x->s;
  DtPlacement sum = dt_pl_partial(DT_OP_SUM);
  for (int d = 0; s->to_sum && d < x->ntdim; d++) {
    State to = x->from;
    int32_t id = 0;
    int m = x->last[d];
    if (!last_is(x, d, DT_PL_SHARD) ||
        !dt_pl_equal(s->alpha[s->goal.code[m]], sum))
      continue;
    to.code[m] = s->goal.code[m];
    to.pos[m] = -1;
    DT_TRY(s->cx, state_find(s, &to, &id));
    if (!s->visited[id])
      DT_TRY(s->cx, push_node(s, s->nodes[x->node].cost, id, x->node));
  }
  return DT_OK;
}

static DtStatus expand_node (Search *s, int32_t node) {
  Expand x;
  expand_init(&x, s, node);
  DT_TRY(s->cx, moves_from_shards(&x));
  for (int m = 0; m < s->npl; m++)
    if (dt_pl_is_partial(placement_at(&x, m)))
      DT_TRY(s->cx, move_to(&x, m, 0));
  DT_TRY(s->cx, moves_to_shard(&x, false));
  DT_TRY(s->cx, moves_to_shard(&x, true));
  DT_TRY(s->cx, moves_to_partial(&x));
  for (int d = 0; d < x.ntdim; d++)
    if (last_is(&x, d, DT_PL_STRIDED))
      DT_TRY(s->cx, move_to(&x, x.last[d], 0));
  for (int m = 0; m < s->npl; m++)
    for (int k = 0; dt_pl_is_replicate(placement_at(&x, m)) &&
         k < s->nstrided; k++)
      DT_TRY(s->cx, move_to(&x, m, s->strided[k]));
  return moves_to_sum(&x);
}

/* }==== Search ==== */

static DtStatus no_path (Search *s, int32_t src, int32_t dst) {
  DtBuf a, b;
  dt_buf_init(&a, s->cx);
  dt_buf_init(&b, s->cx);
  state_print(s, &s->states[src], &a);
  state_print(s, &s->states[dst], &b);
  DtStatus st = dt_raise(s->cx, DT_E_NOPLAN, "No path found from src_state %s "
                         "to dst_state %s", dt_buf_str(&a), dt_buf_str(&b));
  dt_buf_fini(&a);
  dt_buf_fini(&b);
  return st;
}

static DtStatus search_goal (Search *s, int32_t src, int32_t dst,
                             int32_t *goal) {
  DT_TRY(s->cx, push_node(s, 0.0, src, -1));
  for (int32_t n = 0; s->nheap > 0; n++) {
    int32_t node = pop_node(s), state = s->nodes[node].state;
    if (n % 1024 == 1023)
      DT_TRY(s->cx, dt_ctx_poll(s->cx));
    if (state == dst) {
      *goal = node;
      return DT_OK;
    }
    if (s->visited[state])
      continue;
    s->visited[state] = true;
    DT_TRY(s->cx, expand_node(s, node));
  }
  return no_path(s, src, dst);
}

/* The tensor as mesh dim `mdim` sees it: cut by all others in their order. */
static void logical_shape (const Search *s, const State *st, int mdim,
                           int64_t *shape) {
  DtShardOrder o;
  int64_t len, off;
  state_order(s, st, &o);
  for (int d = 0; d < s->meta->ndim; d++)
    shape[d] = s->meta->shape[d];
  for (int i = 0; i < o.n; i++)
    for (int k = 0; k < o.e[i].n; k++) {
      int m = o.e[i].mdims[k], d = o.e[i].tdim;
      DtPlacement p = s->alpha[st->code[m]];
      if (m == mdim || d >= s->meta->ndim)
        continue;
      if (p.kind == DT_PL_STRIDED)
        dt_strided_size(shape[d], p.u.sf, s->mesh->shape[m],
                        s->mesh->coord[m], &len, &off);
      else
        dt_shard_size(shape[d], s->mesh->shape[m], s->mesh->coord[m], &len,
                      &off);
      shape[d] = len;
    }
}

/* The path from the goal back to the source, as steps in order; neighbours
** differ in one mesh dim. */
static DtStatus make_steps (Search *s, int32_t goal, DtPlan *plan) {
  int n = 0;
  for (int32_t i = goal; s->nodes[i].parent >= 0; i = s->nodes[i].parent)
    n++;
  DtStep *steps = DT_NEWN(s->cx, DtStep, n);
  if (steps == NULL)
    return DT_E_NOMEM;
  int32_t i = goal;
  for (int k = n - 1; k >= 0; k--, i = s->nodes[i].parent) {
    const State *to = &s->states[s->nodes[i].state];
    const State *from = &s->states[s->nodes[s->nodes[i].parent].state];
    int m = 0;
    while (m + 1 < s->npl && from->code[m] == to->code[m])
      m++;
    steps[k].mdim = m;
    steps[k].src = s->alpha[from->code[m]];
    steps[k].dst = s->alpha[to->code[m]];
    steps[k].ndim = s->meta->ndim;
    steps[k].scale = 1.0;
    logical_shape(s, from, m, steps[k].lshape);
  }
  plan->steps = steps;
  plan->nsteps = n;
  return DT_OK;
}

/* Placements and order a spec means; false when not decodable. */
static bool normalize_spec (const DtSpec *spec, DtPlacement *pl,
                            DtShardOrder *order) {
  if (spec->strided_is_order)
    return dt_strided_to_order(spec->mesh, spec->npl, spec->pl, pl, order);
  for (int m = 0; m < spec->npl; m++)
    pl[m] = spec->pl[m];
  dt_spec_order(spec, order);
  return true;
}

/* R, every S(d), and what the request mentions. */
static void make_alphabet (Search *s, const DtPlacement *a,
                           const DtPlacement *b) {
  unsigned seen = 0;
  (void)alpha_find(s, dt_pl_replicate());
  for (int d = 0; d < s->meta->ndim; d++)
    (void)alpha_find(s, dt_pl_shard(d));
  for (int i = 0; i < 2 * s->npl; i++) {
    DtPlacement p = i < s->npl ? a[i] : b[i - s->npl];
    if (dt_pl_is_partial(p) && (seen >> p.op & 1u) == 0) {
      seen |= 1u << p.op;
      s->op_code[s->nops++] = alpha_find(s, dt_pl_partial((DtRedOp)p.op));
    }
  }
  for (int m = 0; m < s->npl; m++) {
    int n = s->nalpha;
    int code = b[m].kind == DT_PL_STRIDED ? alpha_find(s, b[m]) : -1;
    if (code == n)
      s->strided[s->nstrided++] = code;
  }
}

DtStatus dt_plan_graph (DtCtx *cx, const DtTopo *t, DtPlan *plan, bool to_sum,
                        bool *decoded) {
  DtPlacement a[DT_MAX_MDIM], b[DT_MAX_MDIM];
  DtShardOrder oa, ob;
  State from, to;
  Search s;
  DtStatus st = DT_OK;
  int32_t src = 0, dst = 0, goal = 0;
  *decoded = normalize_spec(plan->src, a, &oa) &&
             normalize_spec(plan->dst, b, &ob);
  if (!*decoded)
    return DT_OK;
  DT_CHECK(cx, plan->src->npl == plan->dst->npl &&
           plan->src->npl <= plan->src->mesh->ndim, DT_E_INDEX,
           "tuple index out of range");
  memset(&s, 0, sizeof s);
  s.cx = cx;
  s.mesh = plan->src->mesh;
  s.meta = &plan->src->meta;
  s.npl = plan->src->npl;
  dt_links_make(t, s.mesh, &s.links);
  make_alphabet(&s, a, b);
  state_make(&s, a, &oa, &from);
  state_make(&s, b, &ob, &to);
  s.goal = to;
  s.to_sum = to_sum;
  DT_TRYG(cx, state_find(&s, &from, &src));
  DT_TRYG(cx, state_find(&s, &to, &dst));
  DT_TRYG(cx, search_goal(&s, src, dst, &goal));
  DT_TRYG(cx, make_steps(&s, goal, plan));
done:
  dt_free(cx, s.states);
  dt_free(cx, s.visited);
  dt_free(cx, s.index);
  dt_free(cx, s.nodes);
  dt_free(cx, s.heap);
  return st;
}

/* }==== */
