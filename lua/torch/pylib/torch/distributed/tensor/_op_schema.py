# SPDX-License-Identifier: MIT
"""torch.distributed.tensor._op_schema: what sharding rules are written in: an
operator with the layouts of its arguments, and the choices a rule has."""
from torch.distributed.tensor import DTensorSpec, DeviceMesh
from torch.distributed.tensor.placement_types import TensorMeta


class OpSpec:
    """One choice: layouts of the results and those it needs of the inputs."""

    def __init__(self, output_specs, input_specs=None, redistribute_cost=None):
        self.output_specs, self.input_specs = output_specs, input_specs
        self.redistribute_cost = redistribute_cost

    @property
    def output_spec(self):
        if isinstance(self.output_specs, DTensorSpec):
            return self.output_specs
        raise ValueError("function output_spec expects a single DTensorSpec "
                         "but got: %s" % (self.output_specs,))

    @property
    def mesh(self):
        if isinstance(self.output_specs, DTensorSpec):
            return self.output_specs.mesh
        for spec in self.output_specs or ():
            if spec is not None:
                return spec.mesh
        raise ValueError("function output_spec expects a single DTensorSpec "
                         "or a tuple of DTensorSpec but got: %s"
                         % (self.output_specs,))

    def input_spec(self, index=0):
        if self.input_specs is None:
            raise AssertionError("input_specs of OpSpec is None!")
        if len(self.input_specs) <= index:
            raise AssertionError("Invalid index %d for input_specs of length "
                                 "%d" % (index, len(self.input_specs)))
        return self.input_specs[index]

    def _key(self):
        return (self.output_specs, self.input_specs)

    def __eq__(self, other):
        return isinstance(other, OpSpec) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())


PlacementStrategy = OpSpec      # as releases before 2.8 call it


class StrategyType:
    """The choices of an operator."""


class OpStrategy(StrategyType):
    def __init__(self, strategies):
        self.strategies = strategies

    def max_num_shards(self):
        return max([s.output_spec.num_shards for s in self.strategies])

    @property
    def mesh(self):
        return self.strategies[0].mesh

    @property
    def mesh_shape(self):
        return self.strategies[0].mesh.shape

    @property
    def ndim(self):
        return self.strategies[0].output_spec.ndim

    @property
    def shape(self):
        return self.strategies[0].output_spec.shape

    @property
    def tensor_meta(self):
        return self.strategies[0].output_spec.tensor_meta

    def __eq__(self, other):
        return isinstance(other, OpStrategy) \
            and self.strategies == other.strategies

    def __hash__(self):
        return hash(tuple(self.strategies))


class TupleStrategy(StrategyType):
    """Choices of a list of tensors, each for itself."""

    def __init__(self, children):
        self.children = self.childs = children

    def child_mesh(self, index):
        return self.children[index].mesh


class RuntimeSchemaInfo:
    def __init__(self, static_argnum=100, static_kwargkey=None,
                 needs_pytree=False):
        self.static_argnum = static_argnum
        self.static_kwargkey = static_kwargkey
        self.needs_pytree = needs_pytree


def _flat(values):
    out = []
    for v in values:
        out.extend(_flat(v) if isinstance(v, (list, tuple)) else [v])
    return out


class OpSchema:
    """An operator and its arguments: tensors as DTensorSpec or OpStrategy,
    all else as it is given."""

    def __init__(self, op, args_schema, kwargs_schema, schema_info=None):
        self.op, self.args_schema = op, args_schema
        self.kwargs_schema, self.schema_info = kwargs_schema, schema_info

    def _of(self, kind, values):
        return tuple([v for v in _flat(values) if isinstance(v, kind)])

    @property
    def args_spec(self):
        return self._of(DTensorSpec, self.args_schema)

    @property
    def args_strategy(self):
        return self._of(OpStrategy, self.args_schema)

    @property
    def kwargs_strategy(self):
        return self._of(OpStrategy, self.kwargs_schema.values())

    @property
    def args_meta(self):
        return tuple([getattr(v, "tensor_meta", v) for v in self.args_schema])

    def _name(self):
        name = str(self.op)
        parts = name.split(".")
        return parts[0] if len(parts) < 2 else parts[-2]

    def is_inplace_op(self):
        """add_.Tensor, not add.Tensor."""
        name = self._name()
        return name.endswith("_") and not name.endswith("__")

    def is_out_variant_op(self):
        return "out" in self.kwargs_schema

    def get_mesh_from_args(self, validate=True):
        first = self.args_schema[0]
        if isinstance(first, (list, tuple)):
            first = first[0]
        if isinstance(first, TupleStrategy):
            first = first.children[0]
        if not isinstance(first, (DTensorSpec, OpStrategy)):
            raise ValueError("Cannot find device mesh from args for op : %s."
                             % self.op)
        if validate:
            for spec in self.args_spec[1:]:
                if spec.mesh != first.mesh:
                    raise RuntimeError(
                        "DTensor does not support cross-mesh operation on %s! "
                        "Got meshes: %s %s. Please make sure all the "
                        "arguments have the same DeviceMesh."
                        % (self.op, first.mesh, spec.mesh))
        return first.mesh

    @staticmethod
    def _is_layout(arg):
        items = arg if isinstance(arg, list) else [arg]
        return all([isinstance(v, (DTensorSpec, OpStrategy, TupleStrategy))
                    or v is None and items is arg for v in items])

    def _key(self):
        """What counts of a call: layouts, and of the rest what schema_info
        calls static."""
        info = self.schema_info
        begin = len(self.args_schema) if info is None else info.static_argnum
        args = tuple([tuple(v) if isinstance(v, list) else v
                      for i, v in enumerate(self.args_schema)
                      if i >= begin or self._is_layout(v)])
        names = info.static_kwargkey if info is not None else None
        if names is None:
            return (self.op, args)
        return (self.op, args,
                tuple([self.kwargs_schema.get(k) for k in names]))

    def __eq__(self, other):
        return isinstance(other, OpSchema) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        args = ", ".join([str(a) for a in self.args_schema])
        return "OpSchema(op=%s, args_schema=(%s), kwargs_schema=%s)" % (
            self.op, args, self.kwargs_schema)


class OutputSharding:
    """What a rule says: the layout of the result, or the layouts that the
    arguments are to be brought to first."""

    def __init__(self, output_spec, redistribute_schema=None,
                 needs_redistribute=False, use_val_from_redistribute_schema=False):
        self.output_spec = output_spec
        self.redistribute_schema = redistribute_schema
        self.needs_redistribute = needs_redistribute
        self.use_val_from_redistribute_schema = \
            use_val_from_redistribute_schema

    @property
    def mesh(self):
        spec = self.output_spec
        return spec.mesh if isinstance(spec, DTensorSpec) else spec[0].mesh
