/* SPDX-License-Identifier: MIT
** parity/called.c: wrong calls against values/shapes_errors.jsonl: torch.X,
** torch.Tensor.X and aten.X by their names, the parser choosing the overload.
** What PyTorch has in Python is left to the Lua library's part of the check,
** parity.calls. */
#include "parity/values_int.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Functions that hand their arguments on to the operator of their name. */
static bool hands_on (const char *name) {
  static const char *const names[] = {
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d",
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "bilinear", "celu",
    "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
    "conv_transpose2d", "conv_transpose3d", "cosine_similarity", "elu",
    "gelu", "group_norm", "hardshrink", "hardsigmoid", "hardswish",
    "hardtanh", "layer_norm", "leaky_relu", "linear", "log_softmax",
    "logsigmoid", "mish", "one_hot", "pad", "pairwise_distance", "pdist",
    "pixel_shuffle", "pixel_unshuffle", "prelu", "relu", "relu6", "rms_norm",
    "scaled_dot_product_attention", "selu", "sigmoid", "silu", "softmax",
    "softplus", "softshrink", "tanh", "threshold"
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(name, names[i]) == 0)
      return true;
  return false;
}

const DtPacket *dt_packet_of (DtParity *p, DtSession *s, const char *fn) {
  static const struct { const char *prefix, *base; } how[] = {
    { "torch.nn.functional.", "" }, { "torch.linalg.", "linalg_" },
    { "torch.Tensor.", "" }, { "torch.", "" }, { "aten.", "" },
  };
  /* operators of the name are something else, or less */
  static const char *const python[] = {
    "torch.norm", "torch.Tensor.norm", "torch.tensordot", "torch.Tensor.to",
    "torch.Tensor.type", "torch.Tensor.stride", "torch.Tensor.size",
  };
  char base[96];
  if (strcmp(fn, "attr:T") == 0 || strcmp(fn, "attr:mT") == 0)
    return dt_registry_packet(p->cx, s->registry, "aten",
                              fn[5] == 'T' ? "numpy_T" : "mT");
  for (size_t i = 0; i < sizeof python / sizeof python[0]; i++)
    if (strcmp(fn, python[i]) == 0)
      return NULL;
  for (size_t i = 0; i < sizeof how / sizeof how[0]; i++) {
    size_t n = strlen(how[i].prefix);
    if (strncmp(fn, how[i].prefix, n) != 0 || strchr(fn + n, '.') != NULL ||
        strlen(fn + n) + 16 > sizeof base)
      continue;
    if (i == 0 && !hands_on(fn + n))
      return NULL;
    (void)snprintf(base, sizeof base, "%s%s", how[i].base, fn + n);
    return dt_registry_packet(p->cx, s->registry, "aten", base);
  }
  return NULL;
}

/* Arguments from `first` on are one list. */
static json_t *pack_from (const json_t *o, size_t first) {
  const json_t *args = json_object_get(o, "args");
  json_t *line = json_copy((json_t *)(uintptr_t)o);
  json_t *list = json_array(), *both = json_array();
  for (size_t i = 0; i < json_array_size(args); i++)
    json_array_append(i < first ? both : list, json_array_get(args, i));
  json_array_append_new(both, list);
  json_object_set_new(line, "args", both);
  return line;
}

static bool all_ints (const json_t *args, size_t from) {
  for (size_t i = from; i < json_array_size(args); i++)
    if (!json_is_integer(json_array_get(args, i)))
      return false;
  return json_array_size(args) > from;
}

json_t *dt_line_packed (const json_t *o, bool ints) {
  static const struct { const char *fn; size_t first; } rest[] = {
    { "torch.einsum", 1 }, { "torch.broadcast_tensors", 0 },
    { "torch.meshgrid", 0 }, { "torch.cartesian_prod", 0 },
    { "torch.block_diag", 0 }, { "torch.chain_matmul", 0 },
  };
  const json_t *args = json_object_get(o, "args");
  const char *fn = dt_jstr(o, "fn");
  if (ints)
    return strncmp(fn, "torch.Tensor.", 13) == 0 && all_ints(args, 1)
           ? pack_from(o, 1) : NULL;
  for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++)
    if (strcmp(fn, rest[i].fn) == 0 &&
        !json_is_array(json_array_get(args, rest[i].first)))
      return pack_from(o, rest[i].first);
  return NULL;
}

/* Bound as Python binds it; the text of an error is that of the line as it
** stands. */
static DtStatus bind_packet (DtParity *p, const json_t *o,
                             const DtPacket *packet, DtJCall *c) {
  DtStatus st = dt_jcall_packet(p, o, packet, c);
  json_t *ints = st != DT_OK ? dt_line_packed(o, true) : NULL;
  if (ints == NULL)
    return st;
  dt_error_clear(p->cx);
  st = dt_jcall_packet(p, ints, packet, c);
  p->kept = ints;               /* the call borrows from it */
  if (st == DT_OK)
    return st;
  dt_error_clear(p->cx);
  return dt_jcall_packet(p, o, packet, c);
}

static bool check_called (DtParity *p, const json_t *o) {
  const char *fn = dt_jstr(o, "fn");
  const json_t *error = json_object_get(o, "error");
  const DtOpDef *op = NULL;
  DtVCall v;
  memset(&v, 0, sizeof v);
  v.s = dt_parity_session(p, 1, 0);
  if (v.s == NULL)
    return false;
  if (strncmp(fn, "aten.", 5) == 0)
    op = dt_registry_find(p->cx, v.s->registry, fn);
  const DtPacket *packet = op == NULL ? dt_packet_of(p, v.s, fn) : NULL;
  if (op == NULL && packet == NULL) {
    p->library = true;
    return dt_parity_skip(p);
  }
  v.st = op != NULL ? dt_jcall(p, o, op, &v.call)
                    : bind_packet(p, o, packet, &v.call);
  if (v.st == DT_OK && (v.call.op->flags & DT_OP_SCHEMA_ONLY) != 0) {
    p->library = true;
    return dt_parity_skip(p);
  }
  if (v.st == DT_OK)
    v.st = dt_jvars(p, v.s, &v.call, NULL, &v.vars);
  dt_vcall_run(&v);
  bool ok = error != NULL ? dt_same_error(p, error, v.st)
                          : dt_no_error(p, v.st);
  dt_vcall_fini(&v);
  return ok;
}

bool dt_check_called (DtParity *p, const json_t *o) {
  json_t *line = dt_line_packed(o, false);
  bool ok = check_called(p, line != NULL ? line : o);
  json_decref(line);
  json_decref(p->kept);
  p->kept = NULL;
  return ok;
}
