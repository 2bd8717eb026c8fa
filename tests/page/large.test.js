import {test} from "node:test";
import assert from "node:assert/strict";
import {countOf, rowsOf, settle, useBrowser, withPage} from "./browser.js";

useBrowser();
// Bounds are several times what a desk machine needs, so that a busy one does not fail.
const slack = 4;

test("100,000 rows: every row can be reached, and only those in view are elements", () => withPage("100000", async (page) => {
  assert.equal(await countOf(page), "100,000 rows");
  for (const share of [0, .25, .5, .9999, 1]) {
    await page.evaluate((it) => { const grid = document.getElementById("grid"); grid.scrollTop = it * (grid.scrollHeight - grid.clientHeight); }, share);
    await settle(page);
    assert.ok(await page.locator("#grid-body .row").count() < 100);
  }
  assert.equal((await rowsOf(page)).at(-1)["#"], "99999");
}));

test("100,000 rows: scrolling draws every frame in time", () => withPage("100000", async (page) => {
  const slow = await page.evaluate(async () => {
    const table = window.msprobeReport.table, grid = table.grid, times = [];
    for (let step = 0; step < 60; step++) {
      grid.scrollTop += 5000;
      const from = performance.now();
      table.paint();
      times.push(performance.now() - from);
      await new Promise(requestAnimationFrame);
    }
    return times.sort((a, b) => a - b)[54];
  });
  assert.ok(slow < 16 * slack, `${slow} ms for a frame`);
}));

test("100,000 rows: a filter answers within 200 ms, a sort within half a second", () => withPage("100000", async (page) => {
  const times = await page.evaluate(() => {
    const app = window.msprobeReport, time = (act) => { const from = performance.now(); act(); return performance.now() - from; };
    const search = (text) => time(() => { app.filter.text = text; app.apply(); });
    const first = search("layers.21"), next = search("linear layers.2 models");
    app.filter.text = "";
    const all = time(() => app.apply());
    const sort = (id) => time(() => app.table.toggle(app.table.all.find((column) => column.id === id)));
    return {first, next, all, error: sort("error"), layer: sort("layer")};
  });
  for (const name of ["first", "next", "all"]) assert.ok(times[name] < 200, `${name}: ${times[name]} ms`);
  for (const name of ["error", "layer"]) assert.ok(times[name] < 500, `${name}: ${times[name]} ms`);
}));

test("100,000 rows: a link opens a row in the middle and brings it into view", () => withPage("100000", async (page) => {
  assert.match(await page.textContent("#detail .count"), /#54321/);
  assert.ok((await rowsOf(page)).some((row) => row["#"] === "54321"));
  assert.ok(await page.locator("#row-54321").isVisible());
}, {hash: "#row=54321"}));

test("100,000 rows: step and rank filters combine, counts are exact", () => withPage("100000", async (page) => {
  await page.selectOption("#filter-step", "3");
  await page.selectOption("#filter-rank", "2");
  assert.equal(await countOf(page), "3,125 of 100,000 rows");
}));

test("every number on the page is the very number of the report", () => withPage("100000", async (page) => {
  // The last row's squared error is computed from the row's error alone, so that all digits can be checked.
  const [error, distance] = await page.evaluate(() => {
    const {report} = window.msprobeReport, at = report.columns.findIndex((column) => column.name === "cosine_distance");
    for (let row = 0; row < report.count; row++) {
      const value = report.at("error", row);
      if (value > 0 && value < Infinity) return [value, report.metrics[at].get(row)];
    }
  });
  assert.equal(distance, error * error / 2);
}));

test("many more rows than a browser can make tall are all reachable", () => withPage("100000", async (page) => {
  const seen = await page.evaluate(async () => {
    const {table} = window.msprobeReport, many = new Int32Array(1e6);
    many.forEach((_, i) => { many[i] = i % 100000; });
    many[many.length - 1] = 77;
    table.show(many);
    await new Promise(requestAnimationFrame);
    table.grid.scrollTop = table.grid.scrollHeight;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const rows = table.pool.filter((it) => !it.hidden).sort((a, b) => a.at - b.at), last = rows.at(-1);
    const box = table.grid.getBoundingClientRect(), row = last.getBoundingClientRect();
    return {row: last.row, at: last.at, inView: row.bottom <= box.bottom + 2 && row.top >= box.top};
  });
  assert.deepEqual(seen, {row: 77, at: 999999, inView: true});
}));
