// Five thousand campaigns: the list scrolls, sorts and can be used by keyboard.
import assert from "node:assert/strict";
import { test } from "node:test";
import { accessible, ask, faultless, open, setUp, settled, url, visit } from "./browser.mjs";

const many = 5000;

/** How many rows may be in the page at once. */
const most = 60;

const page = await open();
await setUp(page);

/** Makes campaigns over the API, some with numbers: number i of those has a ROAS of i + 1, and the last a spend of nothing. */
async function fill() {
  return page.evaluate(async (count) => {
    const send = async (path, body) => {
      const res = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
      if (!res.ok) throw new Error(`${path}: ${await res.text()}`);
      return (await res.json()).data;
    };
    const left = Array.from({ length: count }, (_, i) => i);
    const ids = [];
    const work = async () => {
      for (let i = left.shift(); i !== undefined; i = left.shift()) {
        ids[i] = (await send("/console/v1/campaigns", { name: `Campaign ${i}`, channels: ["search"] })).id;
      }
    };
    await Promise.all([work(), work(), work(), work()]);
    // The oldest have numbers, which are on the last page of the list as it opens.
    const date = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10);
    const rows = ids.slice(0, 30).map((campaign_id, i) => ({ date, campaign_id, channel: "search", spend: i === 29 ? 0 : 10, revenue: (i + 1) * 10 }));
    await send("/console/v1/ingest/metrics?source=shop", rows);
    return ids;
  }, many);
}

const ids = await fill();
const asked = [];
page.on("request", (r) => {
  if (r.url().startsWith(`${url}/console/v1/campaigns?`)) asked.push(r.url());
});

const rows = page.getByRole("grid", { name: "Campaigns" }).locator("[data-index]");
const bounded = async () => {
  const n = await rows.count();
  assert.ok(n > 0 && n <= most, `got ${n} rows in the page want 1 to ${most}`);
};

test("the list scrolls to its end", async () => {
  await visit(page, "/campaigns");
  await bounded();
  await rows.first().hover();
  const end = page.locator(`[data-index="${many - 1}"]`);
  while ((await end.count()) === 0) {
    await page.mouse.wheel(0, 20_000);
    await page.waitForTimeout(50);
    await bounded();
  }
  await page.getByText("5,000 campaigns", { exact: true }).waitFor();
  assert.equal(asked.length, many / 100, "each page is asked for once");
  faultless(page, "scrolling");
});

test("the worst campaign by ROAS is first, those without numbers last", async () => {
  await visit(page, "/campaigns?view=conversions");
  const heading = page.getByRole("columnheader", { name: "ROAS" });
  const first = page.locator('[data-index="0"]').getByRole("link");
  for (const [name, direction] of [["Campaign 28", "descending"], ["Campaign 0", "ascending"]]) {
    await heading.getByRole("button").click();
    await first.filter({ hasText: new RegExp(`^${name}$`) }).waitFor();
    assert.equal(await heading.getAttribute("aria-sort"), direction);
    await settled(page);
    const shown = await rows.locator("a").allInnerTexts();
    const want = Array.from({ length: 20 }, (_, i) => `Campaign ${direction === "ascending" ? i : 28 - i}`);
    assert.deepEqual(shown.slice(0, 20), want, `${direction}: the first rows`);
    // Campaign 29 spent nothing, so that it has no ROAS.
    const list = await ask(page, `/console/v1/campaigns?sort=metric&metric=roas&order=${direction === "ascending" ? "asc" : "desc"}&limit=100`);
    assert.ok(!list.slice(0, 29).some((c) => c.id === ids[29]), "a campaign without a value is among those with one");
  }
  await accessible(page, "five thousand campaigns, sorted");
  faultless(page, "sorting");
});

test("every request names the size of its page", () => {
  assert.ok(asked.length > many / 100);
  for (const at of asked) assert.equal(new URL(at).searchParams.get("limit"), "100", `${at}: got no limit of 100`);
});

test("rows are links, and the table is one Tab stop", async () => {
  await visit(page, "/campaigns?sort=roas&order=asc");
  const link = page.getByRole("link", { name: "Campaign 0", exact: true });
  assert.equal(await link.getAttribute("href"), `/campaigns/${ids[0]}`);
  const [tab] = await Promise.all([page.context().waitForEvent("page"), link.click({ modifiers: ["ControlOrMeta"] })]);
  // A click with the modifier opens a new tab, which is blank at first.
  await tab.waitForURL(`${url}/campaigns/${ids[0]}`);
  await tab.close();
  assert.equal(new URL(page.url()).pathname, "/campaigns", "and this one stays");

  const index = () => page.evaluate(() => document.activeElement.closest("[data-index]")?.dataset.index);
  await page.getByRole("columnheader").last().getByRole("button").focus();
  await page.keyboard.press("Tab");
  assert.equal(await index(), "0", "Tab comes to the first row");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.waitForFunction(() => document.activeElement.dataset.index === "2");
  await page.keyboard.press("Space");
  await page.getByText("1 selected").waitFor();
  for (let i = 0; i < 4; i++) await page.keyboard.press("PageDown");
  await page.waitForFunction(() => document.activeElement.dataset.index === "42");
  await bounded();
  // The checkbox, the link and the switch of the row, and then out of the table.
  for (let i = 0; i < 3; i++) {
    await page.keyboard.press("Tab");
    assert.equal(await index(), "42", `Tab ${i + 1} stays in the row`);
  }
  await page.keyboard.press("Tab");
  assert.equal(await index(), undefined, "Tab leaves the table");
  const last = page.getByRole("columnheader").last().getByRole("button");
  await last.focus();
  await page.keyboard.press("Tab");
  assert.equal(await index(), "42", "Tab comes back to the row");
  await page.keyboard.press("Shift+Tab");
  assert.equal(await last.evaluate((e) => e === document.activeElement), true, "Shift+Tab goes to the headings");
  await page.keyboard.press("Tab");
  await page.keyboard.press("j");
  await page.waitForFunction(() => document.activeElement.dataset.index === "43");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/campaigns\/cmp_/);
  faultless(page, "keyboard");
});
