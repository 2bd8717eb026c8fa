// What a row is called, in the page's language.
function layerOf(report, row) {
  return visible(report.at("layer", row) || report.at("name", row));
}
// Where an operator ran; empty when the layer's name says it.
function moduleBeside(report, row) {
  const module = report.at("module", row);
  return module && !report.at("layer", row).includes(module) ? visible(module) : "";
}
function verdictOf(report, row) { return VERDICTS[report.verdicts[row]]; }
function verdictWord(verdict) { return word(verdict === "error" ? "v_error" : verdict); }

// "backward, call 2, output 0": what tells the tensors of one layer apart. The usual (forward, first call) is not said.
function placeOf(report, row) {
  const parts = [], phase = report.at("phase", row), direction = report.at("direction", row), call = report.at("call", row);
  if (phase && phase !== "forward" && direction !== "gradient") parts.push(word(phase));
  if (call > 0) parts.push(word("nth_call", call));
  if (direction) parts.push(word(direction));
  const slot = report.at("slot", row);
  if (slot) parts.push(visible(slot));
  return parts.join(" ");
}
function errorText(report, row) {
  const error = report.at("error", row), threshold = report.at("threshold", row);
  if (report.at("kind", row) === "scalar" && report.at("sides", row) === 3) {
    return word("against", visible(report.at("reference_value", row)), visible(report.at("target_value", row)));
  }
  if (error === null) return "";
  if (threshold === null) return `${word("error")} ${brief(error, 3)}`;
  const [a, b] = briefPair(error, threshold);
  // A row may fail for another reason than its headline error: then no ">" is claimed.
  return error <= threshold ? `${word("error")} ${a}, ${word("threshold")} ${b}` : `${word("error")} ${a} > ${b}`;
}
function whereOf(report, row) {
  const parts = [placeOf(report, row)];
  if (report.several.step) parts.push(`${word("step")} ${report.at("step", row)}`);
  if (report.several.rank) parts.push(`${word("rank")} ${report.at("rank", row)}`);
  return parts.filter(Boolean);
}
function whyOf(report, row) {
  const why = report.at("why", row), code = report.at("code", row);
  return why || code ? visible([code, why].filter(Boolean).join(" ")) : "";
}
function badge(verdict, text) {
  const it = make("span", "badge", text ?? verdictWord(verdict));
  it.dataset.verdict = verdict;
  it.dataset.shape = SHAPES[verdict];
  return it;
}
