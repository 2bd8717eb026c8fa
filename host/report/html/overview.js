// The top of the page: the verdict, the first bad layer, counts, findings, and what was run.
class Overview {
  constructor(report, hooks) {
    this.report = report;
    this.hooks = hooks;
  }
  draw() {
    this.drawRun();
    this.drawHero();
    this.drawTiles();
    this.drawFindings();
    this.drawInputs();
    this.drawOptions();
  }
  drawRun() {
    const {report} = this, run = document.getElementById("run");
    run.replaceChildren(make("b", "", report.mode), `   ${visible(report.inputs.reference.path)} → ${visible(report.inputs.target.path)}`);
    run.title = run.textContent;
  }
  words() {
    const summary = this.report.summary;
    switch (this.report.outcome) {
      case "failed": return ["fail", "word_fail", "first_bad"];
      case "failed_on_warning": return ["fail", "word_fail", "strict_warnings"];
      case "incomplete": return ["warn", "word_incomplete", "incomplete"];
      case "nothing_compared": return ["warn", "word_nothing", "nothing_text"];
      default: return ["pass", "word_pass", summary.max_error === 0 ? "equal" : summary.warn > 0 ? "only_warnings" : "within"];
    }
  }
  drawHero() {
    const {report} = this, [tone, verdict, title] = this.words();
    const bad = report.outcome === "failed" ? report.first_bad_row : null;
    document.getElementById("hero").dataset.verdict = tone;
    const words = word(verdict) + (report.summary.partial ? ` · ${word("interrupted")}` : "");
    document.getElementById("verdict").textContent = words;
    const heading = document.getElementById("hero-title"), facts = document.getElementById("hero-facts");
    heading.replaceChildren(word(title));
    facts.replaceChildren();
    document.getElementById("hero-why").textContent = bad === null ? "" : whyOf(report, bad);
    document.title = `${words} · msprobe`;
    if (bad === null) {
      facts.append(make("span", "", `${word("compared")} ${grouped(report.summary.compared)}`));
      if (report.summary.max_error !== null) facts.append(make("span", "", `${word("largest_error")} ${brief(Number(report.summary.max_error), 3)}`));
      return;
    }
    const layer = layerOf(report, bad), module = moduleBeside(report, bad);
    heading.append(" ", make("bdi", "mono", layer));
    document.title = `${words}: ${layer} · msprobe`;
    if (module) facts.append(make("span", "", `${word("inside")} ${module}`));
    for (const part of whereOf(report, bad)) facts.append(make("span", "", part));
    facts.append(make("b", "", errorText(report, bad)));
    const source = report.at("source", bad);
    if (source) facts.append(make("span", "mono", visible(source)));
    const origin = report.at("origin", bad);
    if (origin !== null) facts.append(make("span", "tag", word(origin ? "born_here" : "passed_on")));
    const open = make("button", "link", word("open_row"));
    open.type = "button";
    open.addEventListener("click", () => this.hooks.open(bad));
    facts.append(open);
  }
  drawTiles() {
    const {summary} = this.report, tiles = document.getElementById("tiles");
    tiles.replaceChildren();
    for (const verdict of ["fail", "warn", "pass", "error", "skip"]) {
      const item = make("li"), tile = make("button", summary[verdict] === 0 ? "tile zero" : "tile");
      tile.type = "button";
      tile.dataset.verdict = verdict;
      tile.append(make("b", "", grouped(summary[verdict])), make("span", "", `${SHAPES[verdict]} ${word("n_" + verdict)}`));
      const missing = [];
      if (verdict === "skip" && summary.unmatched_reference) missing.push(`${grouped(summary.unmatched_reference)} ${word("only_reference")}`);
      if (verdict === "skip" && summary.unmatched_target) missing.push(`${grouped(summary.unmatched_target)} ${word("only_target")}`);
      if (missing.length) { const note = make("span", "", missing.join(", ")); note.style.display = "block"; tile.append(note); }
      tile.addEventListener("click", () => this.hooks.onlyVerdict(verdict));
      item.append(tile);
      tiles.append(item);
    }
  }
  drawFindings() {
    const {findings} = this.report, list = document.getElementById("findings");
    document.getElementById("findings-card").hidden = findings.length === 0;
    list.replaceChildren();
    for (const finding of findings) {
      const item = make("li"), text = make("span", "text", visible(language === "zh" && finding.text_zh ? finding.text_zh : finding.text));
      const level = finding.level, rows = make("span", "rows"), most = 12;
      for (const row of finding.rows.slice(0, most)) {
        const link = make("button", "link", `#${row}`);
        link.type = "button";
        if (row < this.report.count) link.title = visible(this.report.at("name", row));
        link.addEventListener("click", () => this.hooks.open(row));
        rows.append(link);
      }
      if (finding.rows.length > most) rows.append(make("span", "", word("more_rows", grouped(finding.rows.length - most))));
      text.append(rows);
      item.append(badge(level, level === "pass" ? word("note") : undefined), text);
      list.append(item);
    }
  }
  drawInputs() {
    const box = document.getElementById("inputs");
    box.replaceChildren();
    for (const side of ["reference", "target"]) {
      const input = this.report.inputs[side], facts = make("dl", "facts"), part = make("div");
      const add = (label, value, className) => {
        if (value === null || value === undefined || value === "") return;
        facts.append(make("dt", "", word(label)), make("dd", className ?? "", visible(value)));
      };
      add("path", input.path, "mono");
      add("tool", [input.tool, input.task, input.level].filter(Boolean).join(" "));
      add("framework", input.framework);
      add("tensor_count", grouped(input.tensors));
      add("bytes_read", grouped(input.bytes_read));
      if (input.incomplete) add("cut_short", word("yes"), "bad");
      for (const note of input.notes) add("notes", note);
      part.append(make("h3", "", word(side)), facts);
      box.append(part);
    }
  }
  drawOptions() {
    const {report} = this, list = document.getElementById("options");
    list.replaceChildren();
    const add = (label, value) => list.append(make("dt", "", label), make("dd", "mono", visible(value)));
    add(word("version"), `msprobe ${report.msprobe}`);
    add(word("mode"), report.mode);
    add(word("started"), report.started);
    add(word("seconds"), exact(report.seconds));
    add(word("command"), report.command.map((part) => (/^[\w./:=@%+-]+$/.test(part) ? part : JSON.stringify(part))).join(" "));
    for (const [name, value] of Object.entries(report.options)) add(visible(name), value === null ? "–" : value);
  }
}
