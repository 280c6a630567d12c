# SPDX-License-Identifier: MIT
# What a checkpoint says of itself is made of the classes a program asks for.
import dataclasses
import tempfile
import torch
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint import FileSystemReader
from torch.distributed.checkpoint.metadata import (
    BytesStorageMetadata, ChunkStorageMetadata, Metadata, MetadataIndex,
    TensorProperties, TensorStorageMetadata)

with tempfile.TemporaryDirectory() as d:
    dcp.save({"w": torch.ones(4), "n": 3,
              "a": {"b": torch.zeros(2, 3, dtype=torch.int64)}}, checkpoint_id=d)
    md = FileSystemReader(d).read_metadata()
    found = md.state_dict_metadata
    print(type(md), isinstance(md, Metadata), md.version)
    print(isinstance(found["w"], TensorStorageMetadata),
          isinstance(found["n"], BytesStorageMetadata), found["n"])
    w = found["w"]
    print(isinstance(w.chunks[0], ChunkStorageMetadata), w.chunks,
          isinstance(w.properties, TensorProperties), w.size)
    print([f.name for f in dataclasses.fields(md)], w == dataclasses.replace(w))
    print(md.storage_data[MetadataIndex("a.b", [0, 0])].relative_path,
          MetadataIndex("w", torch.Size([0])) in md.storage_data,
          sorted(i.fqn for i in md.storage_data))
    print(found["a.b"].properties.dtype, md.planner_data)
