// Every page, in both themes and two widths: nothing goes wrong in it, anybody
// can use it, and nothing comes from elsewhere.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { accessible, dress, faultless, signedIn, url, visit } from "./browser.mjs";
import { nameOf, pages } from "./pages.mjs";

const first = await signedIn();
await visit(first, "/settings/appearance");
const paths = await pages(first);

describe("every page", { concurrency: true }, () => {
  for (const width of [1440, 390]) {
    test(`${width} px`, async () => {
      const page = await signedIn({ width });
      for (const path of paths) {
        await visit(page, path);
        await dress(page, "light");
        await accessible(page, `${nameOf(path)} at ${width} px`);
        await dress(page, "dark");
        // The other theme changes colors alone.
        await accessible(page, `${nameOf(path)} at ${width} px, dark`, ["color-contrast"]);
      }
      faultless(page, `${width} px`);
    });
  }
});

test("dialogs on a phone", async () => {
  const page = await signedIn({ width: 390, height: 844 });
  for (const path of ["/campaigns?new=1", "/creative?new=1", "/audiences?new=1", "/connections?new=1", "/connections?import=1", "/settings/api/keys?new=1"]) {
    await visit(page, path);
    await page.getByRole("dialog").waitFor();
    await accessible(page, path);
  }
  faultless(page, "dialogs");
});

test("the documentation", async () => {
  const page = await signedIn();
  for (const path of ["/docs", "/docs/errors", "/docs/changelog", "/docs/guides/getting-started"]) {
    await page.goto(url + path);
    await accessible(page, path);
  }
  faultless(page, "documentation");
});

test("every page has a title of its own", async () => {
  const page = await signedIn();
  const titles = new Map();
  for (const path of [...paths, "/nosuch", "/campaigns/cmp_nosuch"]) {
    await visit(page, path);
    const heading = await page.getByRole("heading", { level: 1 }).or(page.getByText("Page not found", { exact: true })).first().innerText();
    const title = await page.title();
    assert.equal(title, `${heading} · Fanfare`, `${path}: the title names the page`);
    assert.equal(titles.get(title), undefined, `${path} has the same title as ${titles.get(title)}`);
    titles.set(title, path);
  }
});

test("the names in tables are links", async () => {
  const page = await signedIn();
  for (const path of ["/campaigns", "/audiences", "/connections", "/creative?view=table"]) {
    await visit(page, path);
    const link = page.getByRole("grid").getByRole("rowheader").getByRole("link").first();
    const href = await link.getAttribute("href");
    assert.ok(/_\w+$/.test(href) && href.startsWith(`${path.replace(/\?.*/, "")}/`), `${path}: got a link to ${href}`);
    const [tab] = await Promise.all([page.context().waitForEvent("page"), link.click({ modifiers: ["ControlOrMeta"] })]);
    // A click with the modifier opens the record in a new tab, which is blank at first.
    await tab.waitForURL(url + href);
    await tab.close();
    assert.equal(new URL(page.url()).pathname, path.replace(/\?.*/, ""), `${path}: and this tab stays`);
    assert.equal(page.context().pages().length, 1, `${path}: one tab is opened, not two`);
    await link.click();
    await page.waitForURL(url + href);
  }
  faultless(page, "links");
});

test("print leaves out what cannot be printed and uses the whole width", async () => {
  const page = await signedIn();
  for (const path of ["/", "/campaigns", "/analytics", "/settings/members"]) {
    await visit(page, path);
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.getByRole("navigation", { name: "Main" }).isVisible(), false);
    assert.equal(await page.getByRole("heading", { level: 1 }).isVisible(), true);
    const { main, card } = await page.evaluate(() => ({
      main: document.querySelector("main").getBoundingClientRect().width,
      card: Math.max(...[...document.querySelectorAll(".card")].map((e) => e.getBoundingClientRect().width)),
    }));
    assert.equal(main, 1440, `${path}: the page is ${main} px wide on paper, want all 1440`);
    const cut = await page.evaluate(() => [...document.querySelectorAll(".card *")].filter((e) => e.scrollHeight > e.clientHeight + 2 && getComputedStyle(e).overflowY === "auto").length);
    assert.equal(cut, 0, `${path}: ${cut} boxes are cut on paper`);
    assert.ok(card > 850, `${path}: the widest card is ${card} px wide on paper, want more than 850`);
    await page.emulateMedia({ media: "screen" });
  }
});
