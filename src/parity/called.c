/* SPDX-License-Identifier: MIT
** parity/called.c: wrong calls against values/shapes_errors.jsonl: torch.X,
** torch.Tensor.X and aten.X by their names, the parser choosing the overload.
** What is called through a library function is that library's to check. */
#include "parity/values_int.h"

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
  char base[96];
  if (strcmp(fn, "attr:T") == 0 || strcmp(fn, "attr:mT") == 0)
    return dt_registry_packet(p->cx, s->registry, "aten",
                              fn[5] == 'T' ? "numpy_T" : "mT");
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

bool dt_check_called (DtParity *p, const json_t *o) {
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
    if (strncmp(fn, "torch.nn", 8) != 0 && strncmp(fn, "py", 2) != 0)
      p->unknown = fn;
    return dt_parity_skip(p);
  }
  v.st = op != NULL ? dt_jcall(p, o, op, &v.call)
                    : dt_jcall_packet(p, o, packet, &v.call);
  if (v.st == DT_OK)
    v.st = dt_jvars(p, v.s, &v.call, NULL, &v.vars);
  dt_vcall_run(&v);
  bool ok = error != NULL ? dt_same_error(p, error, v.st)
                          : dt_no_error(p, v.st);
  dt_vcall_fini(&v);
  return ok;
}
