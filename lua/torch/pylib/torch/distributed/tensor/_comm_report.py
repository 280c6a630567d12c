# SPDX-License-Identifier: MIT
"""What CommDebugMode writes out of what it counted: a table and a JSON file,
both with as much as the noise level asks for:

0  modules and their collectives
1  their classes and parameters, and operators on DTensors
2  operators on plain tensors, too
3  those that only look at a tensor otherwise, too"""
import json
import re

_VIEWS = ("aten.detach.default", "aten.t.default", "aten.view.default",
          "aten._to_copy.default", "aten.as_strided.default",
          "aten.transpose.int")
_YELLOW, _RED, _PLAIN = "\033[1;33m", "\033[1;31m", "\033[0m"


def _is_shown(operation, noise_level):
    if noise_level >= 3:
        return True
    if noise_level < 1 or operation["name"] in _VIEWS:
        return False
    return noise_level >= 2 or len(operation["input_shape"]) > 0


def _operations(mode, fqn):
    """The operators of a module by phase: forward, backward, recomputed."""
    phases = {"forward": [], "backward": [], "checkpointing": []}
    held = mode.comm_module_operation_counts.get(fqn, {})
    for operation in held.get("operations_list", ()):
        if not operation["is_bw"]:
            phases["forward"].append(operation)
        elif not operation["is_activation_checkpointing"]:
            phases["backward"].append(operation)
        if operation["is_activation_checkpointing"]:
            phases["checkpointing"].append(operation)
    return phases


def _operation_lines(operation, indent):
    yield f"{_YELLOW}{indent}**{operation['name']}{_PLAIN}"
    if operation["input_shape"]:
        for label, key in (("shape", "input_shape"),
                           ("sharding", "input_sharding"),
                           ("device mesh", "device_mesh")):
            yield f"{_RED}{indent}  {label}: {operation[key]}{_PLAIN}"


def _module_lines(mode, fqn, noise_level):
    facts = mode.advanced_module_tracker.module_helper_dict[fqn]
    indent = "    " * facts["depth"]
    yield indent + fqn
    if noise_level > 0 and "module_type" in facts:
        yield f"{indent}*module type: {facts['module_type']}"
    if noise_level > 0 and "parameters" in facts:
        yield f"{indent}*Parameter List"
        for name, placements in facts["parameters"].items():
            yield f"{indent} *{name}: {placements}"
    counts = mode.comm_module_counts.get(fqn, {})
    operations = _operations(mode, fqn)
    for phase, title in (("forward", "FORWARD PASS"),
                         ("backward", "BACKWARD PASS"),
                         ("checkpointing", "ACTIVATION CHECKPOINTING")):
        collectives = counts.get(phase, {})
        held = operations[phase] if noise_level > 0 else []
        if not collectives and not held:
            continue
        yield f"{indent}  {title}"
        for collective, count in collectives.items():
            yield f"{_YELLOW}{indent}    *{collective}: {count}{_PLAIN}"
        for operation in held:
            if _is_shown(operation, noise_level):
                yield from _operation_lines(operation, indent + "    ")


def generate_comm_debug_tracing_table(mode, noise_level=3):
    modules = mode.advanced_module_tracker.module_helper_dict
    return "".join(line + "\n" for fqn in modules
                   for line in _module_lines(mode, fqn, noise_level))


def log_comm_debug_tracing_table_to_file(mode, file_name="comm_mode_log.txt",
                                         noise_level=3):
    table = generate_comm_debug_tracing_table(mode, noise_level)
    with open(file_name, "w") as file:
        file.write(re.sub(r"\033\[[0-9;]*m", "", table))


def _described(operation):
    return dict(operation,
                input_shape=[str(s) for s in operation["input_shape"]],
                input_sharding=[str(p) for p in operation["input_sharding"]])


def _module_tree(mode, fqn, noise_level):
    tracker = mode.advanced_module_tracker
    facts = tracker.module_helper_dict[fqn] if noise_level > 0 else {}
    counts = mode.comm_module_counts.get(fqn, {})
    tree = {"fqn": fqn, "module_type": facts.get("module_type", ""),
            "parameters": list(facts.get("parameters", {}).items()),
            "children": []}
    for phase in ("forward", "backward"):
        tree["collectives_" + phase] = [
            (str(op), n) for op, n in counts.get(phase, {}).items()]
    for phase, held in _operations(mode, fqn).items():
        tree["operations_" + phase] = [
            _described(op) for op in held if _is_shown(op, noise_level)]
    for child in tracker.parent_dict.get(fqn, ()):
        tree["children"].append(_module_tree(mode, child, noise_level))
    return tree


def generate_json_dump(mode, file_name="comm_mode_log.json", noise_level=3):
    with open(file_name, "w") as file:
        json.dump(_module_tree(mode, "Global", noise_level), file, indent=4)
