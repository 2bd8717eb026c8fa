// The table of all rows. Only the rows in view exist as elements: a pool that is filled anew while scrolling.
const ROW_HEIGHT = 28, HEAD_HEIGHT = 30;
const TALLEST = 8e6;  // browsers cannot make an element much higher: beyond it scrolling is by share, not by pixel

class Table {
  constructor(report, hooks) {
    this.report = report;
    this.hooks = hooks;
    this.grid = document.getElementById("grid");
    this.head = document.getElementById("grid-head");
    this.body = document.getElementById("grid-body");
    this.pool = [];
    this.order = new Int32Array(0);
    this.place = null;  // row -> position in order, made when needed
    this.selected = -1;
    this.sort = null;  // {id, descending}
    this.chosen = new Set(this.usual());
    this.grid.addEventListener("scroll", () => this.later(), {passive: true});
    this.grid.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => {
      const element = event.target.closest(".row");
      if (element) { this.select(element.row); this.hooks.open(element.row); }
    });
    new ResizeObserver(() => this.later()).observe(this.grid);
  }

  // ---- columns
  columns() {
    const {report} = this, at = (name) => (row) => { const v = report.at(name, row); return v === null ? "" : visible(v); };
    const keys = (name) => () => report.row.get(name).sortKeys();
    const list = [
      {id: "index", title: word("index"), width: "68px", right: true, soft: true, text: at("index"), keys: keys("index"), fixed: true},
      {id: "verdict", title: word("verdict"), width: "88px", fixed: true, verdict: true, text: (row) => verdictWord(verdictOf(report, row)), keys: keys("verdict_rank")},
      {id: "layer", title: word("layer"), width: "minmax(270px, 3fr)", name: true, fixed: true, text: (row) => layerOf(report, row), keys: keys("layer")},
      {id: "tensor", title: word("tensor"), width: "minmax(140px, 1fr)", fixed: true, text: (row) => placeOf(report, row), keys: () => this.placeKeys()},
      {id: "error", title: word("error"), width: "92px", right: true, fixed: true, hot: true, text: (row) => brief(report.at("error", row)), keys: keys("error")},
      {id: "threshold", title: word("threshold"), width: "92px", right: true, text: (row) => brief(report.at("threshold", row)), keys: keys("threshold")},
      {id: "step", title: word("step"), width: "56px", right: true, text: at("step"), keys: keys("step")},
      {id: "rank", title: word("rank"), width: "56px", right: true, text: at("rank"), keys: keys("rank")},
    ];
    report.columns.forEach((column, i) => {
      const number = column.type === "f64" || column.type === "i64", values = report.metrics[i];
      const wide = Math.min(220, Math.max(92, column.name.length * 8 + 28));
      list.push({id: "m:" + i, title: visible(column.name), doc: metricDoc(column), width: wide + "px", right: number, metric: true,
        text: (row) => { const v = values.get(row); return column.type === "bool" && v !== null ? String(Boolean(v)) : brief(v); }, keys: () => values.sortKeys()});
    });
    list.push(
      {id: "module", title: word("module"), width: "minmax(170px, 2fr)", soft: true, text: (row) => moduleBeside(report, row), keys: keys("module")},
      {id: "kind", title: word("kind"), width: "100px", text: (row) => kindWord(report.at("kind", row)), keys: keys("kind")},
      {id: "name", title: word("name"), width: "minmax(300px, 3fr)", name: true, text: at("name"), keys: keys("name")},
    );
    list.push({id: "source", title: word("source"), width: "minmax(180px, 2fr)", soft: true, text: at("source"), keys: keys("source")});
    return list;
  }
  placeKeys() {
    const direction = this.report.row.get("direction").sortKeys(), slot = this.report.row.get("slot").sortKeys();
    return direction.map((key, row) => (key !== key ? key : key * 1e6 + (slot[row] || 0)));
  }
  usual() {
    const {report} = this, ids = ["threshold"];
    if (report.several.step) ids.push("step");
    if (report.several.rank) ids.push("rank");
    if (report.operators) ids.push("module");
    if (report.row.get("source").distinct().length > 0) ids.push("source");
    for (const i of report.main_columns) ids.push("m:" + i);
    return ids;
  }
  layOut() {
    this.all = this.columns();
    this.shown = this.all.filter((column) => column.fixed || this.chosen.has(column.id));
    const least = this.shown.reduce((sum, column) => sum + Number(/(\d+)px/.exec(column.width)[1]), 0);
    this.grid.style.setProperty("--columns", this.shown.map((column) => column.width).join(" "));
    for (const part of [this.head, this.body]) part.style.minWidth = least + "px";
    this.head.style.gridTemplateColumns = "var(--columns)";
    this.head.replaceChildren(...this.shown.map((column) => this.heading(column)));
    this.grid.setAttribute("aria-colcount", this.shown.length);
    this.body.replaceChildren();
    this.pool = [];
    this.later();
  }
  heading(column) {
    const cell = make("div", column.right ? "right" : ""), button = make("button", "", column.title);
    cell.setAttribute("role", "columnheader");
    const sort = this.sort?.id === column.id ? (this.sort.descending ? "descending" : "ascending") : "none";
    cell.setAttribute("aria-sort", sort);
    button.type = "button";
    button.title = column.doc ? `${column.title}: ${column.doc}` : column.title;
    button.addEventListener("click", () => this.toggle(column));
    cell.append(button);
    return cell;
  }
  // First click: what an engineer looks for first (largest error; names from A); then the other way; then execution order.
  toggle(column) {
    const first = column.right && column.id !== "index" && column.id !== "step" && column.id !== "rank";
    if (this.sort?.id !== column.id) this.sort = {id: column.id, descending: first};
    else if (this.sort.descending === first) this.sort = {id: column.id, descending: !first};
    else this.sort = null;
    this.hooks.sorted();
    this.layOut();
  }
  sortKeys() { return this.sort ? this.all.find((column) => column.id === this.sort.id)?.keys() : null; }

  // ---- rows
  show(rows) {
    const keys = this.sortKeys();
    this.order = keys ? sorted(rows, keys, this.sort.descending) : rows;
    this.place = null;
    this.grid.setAttribute("aria-rowcount", this.order.length + 1);
    this.body.style.height = Math.min(TALLEST, this.order.length * ROW_HEIGHT) + "px";
    for (const element of this.pool) element.at = -1;
    this.later();
  }
  position(row) {
    if (!this.place) {
      this.place = new Int32Array(this.report.count).fill(-1);
      this.order.forEach((it, at) => { this.place[it] = at; });
    }
    return row < 0 ? -1 : this.place[row];
  }
  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.paint(); });
  }
  // Position of the first row in view (a fraction), and where its row would lie.
  window() {
    const view = this.grid.clientHeight - HEAD_HEIGHT, total = this.order.length * ROW_HEIGHT;
    const top = this.grid.scrollTop;
    if (total <= TALLEST) return {view, first: top / ROW_HEIGHT, top};
    const share = Math.min(1, top / Math.max(1, TALLEST - view));
    return {view, first: share * Math.max(0, this.order.length - view / ROW_HEIGHT), top};
  }
  paint() {
    if (!this.shown) return;
    const {view, first, top} = this.window();
    const from = Math.max(0, Math.floor(first) - 4), to = Math.min(this.order.length, Math.ceil(first + view / ROW_HEIGHT) + 4);
    const needed = Math.ceil(view / ROW_HEIGHT) + 10;
    while (this.pool.length < needed) this.pool.push(this.element());
    const size = this.pool.length;
    for (const element of this.pool) if (element.at < from || element.at >= to) { element.hidden = true; element.at = -1; }
    for (let at = from; at < to; at++) {
      const element = this.pool[at % size];
      if (element.at !== at) this.fill(element, at);
      element.style.transform = `translateY(${Math.round(top + (at - first) * ROW_HEIGHT)}px)`;
      element.setAttribute("aria-selected", element.row === this.selected);
    }
    const active = this.position(this.selected);
    if (active >= from && active < to) this.grid.setAttribute("aria-activedescendant", "row-" + this.selected);
    else this.grid.removeAttribute("aria-activedescendant");
  }
  element() {
    const element = make("div", "row");
    element.setAttribute("role", "row");
    element.style.gridTemplateColumns = "var(--columns)";
    element.at = -1;
    element.parts = this.shown.map((column) => {
      const cell = make("div", "cell");
      cell.setAttribute("role", "gridcell");
      if (column.name) { cell.classList.add("name"); cell.append(make("span", "head"), make("span", "tail")); }
      if (column.right) cell.classList.add("right");
      if (column.soft) cell.classList.add("soft");
      if (column.verdict) cell.append(make("span", "badge"));
      element.append(cell);
      return cell;
    });
    this.body.append(element);
    return element;
  }
  fill(element, at) {
    const row = this.order[at], verdict = verdictOf(this.report, row);
    element.at = at;
    element.row = row;
    element.id = "row-" + row;
    element.hidden = false;
    element.setAttribute("aria-rowindex", at + 2);
    this.shown.forEach((column, i) => {
      const cell = element.parts[i], text = column.text(row);
      if (column.verdict) {
        const mark = cell.firstChild;
        mark.textContent = text;
        mark.dataset.verdict = verdict;
        mark.dataset.shape = SHAPES[verdict];
      } else if (column.name) {
        // The end of a name says which layer it is: it is never what gives way.
        const cut = text.length > 24 ? text.length - 20 : text.length;
        cell.firstChild.textContent = text.slice(0, cut);
        cell.lastChild.textContent = text.slice(cut);
        cell.title = text;
      } else {
        cell.textContent = text;
        if (column.hot) cell.classList.toggle("hot", verdict === "fail");
        if (column.soft) cell.title = text;
      }
    });
  }

  // ---- selection
  select(row) {
    this.selected = row;
    const at = this.position(row);
    if (at >= 0) this.reveal(at);
    this.later();
    this.hooks.selected(row);
  }
  // lead: rows to show before one that is far away; without it, it comes into the middle.
  reveal(at, lead = null) {
    const {view, first} = this.window(), visibleRows = Math.max(1, view / ROW_HEIGHT);
    if (at >= first && at + 1 <= first + visibleRows) return;
    const far = Math.abs(at - first) > visibleRows * 2;
    const wanted = far ? at - (lead ?? visibleRows / 2) : at < first ? at : at + 1 - visibleRows;
    const total = this.order.length * ROW_HEIGHT;
    this.grid.scrollTop = total <= TALLEST ? wanted * ROW_HEIGHT
      : wanted / Math.max(1, this.order.length - visibleRows) * (TALLEST - view);
  }
  move(by) {
    if (this.order.length === 0) return;
    const at = this.position(this.selected);
    const to = at < 0 ? Math.floor(this.window().first) : Math.min(this.order.length - 1, Math.max(0, at + by));
    this.select(this.order[to]);
    return this.order[to];
  }
  key(event) {
    if (event.target !== this.grid || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor((this.grid.clientHeight - HEAD_HEIGHT) / ROW_HEIGHT) - 1);
    const moves = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -1e9, End: 1e9};
    if (event.key in moves) { this.move(moves[event.key]); this.hooks.moved(); }
    else if (event.key === "Enter" && this.selected >= 0) this.hooks.open(this.selected);
    else return;
    event.preventDefault();
  }
}

function metricDoc(column) { return (language === "zh" && METRIC_DOCS_ZH[column.name]) || visible(column.doc); }
function kindWord(kind) { return word(kind === "tensor" ? "k_tensor" : kind); }
