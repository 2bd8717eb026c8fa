// The report's rows lie in the page as columns; a column is decoded when it is first looked at.
//   {"same": v}                  one value for all rows
//   {"f64": "..."} {"f32": ...}  base64 of little-endian numbers; a NaN with the payload below is null
//   {"texts": [...], "u32": "..."}  distinct texts and, for each row, which one; 0xffffffff is null
const NULL_F64_HIGH = 0x7ff86e75, NULL_F32 = 0x7fc06e75, NULL_TEXT = 0xffffffff;

function bytesOf(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes.buffer;
}

class Column {
  constructor(coded, count) {
    this.count = count;
    this.coded = coded;
    this.ready = false;
  }
  decode() {
    if (this.ready) return this;
    const coded = this.coded;
    if ("same" in coded) {
      this.same = coded.same;
      if (this.same === "NaN" || this.same === "Infinity" || this.same === "-Infinity") {
        if (coded.number) this.same = Number(this.same);
      }
    } else if (coded.texts) {
      this.texts = coded.texts;
      this.which = new Uint32Array(bytesOf(coded.u32));
    } else if (coded.f64) {
      const buffer = bytesOf(coded.f64);
      this.values = new Float64Array(buffer);
      this.bits = new Uint32Array(buffer);
    } else {
      const buffer = bytesOf(coded.f32);
      this.values = new Float32Array(buffer);
      this.bits = new Uint32Array(buffer);
    }
    this.coded = null;
    this.ready = true;
    return this;
  }
  get(row) {
    this.ready || this.decode();
    if (this.values) {
      const value = this.values[row];
      if (value === value) return value;
      const isNull = this.values.BYTES_PER_ELEMENT === 8 ? this.bits[2 * row + 1] === NULL_F64_HIGH : this.bits[row] === NULL_F32;
      return isNull ? null : NaN;
    }
    if (this.texts) return this.which[row] === NULL_TEXT ? null : this.texts[this.which[row]];
    return this.same;
  }
  isText() { this.decode(); return this.texts !== undefined || typeof this.same === "string"; }
  // Distinct values, in order of appearance.
  distinct() {
    this.decode();
    if (this.texts) return this.texts;
    if (!this.values) return this.same === null ? [] : [this.same];
    const seen = new Set();
    for (let row = 0; row < this.count; row++) { const v = this.get(row); if (v !== null) seen.add(v); }
    return [...seen];
  }
  // Numbers that order the rows: null after all others, NaN as the largest.
  sortKeys() {
    if (this.keys) return this.keys;
    this.decode();
    const keys = new Float64Array(this.count);
    if (this.texts) {
      const order = this.texts.map((_, i) => i), compare = new Intl.Collator("en", {numeric: true}).compare;
      order.sort((a, b) => compare(this.texts[a], this.texts[b]) || a - b);
      const place = new Float64Array(order.length);
      order.forEach((text, at) => { place[text] = at; });
      for (let row = 0; row < keys.length; row++) keys[row] = this.which[row] === NULL_TEXT ? NaN : place[this.which[row]];
    } else if (this.values) {
      for (let row = 0; row < keys.length; row++) {
        const v = this.get(row);
        keys[row] = v === null ? NaN : v !== v ? Infinity : v;
      }
    }
    return this.keys = keys;
  }
  // Which rows hold one of these lower-case words; each distinct text is looked at once.
  matches(term, into) {
    this.decode();
    if (!this.texts) {
      if (typeof this.same === "string" && this.same.toLowerCase().includes(term)) into.fill(1);
      return;
    }
    this.lower ??= this.texts.map((text) => text.toLowerCase());
    const hit = new Uint8Array(this.lower.length);
    let any = false;
    for (let i = 0; i < hit.length; i++) if (this.lower[i].includes(term)) { hit[i] = 1; any = true; }
    if (!any) return;
    const which = this.which;
    for (let row = 0; row < which.length; row++) if (hit[which[row]] === 1) into[row] = 1;
  }
}

const VERDICTS = ["pass", "warn", "fail", "skip", "error"];
const SHAPES = {pass: "●", warn: "▲", fail: "◆", skip: "○", error: "■"};

function readReport() {
  const report = JSON.parse(document.getElementById("data").textContent);
  document.getElementById("data").textContent = "";  // the text is as large as the report: let it go
  report.row = new Map(Object.entries(report.row).map(([name, coded]) => [name, new Column(coded, report.count)]));
  report.metrics = report.metrics.map((coded) => new Column(coded, report.count));
  report.row.set("index", {get: (row) => row, sortKeys: () => Float64Array.from({length: report.count}, (_, row) => row)});
  report.verdicts = new Uint8Array(report.count);
  const verdict = report.row.get("verdict");
  for (let row = 0; row < report.count; row++) report.verdicts[row] = verdict.get(row);
  report.at = (name, row) => report.row.get(name).get(row);
  return report;
}
