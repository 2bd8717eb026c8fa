// Everything that is known of one row.
class Detail {
  constructor(report, hooks) {
    this.report = report;
    this.hooks = hooks;
    this.box = document.getElementById("detail");
    this.row = -1;
  }
  isOpen() { return !this.box.hidden; }
  close() { this.box.hidden = true; document.body.classList.remove("beside"); this.row = -1; }
  open(row) {
    this.row = row;
    this.draw();
    this.box.hidden = false;
    document.body.classList.add("beside");
    this.box.scrollTop = 0;
  }
  draw() {
    if (this.row < 0) return;
    const {report, row} = this, title = make("h2", "", visible(report.at("name", row)));
    title.id = "detail-title";
    const why = whyOf(report, row), verdict = verdictOf(report, row);
    this.box.dataset.verdict = verdict;
    this.box.replaceChildren(this.bar(verdict), title);
    if (why) this.box.append(make("p", "why", why));
    this.box.append(this.judgement(), make("h3", "", word("sides")), this.sides(), make("h3", "", word("metrics")), this.metrics(),
      make("h3", "", word("where")), this.where());
  }
  bar(verdict) {
    const bar = make("div", "detail-bar");
    const button = (label, sign, act) => {
      const it = make("button", "quiet", sign);
      it.type = "button";
      it.setAttribute("aria-label", word(label));
      it.title = word(label);
      it.addEventListener("click", act);
      return it;
    };
    bar.append(badge(verdict), make("span", "count", `#${this.report.at("index", this.row)}`), make("span", "spacer"),
      button("previous", "↑", () => this.hooks.step(-1)), button("next", "↓", () => this.hooks.step(1)),
      button("close", "✕", () => this.hooks.close()));
    return bar;
  }
  facts(pairs) {
    const list = make("dl", "facts");
    for (const [label, value] of pairs) {
      if (value === null || value === "" || value === undefined) continue;
      list.append(make("dt", "", word(label)), make("dd", "mono", visible(value)));
    }
    return list;
  }
  judgement() {
    const at = (name) => this.report.at(name, this.row), origin = at("origin");
    return this.facts([["error", exact(at("error"))], ["threshold", exact(at("threshold"))], ["threshold_from", at("threshold_from")],
      ["origin", origin === null ? null : word(origin ? "born_here" : "passed_on")], ["source", at("source")]]);
  }
  where() {
    const at = (name) => this.report.at(name, this.row);
    return this.facts([["layer", at("layer")], ["module", at("module")], ["op", at("op")], ["call", at("call")],
      ["phase", at("phase") && word(at("phase"))], ["direction", at("direction") && word(at("direction"))], ["slot", at("slot")],
      ["step", at("step")], ["rank", at("rank")], ["kind", kindWord(at("kind"))], ["execution_index", at("execution_index")]]);
  }
  sides() {
    const {report, row} = this, table = make("table"), there = report.at("sides", row);
    const head = make("tr"), body = make("tbody"), thead = make("thead");
    head.append(make("th"), make("th", "", word("reference")), make("th", "", word("target")));
    thead.append(head);
    const value = (side, field) => {
      if (field !== "name") return report.at(`${side}_${field}`, row);
      return side === "reference" ? report.at("name", row) : report.at("target_name", row) ?? report.at("name", row);
    };
    const has = {reference: (there & 1) !== 0, target: (there & 2) !== 0};
    for (const field of ["name", "dtype", "shape", "max", "min", "mean", "norm", "checksum", "value"]) {
      const both = ["reference", "target"].map((side) => (has[side] ? value(side, field) : null));
      if (field === "name" && (both[0] === both[1] || !has.reference || !has.target)) continue;
      if (both[0] === null && both[1] === null) continue;
      const line = make("tr"), differs = has.reference && has.target && both[0] !== both[1] && field !== "name";
      line.append(make("th", "", word(field)));
      both.forEach((it, i) => line.append(make("td", differs && i === 1 ? "differs" : "", exact(it))));
      body.append(line);
    }
    for (const side of ["reference", "target"]) {
      if (has[side]) continue;
      const line = make("tr"), cell = make("td", "bad", word("missing"));
      cell.colSpan = 2;
      line.append(make("th", "", word(side)), cell);
      body.append(line);
    }
    table.append(thead, body);
    return table;
  }
  metrics() {
    const {report, row} = this, table = make("table", "metric"), body = make("tbody");
    report.columns.forEach((column, i) => {
      const value = report.metrics[i].get(row);
      if (value === null) return;
      const line = make("tr"), name = make("th", "", visible(column.name)), cell = make("td");
      name.scope = "row";
      cell.append(column.type === "bool" ? String(Boolean(value)) : exact(value), make("small", "", metricDoc(column)));
      line.append(name, cell);
      body.append(line);
    });
    if (!body.firstChild) return make("p", "hint", word("no_metrics"));
    table.append(body);
    return table;
  }
}
