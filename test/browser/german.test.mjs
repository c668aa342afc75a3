// The console follows the language of the browser, and a setting overrides it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { faultless, signedIn, visit } from "./browser.mjs";

const language = (page) => page.evaluate(() => document.documentElement.lang);

test("a browser in German gets German, and English on request", async () => {
  const page = await signedIn({ locale: "de-DE" });
  for (const [path, heading] of [["/", "Übersicht"], ["/campaigns", "Kampagnen"], ["/analytics", "Analysen"], ["/settings/appearance", "Darstellung"]]) {
    await visit(page, path);
    await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
    assert.equal(await language(page), "de", path);
  }
  await page.getByRole("button", { name: /^Sprache|Sprache$/ }).click();
  await page.getByRole("option", { name: "English" }).click();
  await page.getByRole("heading", { level: 1, name: "Appearance" }).waitFor();
  assert.equal(await language(page), "en");
  faultless(page, "two languages");
});

test("a browser in English loads no German", async () => {
  const page = await signedIn();
  const german = [];
  page.on("request", (r) => {
    if (/\/assets\/de-/.test(r.url())) german.push(r.url());
  });
  await visit(page, "/");
  assert.deepEqual(german, []);
});
