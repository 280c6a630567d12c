-- SPDX-License-Identifier: MIT
-- dt/diagnose/glossary.lua: words of the field as reports in Chinese write
-- them, and what the signs of the classes call them.  The English word is put
-- beside the other, so that nothing of the report is lost.

local M = {}

-- Longer terms go before those they begin with.
local terms = {
  -- of Ulysses and of ring attention as a rule
  {"序列并行", "sequence parallel (context parallel)"},
  {"张量并行", "tensor parallel"},
  {"上下文并行", "context parallel"}, {"流水线并行", "pipeline parallel"},
  {"流水并行", "pipeline parallel"}, {"数据并行", "data parallel"},
  {"专家并行", "expert parallel"}, {"模型并行", "model parallel"},
  {"注意力头", "attention heads"}, {"注意力", "attention"},
  {"头数", "number of heads"}, {"整除", "divisible"}, {"除尽", "divisible"},
  {"序列长度", "sequence length"}, {"词表", "vocabulary"},
  {"嵌入", "embedding"}, {"专家", "expert"}, {"路由", "router"},
  {"掩码", "mask"}, {"梯度裁剪", "gradient clipping"},
  {"梯度范数", "gradient norm"}, {"梯度累积", "gradient accumulation"},
  {"梯度", "gradient"}, {"反向传播", "backward"}, {"反向", "backward"},
  {"前向", "forward"}, {"优化器", "optimizer"}, {"损失", "loss"},
  {"不下降", "does not decrease"}, {"不收敛", "does not decrease"},
  {"不更新", "not updated"}, {"没有更新", "not updated"},
  {"权重", "weights"}, {"参数", "parameters"}, {"分片", "sharded"},
  {"切分", "sharded"}, {"切片", "slice"}, {"检查点", "checkpoint"},
  {"断点续训", "resume from the checkpoint"}, {"保存", "save"},
  {"加载", "load"}, {"量化", "quantized"}, {"精度", "precision"},
  {"编译", "compile"}, {"推理", "inference"}, {"生成", "generate"},
  {"随机种子", "random seed"}, {"随机", "random"},
  {"卡死", "hangs"}, {"卡住", "is stuck"}, {"挂起", "hangs"}, {"死锁", "deadlock"},
  {"超时", "timeout"}, {"通信", "communication"}, {"显存溢出", "out of memory"},
  {"爆显存", "out of memory"}, {"显存", "device memory"},
  {"内存泄漏", "memory leak"}, {"内存", "memory"}, {"卸载", "offload"},
  {"报错", "error"}, {"错误", "error"}, {"失败", "fails"}, {"异常", "exception"},
  {"崩溃", "crash"}, {"不支持", "not supported"}, {"不能", "cannot"},
  {"无法", "cannot"}, {"不一致", "mismatch"}, {"不匹配", "mismatch"},
  {"不相同", "differs"}, {"不同", "different"}, {"形状", "shape"},
  {"维度", "dimension"}, {"混合", "mixed"}, {"多机", "several nodes"},
  {"单机", "one node"}, {"单卡", "single GPU"}, {"多卡", "several GPUs"},
  {"每张卡", "each rank"}, {"各个卡", "each rank"}, {"主进程", "main process"},
}

-- Phrases whose words stand in another order: a pattern, and its English.
local phrases = {{"(%d+) ?卡", "%1 GPUs"},
  {"不能?被 ?([%w_]+) ?整除", "%0 (not divisible by %1) "},
  {"[能须]被 ?([%w_]+) ?整除", "%0 (must be divisible by %1) "},
  {"([%w_]+) ?需?要?能够?整除 ?([%w_]+)", "%0 (must be divisible by %2) "}}

local by_lead = {}              -- {[first character] = terms}
for _, t in ipairs(terms) do
  local lead = t[1]:match(utf8.charpattern)
  by_lead[lead] = by_lead[lead] or {}
  table.insert(by_lead[lead], t)
end

-- The longest term that starts at byte `at`, or nil.
local function term_at(text, at, lead)
  for _, t in ipairs(by_lead[lead] or {}) do
    if text:sub(at, at + #t[1] - 1) == t[1] then return t end
  end
end

local LEAD <const> = "[\228-\233][\128-\191][\128-\191]"

-- `text` with the English word after each term it holds.  Linear.
function M.gloss(text)
  if not text:find(LEAD) then return text end
  for _, p in ipairs(phrases) do text = text:gsub(p[1], p[2]) end
  local out, from, at = {}, 1, 1
  while true do
    local a, b = text:find(LEAD, at)
    if not a then break end
    local t = term_at(text, a, text:sub(a, b))
    if t then
      local last = a + #t[1] - 1
      out[#out + 1] = text:sub(from, last)
      out[#out + 1] = " " .. t[2] .. " "
      from, at = last + 1, last + 1
    else
      at = b + 1
    end
  end
  out[#out + 1] = text:sub(from)
  return table.concat(out)
end

return M
