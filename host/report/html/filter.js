// Which rows are shown, and in which order.
class Filter {
  constructor(report) {
    this.report = report;
    this.clear();
  }
  clear() {
    this.text = "";
    this.verdicts = new Set();  // empty: all
    this.step = this.rank = this.kind = this.direction = "";
  }
  isActive() { return this.text.trim() !== "" || this.verdicts.size > 0 || [this.step, this.rank, this.kind, this.direction].some((it) => it !== ""); }

  // Rows in execution order.
  rows() {
    const {report} = this, keep = new Uint8Array(report.count).fill(1);
    if (this.verdicts.size > 0) {
      const wanted = VERDICTS.map((verdict) => this.verdicts.has(verdict));
      for (let row = 0; row < keep.length; row++) if (!wanted[report.verdicts[row]]) keep[row] = 0;
    }
    for (const name of ["step", "rank", "kind", "direction"]) if (this[name] !== "") this.keepEqual(keep, report.row.get(name), this[name]);
    for (const term of this.text.toLowerCase().split(/\s+/)) if (term) this.keepTerm(keep, term);
    let count = 0;
    for (let row = 0; row < keep.length; row++) count += keep[row];
    const rows = new Int32Array(count);
    for (let row = 0, at = 0; row < keep.length; row++) if (keep[row]) rows[at++] = row;
    return rows;
  }
  keepEqual(keep, column, wanted) {
    for (let row = 0; row < keep.length; row++) if (keep[row] && String(column.get(row)) !== wanted) keep[row] = 0;
  }
  // Every word must be somewhere in the row; "#17" is the row of that number.
  keepTerm(keep, term) {
    const hit = new Uint8Array(keep.length), {report} = this;
    if (/^#\d+$/.test(term)) {
      const row = Number(term.slice(1));
      if (row < hit.length) hit[row] = 1;
    }
    for (const name of ["name", "target_name", "layer", "module", "op", "source", "why", "code", "reference_dtype", "target_dtype"]) {
      report.row.get(name).matches(term, hit);
    }
    for (let row = 0; row < keep.length; row++) keep[row] &= hit[row];
  }
}

// Rows without a value stay last whichever way they are sorted; equal rows keep their order.
function sorted(rows, keys, descending) {
  const order = Int32Array.from(rows), sign = descending ? -1 : 1;
  return order.sort((a, b) => {
    const x = keys[a], y = keys[b];
    if (x === y) return a - b;
    if (x !== x || y !== y) return x !== x ? (y !== y ? a - b : 1) : -1;
    return x < y ? -sign : sign;
  });
}
