# SPDX-License-Identifier: MIT
"""torch.distributed.pipelining: stages, and schedules of their microbatches.

A model that is cut by hand.  What cuts a traced one (pipeline, SplitPoint) and
the schedules that split a backward pass in two are not part of dtrepl.
"""
from torch.distributed.pipelining.stage import PipelineStage
from torch.distributed.pipelining.schedules import (
    Schedule1F1B, ScheduleGPipe, ScheduleInterleaved1F1B,
    ScheduleInterleavedZeroBubble, ScheduleLoopedBFS, _ScheduleForwardOnly)
