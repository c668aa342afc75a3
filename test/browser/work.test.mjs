// Syncing and asking, on the demo's data.
import assert from "node:assert/strict";
import { test } from "node:test";
import { accessible, faultless, settled, signedIn, until, visit } from "./browser.mjs";

/** Waits until no run of a connection is under way, and gives all: the first one takes its time. */
const idle = (page, id) => until(page, `/console/v1/connections/${id}/syncs?limit=100`, (runs) => runs.every((r) => r.finished_at), 300_000);

test("sync now, with its progress", async () => {
  const page = await signedIn();
  await visit(page, "/connections");
  await page.getByRole("row", { name: "Northwind sandbox" }).click();
  await page.waitForURL(/\/connections\/con_/);
  await settled(page);
  const id = page.url().match(/con_\w+/)[0];
  // The button starts nothing while another run is under way.
  const before = await idle(page, id);
  await page.getByRole("button", { name: "Sync now", exact: true }).click();
  await page.getByText(/Sync started|already in progress/).first().waitFor();
  const after = await idle(page, id);
  assert.ok(after.length > before.length, `got ${after.length} runs want more than ${before.length}`);
  assert.equal(after[0].status, "succeeded");
  faultless(page, "sync");
});

test("build a query", async () => {
  const page = await signedIn();
  await visit(page, "/analytics");
  await page.getByRole("button", { name: "Choose metrics" }).click();
  await page.getByRole("option", { name: /^Revenue/ }).click();
  await page.keyboard.press("Escape");
  await settled(page);
  const asked = JSON.parse(await page.evaluate(() => new URLSearchParams(location.search).get("q")));
  assert.ok(asked.metrics.includes("revenue"), `got ${asked.metrics} want revenue among them`);
  const total = await page.evaluate(async (q) => {
    const r = await fetch("/console/v1/analytics/query", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(q) });
    return (await r.json()).meta.totals.metrics.revenue;
  }, asked);
  const shown = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" }).format(total);
  await page.getByText(shown).first().waitFor();
  // Whoever opens the link sees the same.
  const other = await signedIn();
  await other.goto(page.url());
  await settled(other);
  await other.getByText(shown).first().waitFor();
  await accessible(other, "a query");
  faultless(page, "query");
});
