// Brings the parts together: filters, keys, language, theme and the address (#row=17).
class App {
  constructor(report) {
    this.report = report;
    language = report.language === "zh" ? "zh" : "en";
    report.several = {step: report.row.get("step").distinct().length > 1, rank: report.row.get("rank").distinct().length > 1};
    report.operators = this.hasOperators();
    this.addVerdictRank();
    this.filter = new Filter(report);
    this.chart = new Chart(report, {
      open: (row) => this.open(row),
      title: (row) => layerOf(report, row),
      summary: (row) => [verdictWord(verdictOf(report, row)), ...whereOf(report, row), errorText(report, row)].filter(Boolean).join(" · "),
    });
    this.table = new Table(report, {
      open: (row) => this.open(row),
      selected: (row) => { this.chart.select(row); this.address(row); },
      moved: () => { if (this.detail.isOpen()) this.detail.open(this.table.selected); },
      sorted: () => { this.table.show(this.rows); this.table.grid.scrollTop = 0; },
    });
    this.detail = new Detail(report, {close: () => this.close(), step: (by) => this.step(by)});
    this.overview = new Overview(report, {open: (row) => this.open(row), onlyVerdict: (verdict) => this.onlyVerdict(verdict)});
    this.listen();
    this.theme(matchMedia("(prefers-color-scheme: dark)").matches);
    this.translate();
    this.apply();
    this.follow();
  }
  // Operators ("Functional.layer_norm") do not say in which module they ran.
  hasOperators() {
    const {report} = this;
    for (let row = 0; row < report.count; row++) {
      if (moduleBeside(report, row)) return true;
    }
    return false;
  }
  // Sorting by verdict starts with what is worst.
  addVerdictRank() {
    const rank = {fail: 0, error: 1, warn: 2, skip: 3, pass: 4}, {report} = this;
    const keys = Float64Array.from(report.verdicts, (verdict) => rank[VERDICTS[verdict]]);
    report.row.set("verdict_rank", {sortKeys: () => keys});
  }

  // ---- filters
  apply() {
    this.rows = this.filter.rows();
    this.table.show(this.rows);
    this.table.grid.scrollTop = 0;
    this.chart.show(this.rows);
    this.drawCount();
  }
  drawCount() {
    const {count} = this.report, shown = this.rows.length;
    document.getElementById("count").textContent = shown === count ? word(count === 1 ? "rows_one" : "rows_all", grouped(count)) : word("rows_of", grouped(shown), grouped(count));
    document.getElementById("reset").hidden = !this.filter.isActive();
    const nothing = document.getElementById("nothing");
    nothing.hidden = shown > 0;
    nothing.textContent = word(count === 0 ? "no_rows" : "no_match");
    document.getElementById("chart-card").hidden = count === 0;
    for (const chip of document.querySelectorAll(".chip")) chip.setAttribute("aria-pressed", this.filter.verdicts.has(chip.dataset.verdict));
  }
  drawFilters() {
    const {report} = this, {summary} = report;
    const chips = document.getElementById("chips");
    chips.replaceChildren();
    for (const verdict of ["fail", "warn", "pass", "error", "skip"]) {
      if (summary[verdict] === 0) continue;
      const chip = make("button", "chip", `${SHAPES[verdict]} ${verdictWord(verdict)}`);
      chip.type = "button";
      chip.dataset.verdict = verdict;
      chip.addEventListener("click", () => {
        const {verdicts} = this.filter;
        verdicts.has(verdict) ? verdicts.delete(verdict) : verdicts.add(verdict);
        this.apply();
      });
      chips.append(chip);
    }
    chips.hidden = chips.children.length < 2;
    for (const name of ["step", "rank", "kind", "direction"]) this.drawSelect(name);
    this.drawColumnMenu();
  }
  drawSelect(name) {
    const select = document.getElementById("filter-" + name), values = this.report.row.get(name).distinct().slice();
    select.parentElement.hidden = values.length < 2;
    values.sort((a, b) => (typeof a === "number" ? a - b : 0));
    const option = (value, text) => { const it = make("option", "", text); it.value = value; return it; };
    select.replaceChildren(option("", word("all")), ...values.map((value) =>
      option(String(value), name === "kind" ? kindWord(value) : name === "direction" ? word(value) : String(value))));
    select.value = this.filter[name];
  }
  drawColumnMenu() {
    const list = document.getElementById("column-list");
    list.replaceChildren(...this.table.columns().filter((column) => !column.fixed).map((column) => {
      const label = make("label"), box = make("input");
      box.type = "checkbox";
      box.checked = this.table.chosen.has(column.id);
      box.addEventListener("change", () => {
        box.checked ? this.table.chosen.add(column.id) : this.table.chosen.delete(column.id);
        this.table.layOut();
      });
      if (column.doc) label.title = column.doc;
      label.append(box, make("span", "", column.title));
      return label;
    }));
  }
  onlyVerdict(verdict) {
    const {verdicts} = this.filter, only = verdicts.size === 1 && verdicts.has(verdict);
    verdicts.clear();
    if (!only) verdicts.add(verdict);
    this.apply();
  }
  reset() {
    this.filter.clear();
    document.getElementById("search").value = "";
    for (const name of ["step", "rank", "kind", "direction"]) document.getElementById("filter-" + name).value = "";
    this.apply();
  }

  // ---- rows
  open(row) {
    if (!(row >= 0 && row < this.report.count)) return;
    if (this.table.position(row) < 0) this.reset();  // a link to a row that the filters hide
    this.table.select(row);
    this.detail.open(row);
  }
  step(by) {
    const row = this.table.move(by);
    if (row !== undefined) this.detail.open(row);
  }
  close() {
    this.detail.close();
    this.table.grid.focus({preventScroll: true});
  }
  address(row) {
    const hash = row >= 0 ? `#row=${this.report.at("index", row)}` : "";
    if (hash === location.hash) return;
    try { history.replaceState(null, "", hash || location.pathname); } catch { /* some viewers forbid it */ }
  }
  follow() {
    const match = /^#row=(\d+)$/.exec(location.hash);
    if (!match) return this.pointOut(this.report.outcome === "failed" ? this.report.first_bad_row : null);
    this.open(Number(match[1]));
    this.table.grid.scrollIntoView({block: "nearest"});
  }

  // The table starts at the row that the verdict names.
  pointOut(row) {
    if (row === null || this.table.selected >= 0) return;
    this.table.selected = this.chart.selected = row;
    requestAnimationFrame(() => { this.table.reveal(this.table.position(row), 1); this.table.later(); });
  }

  // ---- language and theme
  translate() {
    translatePage();
    this.overview.draw();
    this.drawFilters();
    this.table.layOut();
    for (const element of this.table.pool) element.at = -1;
    this.detail.draw();
    this.drawLegend();
    if (this.rows) this.drawCount();
    const {summary} = this.report;
    document.getElementById("canvas").setAttribute("aria-label", word("chart_label", grouped(this.report.count), grouped(summary.fail), grouped(summary.warn)));
    this.chart.draw();
  }
  drawLegend() {
    const legend = document.getElementById("legend");
    legend.replaceChildren();
    for (const verdict of ["pass", "warn", "fail", "error"]) {
      if (this.report.summary[verdict] === 0) continue;
      const item = make("li", "", ""), mark = make("i", "", SHAPES[verdict]);
      item.dataset.verdict = verdict;
      item.append(mark, verdictWord(verdict));
      legend.append(item);
    }
    const line = make("li");
    line.append(make("i", "dash", "– –"), word("threshold"));
    legend.append(line);
  }
  theme(dark) {
    this.dark = dark;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    document.getElementById("theme").setAttribute("aria-pressed", dark);
    this.chart.draw();
  }

  // ---- events
  listen() {
    const by = (id) => document.getElementById(id);
    let waiting = 0;
    by("search").addEventListener("input", (event) => {
      this.filter.text = event.target.value;
      clearTimeout(waiting);
      waiting = setTimeout(() => this.apply(), this.report.count > 20000 ? 80 : 0);
    });
    for (const name of ["step", "rank", "kind", "direction"]) {
      by("filter-" + name).addEventListener("change", (event) => { this.filter[name] = event.target.value; this.apply(); });
    }
    by("reset").addEventListener("click", () => this.reset());
    by("language").addEventListener("click", () => { language = language === "zh" ? "en" : "zh"; this.translate(); });
    by("theme").addEventListener("click", () => this.theme(!this.dark));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => this.theme(event.matches));
    by("about-button").addEventListener("click", () => {
      const about = by("about");
      about.hidden = !about.hidden;
      by("about-button").setAttribute("aria-expanded", !about.hidden);
    });
    document.addEventListener("click", (event) => { if (!by("column-menu").contains(event.target)) by("column-menu").open = false; });
    addEventListener("hashchange", () => this.follow());
    document.addEventListener("keydown", (event) => this.key(event));
  }
  key(event) {
    const search = document.getElementById("search"), typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      search.focus();
      search.select();
    } else if (event.key === "Escape") {
      const menu = document.getElementById("column-menu");
      if (menu.open) menu.open = false;
      else if (document.activeElement === search && search.value !== "") {
        search.value = this.filter.text = "";
        this.apply();
      } else if (this.detail.isOpen()) this.close();
      else if (document.activeElement === search) this.table.grid.focus({preventScroll: true});
    } else if (document.activeElement === search && (event.key === "Enter" || event.key === "ArrowDown")) {
      event.preventDefault();
      this.table.grid.focus({preventScroll: true});
      if (this.rows.length > 0 && this.table.position(this.table.selected) < 0) this.table.select(this.table.order[0]);
    } else if (this.detail.isOpen() && !typing && document.activeElement !== this.table.grid && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      this.step(event.key === "ArrowDown" ? 1 : -1);
    }
  }
}

function start() {
  let report = null;
  try {
    report = readReport();
  } catch {
    document.getElementById("hero-title").textContent = word("damaged");
    return;
  }
  window.msprobeReport = new App(report);  // for the tests of this page
}
start();
