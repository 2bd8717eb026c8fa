import {test} from "node:test";
import assert from "node:assert/strict";
import {countOf, rowsOf, settle, useBrowser, withPage} from "./browser.js";

useBrowser();

test("the page says the verdict, the first bad layer, by how much and where, before anything else", () => withPage("small", async (page) => {
  assert.equal(await page.textContent("#verdict"), "FAIL");
  assert.match(await page.textContent("#hero-title"), /First bad layer:.*Module\.blocks\.0\.ln2\.LayerNorm/);
  const facts = await page.textContent("#hero-facts");
  for (const part of ["output 0", "error 0.031 > 1e-05", "models.py:41 in forward", "error is born here"]) assert.ok(facts.includes(part), part);
  assert.match(await page.title(), /FAIL: Module\.blocks\.0\.ln2\.LayerNorm/);
}));

test("findings come in the report's order and link to their rows", () => withPage("small", async (page) => {
  const texts = await page.locator("#findings .text").allTextContents();
  assert.match(texts[0], /Settings differ/);
  assert.match(texts[1], /The error is born/);
  await page.locator("#findings .link").first().click();
  assert.match(await page.textContent("#detail-title"), /ln2\.LayerNorm\.forward\.0\.parameter\.weight/);
}));

test("searching shows the rows that hold every word, and Escape clears it", () => withPage("small", async (page) => {
  await page.keyboard.press("/");
  await page.keyboard.type("ln2 output");
  await page.waitForFunction(() => document.getElementById("count").textContent === "1 of 12 rows");
  await settle(page);
  assert.equal((await rowsOf(page))[0]["#"], "6");
  await page.keyboard.press("Escape");
  await settle(page);
  assert.equal(await countOf(page), "12 rows");
  await page.fill("#search", "no such layer");
  await page.waitForFunction(() => !document.getElementById("nothing").hidden);
  await page.click("#reset");
  assert.equal(await countOf(page), "12 rows");
}));

test("reasons and error codes are found, too", () => withPage("small", async (page) => {
  await page.fill("#search", "e4002 short");
  await page.waitForFunction(() => document.getElementById("count").textContent === "1 of 12 rows");
}));

test("sorting by error puts NaN and infinity first and rows without an error last, both ways", () => withPage("small", async (page) => {
  const errors = async () => (await rowsOf(page)).map((row) => row.error);
  await page.click("#grid-head button:text-is('error')");
  await settle(page);
  const falling = await errors();
  assert.deepEqual(new Set(falling.slice(0, 2)), new Set(["NaN", "inf"]));
  assert.equal(falling[2], "0.031");
  assert.deepEqual(falling.slice(-2), ["–", "–"]);
  assert.equal(await page.getAttribute("#grid-head [role=columnheader]:has(button:text-is('error'))", "aria-sort"), "descending");
  await page.click("#grid-head button:text-is('error')");
  await settle(page);
  const rising = await errors();
  assert.equal(rising[0], "0");
  assert.deepEqual(rising.slice(-2), ["–", "–"]);
  await page.click("#grid-head button:text-is('error')");
  await settle(page);
  assert.deepEqual((await rowsOf(page)).map((row) => row["#"]), [...Array(12).keys()].map(String));
}));

test("verdicts filter together with the other filters, and counts are exact", () => withPage("small", async (page) => {
  await page.click(".chip[data-verdict=fail]");
  assert.equal(await countOf(page), "4 of 12 rows");
  await page.click(".chip[data-verdict=warn]");
  assert.equal(await countOf(page), "5 of 12 rows");
  await page.selectOption("#filter-direction", "gradient");
  assert.equal(await countOf(page), "1 of 12 rows");
  await page.click("#reset");
  await page.click(".tile[data-verdict=error]");
  assert.equal(await countOf(page), "1 of 12 rows");
}));

test("the language switches everywhere at once, and the report's own language is the first", () => withPage("small", async (page) => {
  await page.click("#language");
  await settle(page);
  assert.equal(await page.textContent("#verdict"), "失败");
  assert.match(await page.textContent("#findings"), /第一步的设置不一致/);
  assert.match(await page.textContent("#findings"), /1 tensor could not be read/);
  assert.match(await page.textContent("#grid-head"), /判定.*误差.*阈值/);
  assert.equal(await page.getAttribute("html", "lang"), "zh-CN");
  const left = await page.evaluate(() => [...document.querySelectorAll("[data-t]")].filter((it) => !it.closest("[hidden]") && /^[a-z_]+$/.test(it.textContent)).map((it) => it.dataset.t));
  assert.deepEqual(left, []);
  await withPage("chinese", async (chinese) => assert.equal(await chinese.textContent("#verdict"), "失败"));
}));

test("both languages have the same words", () => withPage("small", async (page) => {
  const text = await page.evaluate(() => [...document.scripts].at(-1).textContent);
  const keys = (name) => new Set([...text.split(`  ${name}: {`)[1].split("\n  },")[0].matchAll(/(?:^|[{,]\s*|\n\s+)([a-z_]+): "/g)].map((it) => it[1]));
  assert.ok(keys("en").size > 80);
  assert.deepEqual(keys("en"), keys("zh"));
}));

test("a row opens with all its metrics, their meaning and both sides", () => withPage("small", async (page) => {
  await page.locator(".row", {hasText: "0.031"}).first().click();
  const detail = await page.textContent("#detail");
  for (const part of ["0.00048049999999999997", "1 - cosine, computed without cancellation", "15.249595642089844", "15.264845237731931", "[2, 6, 8]", "auto: f32 upstream", "relative error above the threshold"]) {
    assert.ok(detail.includes(part), part);
  }
  assert.ok(!detail.includes("internal"));
  assert.match(page.url(), /#row=6$/);
  await page.keyboard.press("Escape");
  assert.ok(await page.isHidden("#detail"));
}));

test("a tensor that one side does not have says so", () => withPage("small", async (page) => {
  await page.evaluate(() => window.msprobeReport.open(11));
  assert.match(await page.textContent("#detail"), /only in the reference.*targetnot there/s);
}));

test("a link to a row opens it", () => withPage("small", async (page) => {
  assert.match(await page.textContent("#detail-title"), /^Module\.blocks\.0\.mlp/);
  await page.evaluate(() => { location.hash = "#row=3"; });
  await page.waitForFunction(() => document.getElementById("detail-title").textContent.includes("attn"));
  await page.evaluate(() => { location.hash = "#row=999999"; });
}, {hash: "#row=7"}));

test("the table starts at the row that the verdict names", () => withPage("100000", async (page) => {
  const bad = await page.evaluate(() => window.msprobeReport.report.first_bad_row);
  await page.waitForSelector(`#row-${bad}[aria-selected=true]`);
  assert.ok(await page.isHidden("#detail"));
  assert.ok(!page.url().includes("#"));
}));

test("arrows, Enter and Escape work without a mouse", () => withPage("equal", async (page) => {
  await page.focus("#grid");
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
  await settle(page);
  assert.equal(await page.getAttribute("#grid", "aria-activedescendant"), "row-2");
  assert.match(await page.textContent("#detail .count"), /#2/);
  await page.keyboard.press("ArrowDown");
  assert.match(await page.textContent("#detail .count"), /#3/);
  await page.keyboard.press("End");
  assert.match(await page.textContent("#detail .count"), /#5/);
  await page.keyboard.press("Escape");
  assert.ok(await page.isHidden("#detail"));
}));

test("pointing at the chart names the layer, clicking opens its row, also for infinity", () => withPage("small", async (page) => {
  for (const [row, layer] of [[6, "Module.blocks.0.ln2.LayerNorm"], [8, "Module.head.Linear"]]) {
    const [x, y] = await page.evaluate((it) => {
      const chart = window.msprobeReport.chart, box = chart.box.getBoundingClientRect();
      return [box.left + chart.x(chart.find(it)), box.top + chart.y(chart.report.at("error", it))];
    }, row);
    await page.mouse.move(x, y);
    assert.equal(await page.textContent("#tip b"), layer);
    await page.mouse.click(x, y);
    assert.match(await page.textContent("#detail .count"), new RegExp(`#${row}$`));
    await page.keyboard.press("Escape");
    await settle(page);
  }
}));

test("dragging on the chart zooms in, and back", () => withPage("small", async (page) => {
  const box = await page.locator("#chart").boundingBox();
  await page.mouse.move(box.x + box.width * .5, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * .9, box.y + 100, {steps: 4});
  await page.mouse.up();
  await settle(page);
  assert.ok(await page.isVisible("#zoom-out"));
  assert.ok(await page.isHidden("#detail"));
  assert.ok(await page.evaluate(() => window.msprobeReport.chart.last - window.msprobeReport.chart.first) < 7);
  await page.click("#zoom-out");
  assert.ok(await page.isHidden("#zoom-out"));
}));

test("columns can be added and are sorted like the others", () => withPage("small", async (page) => {
  await page.click("#column-menu summary");
  await page.locator("#column-list label", {hasText: /^sqnr_db$/}).click();
  await page.click("#grid-head button:text-is('sqnr_db')");
  await settle(page);
  assert.equal((await rowsOf(page))[0].sqnr_db, "inf");
}));

for (const [name, words] of [["equal", "Every tensor is equal"], ["single", "Every tensor is equal"], ["empty", "No pair of tensors could be judged"]]) {
  test(`a report that is ${name} draws without a fault`, () => withPage(name, async (page) => {
    assert.equal(await page.textContent("#hero-title"), words);
    assert.equal((await rowsOf(page)).length, {equal: 6, single: 1, empty: 0}[name]);
    const marks = await page.evaluate(() => { const c = window.msprobeReport.chart; return c.rows.length === 0 || Number.isFinite(c.x(0)) && Number.isFinite(c.y(0)); });
    assert.ok(marks);
  }));
}

test("hostile names are text: nothing runs, nothing turns around, all are there", () => withPage("hostile", async (page) => {
  assert.equal(await page.locator("img, b:has(script), i b").count(), 0);
  const rows = await rowsOf(page);
  assert.equal(rows.length, 17);
  assert.equal(rows[0].layer, "</script><img src=x onerror=alert(1)>");
  assert.equal(rows[6].layer, "line\\nbreak\\r\\ttab");
  assert.ok(rows[9].layer.startsWith("\\u202egnp"));
  assert.equal(rows[10].layer, "层名.卷积.前向\\u2028\\u2029&amp;");
  for (let row = 0; row < 17; row++) {
    await page.evaluate((it) => window.msprobeReport.open(it), row);
    assert.equal(await page.locator("#detail img, #detail script").count(), 0);
  }
  await page.click("#about-button");
  assert.match(await page.textContent("#inputs"), /<img src=x onerror=alert\(2\)>/);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, "300 characters do not make the page wider than the window");
}));

test("in a narrow window nothing but the table scrolls sideways", () => withPage("hostile", async (page) => {
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
}, {viewport: {width: 380, height: 800}}));

test("light and dark follow the system and the button", () => withPage("small", async (page) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.click("#theme");
  assert.notEqual(await ground(), dark);
}, {colorScheme: "dark"}));

test("text has enough contrast in light and dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    await withPage("small", async (page) => {
      const low = await page.evaluate(() => {
        const style = getComputedStyle(document.documentElement), color = (name) => style.getPropertyValue("--" + name).trim();
        const light = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((v) => (v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4))
          .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
        const ratio = (a, b) => { const [x, y] = [light(color(a)), light(color(b))].sort((p, q) => q - p); return (x + .05) / (y + .05); };
        return ["text", "soft", "accent", "pass", "warn", "fail", "error"].filter((name) => ratio(name, "card") < 4.5);
      });
      assert.deepEqual(low, []);
    }, {colorScheme});
  }
});

test("what can be used has a name for those who cannot see it", () => withPage("small", async (page) => {
  const nameless = await page.evaluate(() => [...document.querySelectorAll("button, input, select, canvas[role], [role=grid], [role=dialog], [role=group]")]
    .filter((it) => !it.closest("[hidden]") && !(it.textContent.trim() || it.getAttribute("aria-label") || it.getAttribute("aria-labelledby") || it.closest("label"))).map((it) => it.outerHTML));
  assert.deepEqual(nameless, []);
}));
