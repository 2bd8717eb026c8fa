// One browser for all tests of a file; every page is watched for errors and for requests beyond the file itself.
import {after, before} from "node:test";
import assert from "node:assert/strict";
import {chromium} from "playwright-core";

const reports = process.env.MSPROBE_REPORTS;
let browser = null;

export function useBrowser() {
  before(async () => {
    browser = await chromium.launch({
      executablePath: process.env.MSPROBE_CHROMIUM,
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync"],
    });
  });
  after(async () => { await browser?.close(); });
}

export async function withPage(name, act, {hash = "", ...options} = {}) {
  const context = await browser.newContext({viewport: {width: 1400, height: 900}, ...options});
  const page = await context.newPage(), trouble = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) trouble.push(message.text()); });
  page.on("pageerror", (error) => trouble.push(String(error)));
  page.on("dialog", (dialog) => { trouble.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => { if (!request.url().startsWith("file:") && !request.url().startsWith("data:")) trouble.push(request.url()); });
  const url = `file://${reports}/${name}.html`;
  await page.goto(url + hash);
  await page.waitForFunction(() => window.msprobeReport !== undefined);
  await settle(page);
  await act(page);
  assert.deepEqual(trouble, [], "no error, no dialog, no request");
  await context.close();
}

// Two frames: what was asked for has been drawn.
export const settle = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// What a person sees of the table, from the top: [{index, verdict, layer, ...}] by heading.
export const rowsOf = (page) => page.evaluate(() => {
  const titles = [...document.querySelectorAll("#grid-head [role=columnheader]")].map((it) => it.textContent);
  return [...document.querySelectorAll("#grid-body .row")].filter((row) => !row.hidden)
    .sort((a, b) => a.at - b.at)
    .map((row) => Object.fromEntries([...row.children].map((cell, i) => [titles[i], cell.textContent])));
});
export const countOf = (page) => page.textContent("#count");
