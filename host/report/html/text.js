// Names come from dumps and may hold anything: they reach the page as text only, with invisible characters made visible.
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
function visible(text) {
  return String(text).replace(INVISIBLE, (c) => {
    if (c === "\n") return "\\n";
    if (c === "\r") return "\\r";
    if (c === "\t") return "\\t";
    const code = c.charCodeAt(0);
    return code < 0x100 ? "\\x" + code.toString(16).padStart(2, "0") : "\\u" + code.toString(16).padStart(4, "0");
  });
}

function make(tag, className, text) {
  const it = document.createElement(tag);
  if (className) it.className = className;
  if (text !== undefined && text !== null) it.textContent = text;
  return it;
}

const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");

// "1e-05", as JSON and the terminal have it.
const exponent = (text) => text.replace(/e([+-])(\d)$/, "e$10$2");

// All digits: what reads back to the same number.
function exact(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return String(value);
  if (typeof value !== "number") return visible(value);
  if (Object.is(value, -0)) return "-0";
  const plain = String(value), short = exponent(value.toExponential());
  return Number.isInteger(value) && plain.length < 16 ? plain : short.length < plain.length ? short : exponent(plain);
}

// Short, for tables. A value just below 1 is never shown as 1: a cosine of 0.99999 must not look perfect.
function brief(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return visible(value);
  if (value !== value) return "NaN";
  const size = Math.abs(value);
  if (size === Infinity) return value > 0 ? "inf" : "-inf";
  if (size === 0) return "0";
  if (size < 1 && size > 0.99) return String(Math.trunc(value * 1e7) / 1e7);
  if (Number.isInteger(value) && size < 1e7) return String(value);
  if (size >= 1e-3 && size < 1e6) return String(Number(value.toPrecision(digits)));
  return exponent(value.toExponential(digits - 2).replace(/\.?0+e/, "e"));
}

// Both with as many digits as it takes to tell them apart.
function briefPair(a, b) {
  for (let digits = 3; digits < 17; digits++) {
    const pair = [brief(a, digits), brief(b, digits)];
    if (pair[0] !== pair[1] || a === b) return pair;
  }
  return [exact(a), exact(b)];
}
