// Errors in execution order on a logarithmic axis. Zero has a band at the bottom, NaN and infinity one at the top, so
// that every judged row has a place. Verdicts differ by colour and by shape.
class Chart {
  constructor(report, hooks) {
    this.report = report;
    this.hooks = hooks;
    this.box = document.getElementById("chart");
    this.canvas = document.getElementById("canvas");
    this.marker = document.getElementById("marker");  // above the marks, so that moving it does not draw 100,000 of them again
    this.tip = document.getElementById("tip");
    this.band = document.getElementById("zoom");
    this.rows = new Int32Array(0);
    this.range = null;  // [first, last) of this.rows when zoomed in
    this.selected = -1;
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.box);
  }
  // rows: judged or unreadable rows in execution order
  show(rows) {
    // Equal arguments (eps, axis, ...) are half of all rows in some dumps and no news.
    const drawn = rows.filter((row) => {
      const verdict = VERDICTS[this.report.verdicts[row]];
      return verdict !== "skip" && !(verdict === "pass" && this.report.at("kind", row) === "scalar");
    });
    this.rows = drawn;
    this.zoomTo(null);
  }
  zoomTo(range) {
    this.range = range;
    document.getElementById("zoom-out").hidden = range === null;
    this.draw();
  }
  select(row) { this.selected = row; this.paintSelected(); }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.paint(); });
  }
  measure() {
    const [first, last] = this.range ?? [0, this.rows.length];
    const error = this.report.row.get("error"), threshold = this.report.row.get("threshold");
    let low = Infinity, high = -Infinity;
    for (let i = first; i < last; i++) {
      if (this.report.at("kind", this.rows[i]) === "scalar") continue;  // not on the scale of tensors
      for (const value of [error.get(this.rows[i]), threshold.get(this.rows[i])]) {
        if (value > 0 && value < Infinity) { low = Math.min(low, value); high = Math.max(high, value); }
      }
    }
    if (low > high) { low = 1e-7; high = 1; }  // nothing but zeros and NaN: an empty axis
    let bottom = Math.floor(Math.log10(low)), top = Math.ceil(Math.log10(high));
    if (top - bottom < 2) { bottom -= 1; top += 1; }
    this.first = first;
    this.last = last;
    this.bottom = bottom;
    this.top = top;
    const width = this.box.clientWidth, height = this.box.clientHeight;
    this.area = {left: 56, right: width - 10, top: 27, bottom: height - 46};
    this.size = {width, height};
  }
  x(i) {
    const count = this.last - this.first, {left, right} = this.area;
    return count <= 1 ? (left + right) / 2 : left + 6 + (i - this.first) / (count - 1) * (right - left - 12);
  }
  // value: null (unreadable) and not finite lie in the top band
  y(value) {
    const {top, bottom} = this.area;
    if (value === null || value !== value || value === Infinity) return top - 15;
    if (value <= 0) return bottom + 15;
    return Math.min(bottom, Math.max(top, bottom - (Math.log10(value) - this.bottom) / (this.top - this.bottom) * (bottom - top)));
  }

  paint() {
    this.measure();
    if (this.size.width < 80) return;
    const g = this.blank(this.canvas);
    const style = getComputedStyle(document.documentElement);
    this.color = (name) => style.getPropertyValue("--" + name).trim();
    g.font = "11px " + style.getPropertyValue("--sans");
    this.paintAxes(g);
    this.paintThreshold(g);
    this.paintPoints(g);
    this.paintSelected();
  }
  blank(canvas) {
    const {width, height} = this.size, scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const g = canvas.getContext("2d");
    g.setTransform(scale, 0, 0, scale, 0, 0);
    return g;
  }
  paintAxes(g) {
    const {left, right, top, bottom} = this.area;
    g.textBaseline = "middle";
    g.textAlign = "right";
    const every = Math.ceil((this.top - this.bottom) / 7);
    const line = (y, text, color) => {
      g.fillStyle = this.color(color);
      g.fillRect(left, Math.round(y), right - left, 1);
      g.fillStyle = this.color("soft");
      g.fillText(text, left - 8, y);
    };
    for (let power = this.bottom; power <= this.top; power += every) line(this.y(10 ** power), `1e${power < 0 ? "-" : ""}${String(Math.abs(power)).padStart(2, "0")}`, "line-soft");
    g.fillStyle = this.color("soft");
    g.fillText("0", left - 8, bottom + 15);
    g.fillText("inf NaN", left - 8, top - 15);
    g.fillStyle = this.color("line");
    g.fillRect(left, top - 5, right - left, 1);
    g.fillRect(left, bottom + 5, right - left, 1);
    g.fillRect(left, bottom + 25, right - left, 1);
    g.fillStyle = this.color("soft");
    g.textBaseline = "top";
    g.textAlign = "left";
    if (this.last > this.first) {
      g.fillText("#" + this.report.at("index", this.rows[this.first]), left, bottom + 29);
      g.textAlign = "right";
      if (this.last - this.first > 1) g.fillText("#" + this.report.at("index", this.rows[this.last - 1]), right, bottom + 29);
    }
  }
  paintThreshold(g) {
    const threshold = this.report.row.get("threshold");
    g.strokeStyle = this.color("text");
    g.globalAlpha = .55;
    g.setLineDash([5, 4]);
    g.beginPath();
    const {left, right} = this.area;
    let drawn = null, pixel = -1, started = false;
    for (let i = this.first; i < this.last; i++) {
      const at = Math.round(this.x(i));
      if (at === pixel && i !== this.last - 1) continue;
      pixel = at;
      const value = threshold.get(this.rows[i]);
      if (value === null || !(value > 0) || value === Infinity) continue;
      const y = this.y(value);
      if (!started) g.moveTo(left, y);
      else if (y !== drawn) { g.lineTo(at, drawn); g.lineTo(at, y); }
      started = true;
      drawn = y;
    }
    if (started) { g.lineTo(right, drawn); g.stroke(); }
    g.setLineDash([]);
    g.globalAlpha = 1;
  }
  paintPoints(g) {
    const error = this.report.row.get("error"), verdicts = this.report.verdicts;
    const count = this.last - this.first, dense = count > 1500;
    const groups = {pass: [], warn: [], error: [], fail: []};
    const taken = new Set();  // dense charts: one mark per pixel and verdict is all the eye can see
    for (let i = this.first; i < this.last; i++) {
      const row = this.rows[i], x = this.x(i), y = this.y(error.get(row));
      if (dense) {
        const key = (Math.round(x) * 4096 + Math.round(y)) * 8 + verdicts[row];
        if (taken.has(key)) continue;
        taken.add(key);
      }
      groups[VERDICTS[verdicts[row]]]?.push(x, y);
    }
    for (const [verdict, points] of Object.entries(groups)) {
      g.fillStyle = g.strokeStyle = this.color(verdict);
      const r = dense ? 2.2 : 3.6;
      g.beginPath();
      for (let k = 0; k < points.length; k += 2) {
        const x = points[k], y = points[k + 1];
        if (verdict === "pass") {
          if (dense) g.rect(x - .75, y - .75, 1.5, 1.5);
          else { g.moveTo(x + r - 1, y); g.arc(x, y, r - 1, 0, 7); }
        } else if (verdict === "warn") {
          g.moveTo(x, y - r - .6); g.lineTo(x + r + .4, y + r - .4); g.lineTo(x - r - .4, y + r - .4); g.closePath();
        } else if (verdict === "fail") {
          g.moveTo(x, y - r - 1); g.lineTo(x + r + 1, y); g.lineTo(x, y + r + 1); g.lineTo(x - r - 1, y); g.closePath();
        } else {
          g.rect(x - r, y - r, 2 * r, 2 * r);
        }
      }
      g.fill();
    }
  }
  paintSelected() {
    if (!this.size || !this.color || this.size.width < 80) return;
    const g = this.blank(this.marker), i = this.find(this.selected);
    if (i < this.first || i >= this.last) return;
    const x = this.x(i), y = this.y(this.report.at("error", this.selected));
    g.strokeStyle = this.color("accent");
    g.lineWidth = 1;
    g.strokeRect(Math.round(x) + .5, this.area.top - 24, 0, this.area.bottom - this.area.top + 48);
    g.lineWidth = 2;
    g.beginPath();
    g.arc(x, y, 7, 0, 7);
    g.stroke();
    g.lineWidth = 1;
  }
  // rows are ascending: position of one of them, -1 when it is not drawn
  find(row) {
    let low = 0, high = this.rows.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (this.rows[middle] === row) return middle;
      if (this.rows[middle] < row) low = middle + 1; else high = middle - 1;
    }
    return -1;
  }
  // The drawn row nearest to a point; those that fail win over those that pass.
  nearest(x, y) {
    const count = this.last - this.first;
    if (count <= 0) return -1;
    const {left, right} = this.area, reach = 9;
    const per = count <= 1 ? 1 : (count - 1) / (right - left - 12);
    const middle = count <= 1 ? 0 : (x - left - 6) * per;
    const spread = count <= 1 ? 1 : reach * per + 1;
    let best = -1, least = Infinity;
    for (let i = Math.max(0, Math.floor(middle - spread)); i <= Math.min(count - 1, Math.ceil(middle + spread)); i++) {
      const row = this.rows[this.first + i];
      const dx = this.x(this.first + i) - x, dy = this.y(this.report.at("error", row)) - y;
      const far = Math.hypot(dx, dy) - (VERDICTS[this.report.verdicts[row]] === "fail" ? 3 : 0);
      if (far < least && Math.abs(dx) <= reach + per) { least = far; best = row; }
    }
    return least < 40 ? best : -1;
  }
  listen() {
    const point = (event) => { const box = this.box.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    let pressed = null;
    this.box.addEventListener("pointermove", (event) => {
      const [x, y] = point(event);
      if (pressed !== null && Math.abs(x - pressed) > 6) {
        this.tip.hidden = true;
        this.band.hidden = false;
        this.band.style.left = Math.min(x, pressed) + "px";
        this.band.style.width = Math.abs(x - pressed) + "px";
        return;
      }
      this.hover(x, y);
    });
    this.box.addEventListener("pointerleave", () => { this.tip.hidden = true; this.box.style.cursor = ""; });
    this.box.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      pressed = point(event)[0];
      if (event.pointerType === "mouse") this.box.setPointerCapture(event.pointerId);
    });
    this.box.addEventListener("pointercancel", () => { pressed = null; this.band.hidden = true; });
    this.box.addEventListener("pointerup", (event) => {
      const [x, y] = point(event), from = pressed;
      pressed = null;
      this.band.hidden = true;
      if (from === null) return;
      if (Math.abs(x - from) > 6) return this.zoomBetween(Math.min(x, from), Math.max(x, from));
      const row = this.nearest(x, y);
      if (row >= 0) this.hooks.open(row);
    });
    document.getElementById("zoom-out").addEventListener("click", () => this.zoomTo(null));
  }
  zoomBetween(from, to) {
    const count = this.last - this.first, {left, right} = this.area;
    const at = (x) => Math.min(count, Math.max(0, Math.round((x - left - 6) / (right - left - 12) * (count - 1))));
    const first = this.first + at(from), last = this.first + at(to) + 1;
    if (last - first >= 2) this.zoomTo([first, Math.min(last, this.rows.length)]);
  }
  hover(x, y) {
    const row = this.nearest(x, y);
    this.tip.hidden = row < 0;
    this.box.style.cursor = row < 0 ? "" : "pointer";
    if (row < 0) return;
    this.tip.replaceChildren(make("b", "", this.hooks.title(row)), make("span", "", this.hooks.summary(row)));
    const wide = this.tip.offsetWidth, left = Math.min(Math.max(4, x - wide / 2), this.size.width - wide - 4);
    this.tip.style.left = left + "px";
    this.tip.style.top = (y > this.size.height / 2 ? y - this.tip.offsetHeight - 14 : y + 16) + "px";
  }
}
