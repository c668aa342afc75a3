// Comparisons: what stopped is shown, and every number says what it is compared with.
import assert from "node:assert/strict";
import { test } from "node:test";
import { faultless, signedIn, visit } from "./browser.mjs";

test("a chart by channel draws the previous period of every line", async () => {
  const page = await signedIn();
  const q = { metrics: ["spend"], dimensions: ["channel"], granularity: "week", compare: { to: "previous_period" } };
  await visit(page, `/analytics?q=${encodeURIComponent(JSON.stringify(q))}`);
  await page.locator("figure").getByRole("radio", { name: "Table" }).click();
  const chart = page.getByRole("region", { name: /as a table$/ });
  const heads = await chart.getByRole("columnheader").allInnerTexts();
  const lines = heads.slice(1);
  assert.ok(lines.length >= 2, `got the lines ${lines}`);
  for (let i = 0; i < lines.length; i += 2) assert.equal(lines[i + 1], `${lines[i]}, previous period`);
  const rows = page.getByRole("grid", { name: "Rows" });
  await rows.getByText(/^vs\. /).first().waitFor();
  faultless(page, "comparison");
});

test("the campaign table shows changes only where the period is compared", async () => {
  const page = await signedIn();
  await visit(page, "/campaigns");
  const table = page.getByRole("grid", { name: "Campaigns" });
  const change = table.getByText(/^(up|down) [+-]?[\d.,]+%$/);
  await change.first().waitFor();
  await visit(page, "/campaigns?compare=none");
  await table.getByRole("row").nth(1).waitFor();
  await page.getByText("Total", { exact: true }).waitFor();
  assert.equal(await change.count(), 0, "changes without a comparison");
  faultless(page, "campaigns");
});

test("the overview says which metric has changed", async () => {
  const page = await signedIn();
  await visit(page, "/");
  const table = page.getByRole("grid", { name: "Channels" });
  await table.getByRole("columnheader", { name: "ROAS change" }).waitFor();
  faultless(page, "overview");
});
