// The page's words in both languages, and the switch between them.
const WORDS = {
  en: {
    about: "About this run", other_language: "中文", switch_language: "Switch to Chinese", switch_theme: "Switch between light and dark",
    findings: "Findings", tensors: "Tensors", chart_title: "Error of every tensor, in execution order",
    chart_hint: "Point at a mark to see its layer, click to open its row, drag to zoom in.",
    table_hint: "/ search · ↑ ↓ move · Enter details · Esc close · click a heading to sort",
    zoom_out: "Show all", search: "Search", search_hint: "Search layer, source, reason …   ( / )", filter_verdict: "Verdicts shown",
    step: "step", rank: "rank", kind: "kind", tensor: "tensor", columns: "Columns", reset: "Reset filters", all: "all",
    verdict: "verdict", layer: "layer", error: "error", threshold: "threshold", source: "source", index: "#", name: "name", call: "call",
    pass: "pass", warn: "warn", fail: "fail", skip: "skip", note: "note", v_error: "error",
    n_fail: "failed", n_warn: "warned", n_pass: "passed", n_error: "unreadable", n_skip: "skipped",
    word_pass: "PASS", word_fail: "FAIL", word_incomplete: "INCOMPLETE", word_nothing: "NOTHING COMPARED", interrupted: "interrupted",
    first_bad: "First bad layer:", equal: "Every tensor is equal", within: "Every error is within its threshold",
    only_warnings: "Nothing failed; some tensors need a look", strict_warnings: "Warnings count as failures in this run",
    incomplete: "Nothing failed, but not everything could be compared", nothing_text: "No pair of tensors could be judged",
    largest_error: "largest error", compared: "compared", born_here: "error is born here", passed_on: "error comes from an earlier layer",
    open_row: "open row", only_reference: "only in reference", only_target: "only in target",
    reference: "reference", target: "target", inside: "in", tool: "written by", tensor_count: "tensors", bytes_read: "bytes read",
    cut_short: "cut short", notes: "notes", version: "version", mode: "mode", started: "started", seconds: "seconds", command: "command",
    path: "path", framework: "framework", rows_of: "{0} of {1} rows", rows_all: "{0} rows", rows_one: "1 row", no_rows: "This report has no rows.",
    no_match: "No row matches these filters.", input: "input", output: "output", parameter: "parameter", gradient: "gradient",
    backward: "backward", forward: "forward", update: "update", nth_call: "call {0}", against: "{0} against {1}", k_tensor: "tensor", statistics: "statistics", checksum: "checksum", scalar: "scalar",
    close: "Close", previous: "Previous row", next: "Next row", where: "Where", sides: "Both sides", metrics: "Metrics", missing: "not there",
    dtype: "dtype", shape: "shape", max: "max", min: "min", mean: "mean", norm: "norm", value: "value", module: "module", op: "operator",
    phase: "phase", direction: "direction", slot: "slot", execution_index: "execution index", threshold_from: "threshold from", origin: "origin",
    yes: "yes", no: "no", details: "Details of row {0}", no_metrics: "This row has no metrics.",
    chart_label: "Errors of {0} tensors in execution order: {1} failed, {2} warned. The table below holds the same numbers.",
    more_rows: "and {0} more", damaged: "The data of this page cannot be read: the file is damaged or cut short.",
  },
  zh: {
    about: "运行信息", other_language: "English", switch_language: "切换到英文", switch_theme: "切换浅色和深色",
    findings: "结论", tensors: "张量", chart_title: "各张量误差（按执行顺序）",
    chart_hint: "鼠标指向标记可查看所属层，点击打开对应行，拖动可放大。",
    table_hint: "/ 搜索 · ↑ ↓ 移动 · Enter 详情 · Esc 关闭 · 点击表头排序",
    zoom_out: "显示全部", search: "搜索", search_hint: "搜索层、源码、原因 …   ( / )", filter_verdict: "显示的判定",
    step: "步", rank: "卡", kind: "类型", tensor: "张量", columns: "列", reset: "清除筛选", all: "全部",
    verdict: "判定", layer: "层", error: "误差", threshold: "阈值", source: "源码", index: "#", name: "名称", call: "调用",
    pass: "通过", warn: "警告", fail: "失败", skip: "跳过", note: "说明", v_error: "出错",
    n_fail: "失败", n_warn: "警告", n_pass: "通过", n_error: "无法读取", n_skip: "跳过",
    word_pass: "通过", word_fail: "失败", word_incomplete: "不完整", word_nothing: "未比较任何张量", interrupted: "已中断",
    first_bad: "首个异常层：", equal: "所有张量完全一致", within: "所有误差都在阈值之内",
    only_warnings: "没有失败项，但有张量需要关注", strict_warnings: "本次运行将警告视为失败",
    incomplete: "没有失败项，但并非全部张量都能比较", nothing_text: "没有可以判定的张量对",
    largest_error: "最大误差", compared: "已比较", born_here: "误差产生于此", passed_on: "误差来自更早的层",
    open_row: "打开该行", only_reference: "仅在基准中", only_target: "仅在目标中",
    reference: "基准", target: "目标", inside: "位于", tool: "写入工具", tensor_count: "张量数", bytes_read: "读取字节数",
    cut_short: "不完整", notes: "备注", version: "版本", mode: "模式", started: "开始时间", seconds: "用时（秒）", command: "命令",
    path: "路径", framework: "框架", rows_of: "{0} / {1} 行", rows_all: "{0} 行", rows_one: "1 行", no_rows: "这份报告没有数据行。",
    no_match: "没有符合筛选条件的行。", input: "输入", output: "输出", parameter: "参数", gradient: "梯度",
    backward: "反向", forward: "前向", update: "更新", nth_call: "调用 {0}", against: "{0} 对 {1}", k_tensor: "张量", statistics: "统计量", checksum: "校验和", scalar: "标量",
    close: "关闭", previous: "上一行", next: "下一行", where: "位置", sides: "两侧对比", metrics: "指标", missing: "不存在",
    dtype: "数据类型", shape: "形状", max: "最大值", min: "最小值", mean: "均值", norm: "范数", value: "值", module: "模块", op: "算子",
    phase: "阶段", direction: "方向", slot: "槽位", execution_index: "执行序号", threshold_from: "阈值来源", origin: "误差源头",
    yes: "是", no: "否", details: "第 {0} 行详情", no_metrics: "该行没有指标。",
    chart_label: "{0} 个张量按执行顺序的误差：{1} 个失败，{2} 个警告。下方表格包含相同数据。",
    more_rows: "另有 {0} 行", damaged: "无法读取本页数据：文件已损坏或不完整。",
  },
};
// Analyzers declare their columns in English; these are the standard ones.
const METRIC_DOCS_ZH = {
  rel_l2: "||d||2 / ||r||2；基准全为零时：d 也全为零则为 0，否则为 Infinity", rel_l1: "sum|d| / sum|r|；基准全为零时同上",
  cosine_distance: "1 - 余弦相似度，计算时避免相消误差", cosine: "余弦相似度 sum(rt) / (||r|| ||t||)；仅一侧为零时为空",
  max_abs: "|d| 的最大值", max_abs_index: "达到 max_abs 的最小线性下标（行优先）", max_abs_at: "max_abs_index 的坐标",
  max_rel: "r ≠ 0 处 |d|/|r| 的最大值", mean_rel: "r ≠ 0 处 |d|/|r| 的均值", mean_abs: "sum|d| / n", rmse: "sqrt(sum d^2 / n)", l1: "sum|d|", l2: "sqrt(sum d^2)",
  within_1e3: "|d| < 0.001 |r| 的元素占比（千分之一）；r = t = 0 计入", within_5e3: "|d| < 0.005 |r| 的元素占比（千分之五）；r = t = 0 计入",
  norm_ratio: "||t|| / ||r||；基准为零时为空", sqnr_db: "10 log10(sum r^2 / sum d^2)，单位 dB", max_ulp: "以较粗数据类型的 ULP 计的最大距离",
  block_error: "每 4096 个元素一块，rms(d) / max(rms(r), 整体 rms(r)) 的最大值", block_error_at: "误差最大块首元素的坐标",
  outliers: "|d| 远超数据类型舍入所能解释的元素数", sign_flips: "两侧均非零且符号不同的元素占比",
  zero_ref_mismatch: "r = 0 而 t ≠ 0 的元素数", zero_ref_max_abs: "r = 0 而 t ≠ 0 处 |t| 的最大值", both_zero: "两侧处处为零",
  close_violations: "|d| > atol + rtol |r| 的元素数；两者都未给出时为空", elements: "元素总数",
  class_mismatch: "一侧为 NaN、+inf、-inf 或有限值而另一侧不是的元素数", nan_ref: "基准中的 NaN 数", nan_target: "目标中的 NaN 数", nan_both: "两侧同为 NaN 的元素数",
  inf_ref: "基准中的无穷数", inf_target: "目标中的无穷数", inf_sign_mismatch: "一侧 +inf 而另一侧 -inf 的元素数",
  saturated: "基准为无穷、目标为最大有限值的元素数（--saturate）", zeros_ref: "基准中的零（含 -0）", zeros_target: "目标中的零（含 -0）",
  subnormals_ref: "基准中的非规格化数", subnormals_target: "目标中的非规格化数", class_mismatch_at: "首个类别不同的元素的坐标",
};

let language = "en";
function word(key, ...values) {
  const text = WORDS[language][key] ?? WORDS.en[key] ?? key;
  return values.length ? text.replace(/\{(\d)\}/g, (_, n) => values[n]) : text;
}
function translatePage() {
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  for (const it of document.querySelectorAll("[data-t]")) it.textContent = word(it.dataset.t);
  for (const it of document.querySelectorAll("[data-label]")) {
    it.setAttribute("aria-label", word(it.dataset.label));
    if (it.tagName === "BUTTON") it.title = word(it.dataset.label);
  }
  for (const it of document.querySelectorAll("[data-placeholder]")) it.placeholder = word(it.dataset.placeholder);
}
