// Analytics: every way from one question to the next, and what happens where an
// answer cannot be drawn.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { faultless, signedIn, visit } from "./browser.mjs";

/** The links to the built-in queries. */
const starters = (page) => page.getByRole("navigation", { name: "Query templates" }).getByRole("link");

/** What is shown: the heading over the chart says which query was answered. */
const answer = (page) => page.locator("main section.card h2:not(.sr-only)").first();

/** Fails where an error has replaced anything. */
async function whole(page) {
  assert.equal(await page.getByRole("navigation", { name: "Main" }).isVisible(), true, "the shell is gone");
  assert.equal(await page.getByText("Something went wrong").count(), 0, "a card failed");
}

describe("every way", { concurrency: true }, () => {
  test("each built-in query follows each other one", async () => {
    const page = await signedIn();
    await visit(page, "/analytics");
    const links = await starters(page).evaluateAll((list) => list.map((a) => [a.textContent, a.getAttribute("href")]));
    assert.ok(links.length >= 5, `got ${links.length} built-in queries want at least 5`);
    const headings = new Map();
    for (const [name, href] of links) {
      await visit(page, href);
      headings.set(name, await answer(page).innerText());
    }
    const open = async (name) => {
      await starters(page).filter({ hasText: name }).click();
      await answer(page).filter({ hasText: headings.get(name) }).waitFor();
      await whole(page);
    };
    // A walk that goes from each query to each other one and back once.
    for (const [i, [from]] of links.entries()) {
      await open(from);
      for (const [to] of links.slice(i + 1)) {
        await open(to);
        await open(from);
      }
    }
    faultless(page, "all pairs");
  });

  test("each granularity follows each other one", async () => {
    const page = await signedIn();
    await visit(page, "/analytics");
    for (const start of ["Campaign efficiency", "This month vs. last year"]) {
      await starters(page).filter({ hasText: start }).click();
      const select = page.getByRole("region", { name: "Break down by" }).getByRole("button", { name: /Over time/ });
      await select.click();
      const names = await page.getByRole("option").allInnerTexts();
      await page.keyboard.press("Escape");
      assert.ok(names.length >= 4, `got ${names.length} granularities want at least 4`);
      const [all, ...parts] = names;
      for (const name of [all, ...parts.flatMap((part) => [part, all]), ...parts, ...parts.toReversed()]) {
        await select.click();
        await page.getByRole("option", { name, exact: true }).click();
        const each = { "By day": "daily", "By week": "weekly", "By month": "monthly", "By quarter": "quarterly", "By year": "yearly" }[name];
        const heading = name === all ? /^((?!, (daily|weekly|monthly|quarterly|yearly)$).)*$/ : new RegExp(`, ${each}$`);
        await answer(page).filter({ hasText: heading }).waitFor();
        await whole(page);
      }
    }
    faultless(page, "granularities");
  });
});

test("an answer that cannot be drawn stays inside its card", async () => {
  const page = await signedIn();
  await page.route("**/console/v1/analytics/query", async (route) => {
    const response = await route.fetch();
    const answer = await response.json();
    for (const row of answer.data) row.dimensions.date = "not a day";
    await route.fulfill({ response, json: answer });
  });
  await visit(page, "/analytics");
  await page.getByText("Something went wrong").first().waitFor();
  assert.equal(await page.getByRole("navigation", { name: "Main" }).isVisible(), true, "the shell is gone");
  assert.equal(await page.getByRole("heading", { name: "Analytics" }).isVisible(), true, "the page is gone");
  assert.equal(await page.getByRole("region", { name: "Metrics" }).isVisible(), true, "the builder is gone");
  await page.unroute("**/console/v1/analytics/query");
  await starters(page).filter({ hasText: "Results by weekday" }).click();
  await answer(page).filter({ hasText: /^Conversions/ }).waitFor();
  await whole(page);
});
