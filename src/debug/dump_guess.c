/* SPDX-License-Identifier: MIT
** debug/dump_guess.c: numbers of f32 that an entry's inputs and arithmetic say.
** A file has the difference between what an elementwise operator gave and this
** guess: nothing, or the last bit where the kernel adds in another order.  An
** optimizer's step, which is six such operators on noise, packs to a tenth.
**
** Writer and reader must come to the same bits, on any machine: single
** operations of IEEE, one rounding each, no library and no kernel. */
#include <math.h>
#include <string.h>
#include "debug/dump.h"

/* An argument: elements of a block, or one number for all. */
typedef struct Operand { const float *v; float k; } Operand;

typedef float (*Guess) (const float *x);

static float g_add (const float *x) { return x[0] + x[2] * x[1]; }
static float g_sub (const float *x) { return x[0] - x[2] * x[1]; }
static float g_rsub (const float *x) { return x[1] - x[2] * x[0]; }
static float g_mul (const float *x) { return x[0] * x[1]; }
static float g_div (const float *x) { return x[0] / x[1]; }
static float g_neg (const float *x) { return -x[0]; }
static float g_sqrt (const float *x) { return sqrtf(x[0]); }
static float g_square (const float *x) { return x[0] * x[0]; }
static float g_addcmul (const float *x) { return x[0] + x[3] * x[1] * x[2]; }
static float g_addcdiv (const float *x) { return x[0] + x[3] * (x[1] / x[2]); }
static float g_lerp (const float *x) {
  float d = x[1] - x[0];
  return x[2] < 0.5f ? x[0] + x[2] * d : x[1] - d * (1 - x[2]);
}

enum { MOST_OPERANDS = 4 };

/* Packets of aten, their in-place forms too; how many arguments are read. */
static const struct { const char *packet; Guess fn; int n; } guesses[] = {
  {"add", g_add, 3}, {"sub", g_sub, 3}, {"rsub", g_rsub, 3},
  {"mul", g_mul, 2}, {"div", g_div, 2}, {"neg", g_neg, 1},
  {"sqrt", g_sqrt, 1}, {"pow", g_square, 1}, {"lerp", g_lerp, 3},
  {"addcmul", g_addcmul, 4}, {"addcdiv", g_addcdiv, 4},
};
enum { NGUESSES = sizeof guesses / sizeof *guesses };

/* "aten.add_.Tensor" -> the row of add; -1. */
static int find_guess (const char *label) {
  const char *name = label + 5;
  if (strncmp(label, "aten.", 5) != 0) return -1;
  size_t n = strcspn(name, ".");
  if (n > 0 && name[n - 1] == '_') n--;
  for (int i = 0; i < NGUESSES; i++)
    if (strlen(guesses[i].packet) == n &&
        memcmp(guesses[i].packet, name, n) == 0) return i;
  return -1;
}

/* Its n elements, if they may lie side by side: gradients of FSDP2 are views of
** one buffer.  Where they do not, what is guessed is wrong and nobody keeps it. */
static bool read_elements (const DtRecVar *in, size_t n, Operand *x) {
  size_t all = in->block->nbytes / sizeof *x->v;
  if (in->block->nbytes % sizeof *x->v != 0 || n > all || in->offset < 0 ||
      (uint64_t)in->offset > all - n) return false;
  x->v = (const float *)in->block->data + in->offset;
  return true;
}

static bool read_operand (const DtRecOp *r, const DtValue *v, size_t n,
                          Operand *x) {
  const DtRecVar *in;
  x->v = NULL;
  switch (v->kind) {
    case DT_V_INT: x->k = (float)v->u.i; return true;
    case DT_V_FLOAT: x->k = (float)v->u.f; return true;
    case DT_V_TENSOR: break;
    default: return false;
  }
  if (v->u.slot < 0 || v->u.slot >= r->nin) return false;
  in = &r->in[v->u.slot];
  if (in->none || in->block == NULL || in->meta->dtype != DT_F32) return false;
  if (read_elements(in, n, x)) return true;
  if (in->block->nbytes != sizeof x->k) return false;
  memcpy(&x->k, in->block->data, sizeof x->k);
  return true;
}

bool dt_dump_guess (const DtRecOp *r, float *out, size_t n) {
  int g = find_guess(r->label);
  Operand x[MOST_OPERANDS];
  float one[MOST_OPERANDS];
  if (g < 0 || guesses[g].n > r->args.n) return false;
  for (int k = 0; k < guesses[g].n; k++)
    if (!read_operand(r, &r->args.v[k], n, &x[k])) return false;
  for (size_t i = 0; i < n; i++) {
    for (int k = 0; k < guesses[g].n; k++) one[k] = x[k].v ? x[k].v[i] : x[k].k;
    out[i] = guesses[g].fn(one);
    if (isnan(out[i])) out[i] = 0;      /* which NaN differs by machine */
  }
  return true;
}
