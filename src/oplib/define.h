/* SPDX-License-Identifier: MIT
** oplib/define.h: MD writes a definition whose fields are its own but for the
** four that all have: schema, brief, flags and samples, in this order. */
#ifndef DT_OPLIB_DEFINE_H
#define DT_OPLIB_DEFINE_H

#define MD(id, schema_, brief_, flags_, samples_, ...) \
  static const char *const id##_samples[] = { samples_, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = flags_, \
    .samples = id##_samples, __VA_ARGS__ }

#endif
