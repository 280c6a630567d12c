-- SPDX-License-Identifier: MIT
-- dt/diagnose/threads.lua: public threads in which a class was met, as
-- owner/repository#number (issue or pull request).

return {
  ["mixed-tensor-dtensor"] = "huggingface/accelerate#3565 meta-pytorch/torchtune#2856 "
    .. "intel/torch-xpu-ops#1555 pytorch/pytorch#153354 "
    .. "pytorch/pytorch#152717 pytorch/pytorch#115297",
  ["mixed-load-state-dict"] = "pytorch/pytorch#136336 pytorch/pytorch#129635 "
    .. "axolotl-ai-cloud/axolotl#3294 JIA-Lab-research/Seg-Zero#105 "
    .. "THUDM/slime#656 NVIDIA/Megatron-LM#6785",
  ["mixed-fsdp2-non-forward-entry"] = "pytorch/pytorch#156535 huggingface/trl#4550 "
    .. "pytorch/pytorch#109385 pytorch/pytorch#125394 "
    .. "meta-pytorch/torchtune#2856",
  ["missing-sharding-strategy"] = "pytorch/pytorch#147724 pytorch/pytorch#152249 "
    .. "pytorch/pytorch#147578 pytorch/pytorch#136946 "
    .. "pytorch/pytorch#167917 pytorch/torchtitan#3645",
  ["optimizer-cross-mesh"] = "pytorch/pytorch#134212 pytorch/pytorch#153268 "
    .. "areal-project/AReaL#454 pytorch/pytorch#149396 "
    .. "intel/torch-xpu-ops#1987 pytorch/pytorch#157682",
  ["clip-grad-cross-mesh"] = "pytorch/torchtitan#1325 pytorch/pytorch#180346 "
    .. "pytorch/pytorch#180501 meta-pytorch/torchtune#2420 "
    .. "pytorch/torchtitan#596 NVIDIA/Megatron-LM#6489",
  ["view-flatten-sharded-dim"] = "pytorch/pytorch#172102 intel/torch-xpu-ops#1881 "
    .. "pytorch/pytorch#149764 pytorch/pytorch#165600 "
    .. "pytorch/pytorch#166483 pytorch/torchtitan#3622",
  ["view-unflatten-uneven"] = "pytorch/pytorch#161950 pytorch/pytorch#186282 "
    .. "pytorch/pytorch#161578 pytorch/pytorch#135054 "
    .. "pytorch/torchtitan#3622",
  ["tp-heads-not-divisible"] = "huggingface/transformers#48307 huggingface/transformers#48306 "
    .. "pytorch/torchtitan#932 pytorch/torchtitan#2574 "
    .. "pytorch/torchtitan#2577 THU-KEG/AdaptThink#1",
  ["fsdp2-mixed-dtype-group"] = "modelscope/twinkle#182 huggingface/accelerate#3985 "
    .. "pytorch/pytorch#156784 verl-project/verl#4275 "
    .. "mosaicml/llm-foundry#414 huggingface/trl#6343",
  ["mixed-activation-checkpoint-recompute"] = "pytorch/pytorch#153354 pytorch/pytorch#171779",
  ["mixed-attention-operand"] = "pytorch/torchtitan#875 NVIDIA-NeMo/RL#1051 "
    .. "intel/torch-xpu-ops#1555 modelscope/DiffSynth-Studio#477 "
    .. "pytorch/torchtitan#1412",
  ["mixed-optimizer-group"] = "pytorch/pytorch#183207 pytorch/pytorch#126670 "
    .. "pytorch/pytorch#132016 pytorch/torchtitan#732 "
    .. "pytorch/pytorch#134212",
  ["inplace-placement-change"] = "pytorch/pytorch#163374 pytorch/pytorch#164729 "
    .. "pytorch/pytorch#173572 pytorch/torchtitan#3753 "
    .. "pytorch/pytorch#172477",
  ["grad-norm-is-partial-dtensor"] = "pytorch/pytorch#170862 pytorch/pytorch#166638 "
    .. "pytorch/pytorch#149768 radixark/miles_diffusion#35 "
    .. "pytorch/pytorch#126457 bghira/SimpleTuner#2900",
  ["cpu-offload-no-cpu-backend"] = "pytorch/pytorch#148532 meta-pytorch/torchtune#1977 "
    .. "pytorch/torchtitan#1168 NVIDIA-NeMo/Automodel#3461 "
    .. "THUDM/slime#847 mindspore-ai/hyper-parallel#612",
  ["fsdp-tied-params-two-groups"] = "huggingface/accelerate#4171 saforem2/ezpz#237 "
    .. "pytorch/torchtitan#2495 NVIDIA/Model-Optimizer#2059 "
    .. "NVIDIA/Megatron-LM#1447 facebookresearch/lingua#84",
  ["dcp-size-mismatch"] = "pytorch/pytorch#136228 NVIDIA/Megatron-LM#4129 "
    .. "NVIDIA/TransformerEngine#2795 "
    .. "Lightning-AI/pytorch-lightning#16815 pytorch/pytorch#150862",
  ["dcp-missing-key"] = "huggingface/accelerate#3971 pytorch/torchtitan#811 "
    .. "pytorch/pytorch#124546 RLinf/RLinf#655 "
    .. "JinjieNi/dlms-are-super-data-learners#4",
  ["fsdp-divergent-module-execution"] = "pytorch/pytorch#126616 pytorch/torchtitan#4777 "
    .. "pytorch/pytorch#170667 huggingface/transformers#48237 "
    .. "THUDM/slime#1010 NovaSky-AI/SkyRL#1370",
  ["collective-sequence-mismatch"] = "areal-project/AReaL#187 pytorch/pytorch#148756 "
    .. "sgl-project/sglang#33289 pytorch/pytorch#125173 "
    .. "Lightning-AI/pytorch-lightning#19106 "
    .. "ByteDance-Seed/VeOmni#642",
  ["submesh-of-submesh"] = "pytorch/pytorch#143194 pytorch/pytorch#132339 "
    .. "pytorch/pytorch#146303",
  ["invalid-mesh-dim-name"] = "huggingface/accelerate#4180 NVIDIA-NeMo/Automodel#1684 "
    .. "NVIDIA-NeMo/Automodel#2768 pytorch/pytorch#108326",
  ["mesh-dim-required"] = "pytorch/pytorch#121984 pytorch/pytorch#128097 "
    .. "pytorch/pytorch#114708 pytorch/pytorch#126258",
  ["mesh-larger-than-world"] = "pytorch/pytorch#111452 pytorch/pytorch#135271 "
    .. "pytorch/pytorch#91801 NVIDIA/Megatron-LM#4179",
  ["fsdp-tp-mesh-relationship"] = "pytorch/pytorch#121244 pytorch/pytorch#157216 "
    .. "pytorch/pytorch#133335 pytorch/pytorch#119937 "
    .. "pytorch/pytorch#125778",
  ["fsdp-2d-mesh-is-hsdp"] = "NVIDIA-NeMo/Automodel#2768 pytorch/torchtitan#518 "
    .. "pytorch/torchtitan#1279 meta-pytorch/tnt#1077 "
    .. "EvolvingLMMs-Lab/lmms-engine#180 pytorch/pytorch#143194",
  ["fsdp-uneven-nonzero-dim"] = "mindspore-ai/hyper-parallel#359 nvidia-cosmos/cosmos-rl#11 "
    .. "pytorch/torchtitan#1561 pytorch/pytorch#148894",
  ["ep-fsdp-uneven-double-shard"] = "marin-community/marin#6335 huggingface/transformers#48237 "
    .. "pytorch/torchtitan#1561",
  ["strided-shard-order"] = "pytorch/pytorch#129206 pytorch/pytorch#129229 "
    .. "pytorch/pytorch#168134 pytorch/pytorch#163843 "
    .. "pytorch/pytorch#150490 pytorch/pytorch#102280",
  ["strided-shard-op-rules"] = "pytorch/pytorch#178785 pytorch/pytorch#179059 "
    .. "pytorch/pytorch#166598 pytorch/pytorch#172266 "
    .. "ByteDance-Seed/VeOmni#642",
  ["from-local-uneven-shape"] = "pytorch/pytorch#110762 pytorch/pytorch#144109 "
    .. "pytorch/pytorch#115310 pytorch/pytorch#103306 "
    .. "pytorch/pytorch#110781 pytorch/pytorch#118836",
  ["tp-local-output-uneven"] = "pytorch/pytorch#150336 pytorch/torchtitan#1306 "
    .. "pytorch/torchtitan#686 NVIDIA-NeMo/RL#659",
  ["sequence-parallel-input-contract"] = "pytorch/pytorch#129355 pytorch/examples#1271 "
    .. "pytorch/pytorch#139681 huggingface/transformers#32597",
  ["redistribute-to-partial"] = "pytorch/torchtitan#3622 pytorch/pytorch#164253 "
    .. "pytorch/pytorch#172041 pytorch/pytorch#191828 "
    .. "pytorch/torchtitan#3753",
  ["redistribute-cross-mesh"] = "pytorch/pytorch#126795 pytorch/pytorch#134212 "
    .. "pytorch/pytorch#146303",
  ["sharding-propagation-failed"] = "pytorch/pytorch#164543 pytorch/pytorch#161574 "
    .. "pytorch/pytorch#159601 huggingface/transformers#39399 "
    .. "NVIDIA/physicsnemo#1057",
  ["dynamic-output-shape"] = "pytorch/pytorch#124990 pytorch/pytorch#152717 "
    .. "pytorch/pytorch#174442 pytorch/pytorch#177411",
  ["index-put-and-select"] = "pytorch/pytorch#170934 pytorch/pytorch#172350 "
    .. "pytorch/pytorch#118461 pytorch/pytorch#179136 "
    .. "pytorch/pytorch#147724 meta-pytorch/torchtune#2846",
  ["register-sharding-limits"] = "pytorch/pytorch#167977 pytorch/pytorch#167219 "
    .. "pytorch/pytorch#131108 pytorch/torchtitan#3645 "
    .. "pytorch/ao#4295",
  ["inference-mode-composite"] = "pytorch/torchchat#1087 pytorch/pytorch#142190",
  ["optional-argument-rule-bug"] = "pytorch/pytorch#133499 pytorch/pytorch#167090 "
    .. "pytorch/pytorch#167091 pytorch/pytorch#128699",
  ["conv-tp-unsupported"] = "pytorch/pytorch#176446 pytorch/pytorch#191926 "
    .. "pytorch/pytorch#142058 huggingface/transformers#39399",
  ["loss-parallel-preconditions"] = "pytorch/pytorch#152016 pytorch/pytorch#180936 "
    .. "pytorch/pytorch#119877 pytorch/torchtitan#1093",
  ["vocab-parallel-mask"] = "pytorch/pytorch#130725 pytorch/pytorch#160697 "
    .. "pytorch/pytorch#185356 pytorch/torchtitan#785 "
    .. "pytorch/torchtitan#3468",
  ["compile-tangent-placement"] = "pytorch/pytorch#118600 pytorch/pytorch#128636 "
    .. "pytorch/pytorch#173123",
  ["compile-symbolic-shape-rule"] = "pytorch/pytorch#152954 pytorch/pytorch#159601 "
    .. "pytorch/pytorch#183021 pytorch/pytorch#168051 "
    .. "pytorch/pytorch#167091",
  ["compile-placement-not-traceable"] = "pytorch/pytorch#117670 pytorch/pytorch#119023 "
    .. "pytorch/pytorch#152829 pytorch/pytorch#157976 "
    .. "NVIDIA/physicsnemo#1796 Lightning-AI/lightning-thunder#2794",
  ["cp-backend-or-mask"] = "pytorch/pytorch#147793 bghira/SimpleTuner#3106 "
    .. "pytorch/torchtitan#2446 pytorch/torchtitan#875 "
    .. "pytorch/torchtitan#1440",
  ["cp-load-balance"] = "pytorch/pytorch#141429 pytorch/pytorch#159706 "
    .. "pytorch/pytorch#152261 pytorch/pytorch#183968",
  ["cp-seq-divisibility"] = "vipshop/cache-dit#457 NVIDIA/TransformerEngine#1930 "
    .. "NVIDIA-NeMo/Megatron-Bridge#1982 vllm-project/vllm-omni#672 "
    .. "huggingface/diffusers#13545",
  ["flex-attention-dtensor"] = "pytorch/torchtitan#1412 pytorch/torchtitan#1440 "
    .. "pytorch/torchtitan#1952 pytorch/pytorch#158692",
  ["fp8-subclass-inside-dtensor"] = "pytorch/ao#590 pytorch/ao#1718 pytorch/ao#2154 "
    .. "pytorch/ao#1929 pytorch/torchtitan#845 "
    .. "huggingface/accelerate#3827",
  ["backend-op-missing"] = "modelscope/ms-swift#7871 modelscope/ms-swift#7870 "
    .. "huggingface/optimum-quanto#423 pytorch/torchtitan#875 "
    .. "NVIDIA/Megatron-LM#1986",
  ["xla-sharded-tensor"] = "pytorch/xla#7827 pytorch/xla#5798 pytorch/xla#7645 "
    .. "pytorch/xla#8606",
  ["collective-wrong-device"] = "pytorch/pytorch#146767 pytorch/pytorch#147025 "
    .. "pytorch/pytorch#147980 ByteDance-Seed/VeOmni#637",
  ["moe-router-full-dtensor"] = "pytorch/torchtitan#3753 pytorch/torchtitan#3622 "
    .. "pytorch/torchtitan#3662 pytorch/torchtitan#3386 "
    .. "meta-pytorch/torchtune#2846",
  ["global-shape-as-local"] = "NVIDIA/Megatron-LM#6785 pytorch/torchtitan#3662 "
    .. "NVIDIA/TransformerEngine#2795",
  ["raw-collective-on-dtensor"] = "pytorch/pytorch#117126 pytorch/pytorch#109950 "
    .. "pytorch/torchtitan#779 pytorch/pytorch#125723 "
    .. "pytorch/pytorch#129635",
  ["meta-device-not-materialised"] = "pytorch/pytorch#132721 pytorch/pytorch#132954 "
    .. "pytorch/pytorch#120351 pytorch/pytorch#90465 "
    .. "NVIDIA/Megatron-LM#6799",
  ["dtensor-serialization"] = "pytorch/pytorch#139949 pytorch/pytorch#140740 "
    .. "pytorch/pytorch#183039 pytorch/pytorch#103106 "
    .. "pytorch/pytorch#73825",
  ["dispatch-overhead"] = "pytorch/pytorch#109101 pytorch/pytorch#134191 "
    .. "pytorch/pytorch#107305 pytorch/pytorch#167051 "
    .. "pytorch/torchtitan#1587",
  ["sharding-cache-growth"] = "pytorch/pytorch#181761 pytorch/pytorch#178301 "
    .. "pytorch/pytorch#168255 NVIDIA-NeMo/Automodel#2888",
  ["tp-plan-unmatched"] = "pytorch/pytorch#99432 pytorch/pytorch#105213 "
    .. "huggingface/transformers#43048 huggingface/transformers#34184",
  ["distribute-misuse"] = "pytorch/pytorch#88838 pytorch/pytorch#143883 "
    .. "pytorch/pytorch#168133",
  ["async-result-not-waited"] = "pytorch/pytorch#180614 pytorch/pytorch#152534 "
    .. "pytorch/pytorch#119692 pytorch/pytorch#162749 "
    .. "sgl-project/sglang#2353",
  ["fsdp1-dtensor-legacy"] = "pytorch/pytorch#124019 pytorch/pytorch#119937 "
    .. "pytorch/pytorch#123272 pytorch/pytorch#109648",
  ["rng-offload-hang"] = "pytorch/pytorch#196562 pytorch/torchtitan#3106",
  ["numerics-drift-not-bug"] = "pytorch/pytorch#144359 pytorch/pytorch#120158 "
    .. "pytorch/pytorch#168058 pytorch/pytorch#146190 "
    .. "pytorch/torchtitan#689",
  ["optimizer-built-before-sharding"] = "pytorch/pytorch#149205 pytorch/pytorch#109101 "
    .. "huggingface/accelerate#4142 huggingface/accelerate#3394 "
    .. "mosaicml/composer#3822",
  ["implicit-redistribution-forbidden"] = "pytorch/pytorch#166593 pytorch/pytorch#167370 "
    .. "pytorch/pytorch#169452 pytorch/pytorch#173625 "
    .. "pytorch/pytorch#168887",
  ["fsdp2-plain-entry-in-sharded-state-dict"] = "huggingface/accelerate#3898 huggingface/accelerate#4023 "
    .. "NVIDIA/TransformerEngine#2795",
  ["fsdp2-full-state-dict-key"] = "huggingface/accelerate#3870",
  ["fsdp2-scalar-parameter"] = "pytorch/pytorch#144045 pytorch/pytorch#132934 "
    .. "komikndr/raylight#5",
  ["fsdp2-non-float-parameter"] = "pytorch/pytorch#185239",
  ["devicemesh-pickle-version-skew"] = "verl-project/verl#4208",
  ["tp-hook-kwargs-only"] = "huggingface/transformers#41819",
  ["tp-axis-size-one"] = "pytorch/pytorch#113761 pytorch/pytorch#127213 "
    .. "pytorch/pytorch#139134",
  ["mesh-dim-group-missing"] = "huggingface/accelerate#3804",
  ["hybrid-sharding-unsupported"] = "pytorch/pytorch#141212",
  ["out-variant-kwarg-dtensor"] = "pytorch/pytorch#173357",
  ["pin-memory-dtensor"] = "pytorch/torchtitan#3985",
  ["to-local-grad-placement"] = "pytorch/torchtitan#1805 "
    .. "pytorch/torchtitan#2532 "
    .. "pytorch/pytorch#172932 "
    .. "pytorch/pytorch#173454",
  ["partial-plus-scalar"] = "pytorch/pytorch#163193 "
    .. "pytorch/pytorch#149768 "
    .. "pytorch/pytorch#163291 "
    .. "pytorch/pytorch#170030",
  ["nonlinear-on-partial"] = "pytorch/pytorch#159856 "
    .. "pytorch/pytorch#165962 "
    .. "pytorch/pytorch#174536",
  ["from-local-lies"] = "pytorch/pytorch#144109 "
    .. "pytorch/pytorch#129355",
  ["argmax-local-index"] = "pytorch/pytorch#168940 "
    .. "pytorch/pytorch#173936 "
    .. "tenstorrent/tt-mlir#8623",
  ["weighted-mean-loss"] = "pytorch/pytorch#185167 "
    .. "NVIDIA/Megatron-LM#7452",
  ["sdpa-cache-key"] = "pytorch/pytorch#134050 "
    .. "pytorch/pytorch#134146",
  ["ep-gradient-scale"] = "pytorch/pytorch#160285 "
    .. "NVIDIA/Megatron-LM#6489 "
    .. "NVIDIA/Megatron-LM#7452",
  ["squeeze-local-singleton"] = "pytorch/pytorch#166124 "
    .. "pytorch/pytorch#166862 "
    .. "pytorch/pytorch#173563",
  ["distribute-source-rank-wins"] = "pytorch/pytorch#88838 "
    .. "pytorch/pytorch#143883 "
    .. "ByteDance-Seed/VeOmni#637",
  ["view-without-redistribute"] = "pytorch/pytorch#179502 "
    .. "pytorch/pytorch#186282",
  ["matmul-shard-order"] = "pytorch/pytorch#166598",
  ["spmd-type-error"] = "pytorch/pytorch#181398 pytorch/torchtitan#3253 "
    .. "pytorch/torchtitan#3278 pytorch/torchtitan#3936",
}
