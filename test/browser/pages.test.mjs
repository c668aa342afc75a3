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
        await accessible(page, `${nameOf(path)} at ${width} px, dark`);
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

test("print leaves out what cannot be printed", async () => {
  const page = await signedIn();
  await visit(page, "/");
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.getByRole("navigation", { name: "Main" }).isVisible(), false);
  assert.equal(await page.getByRole("heading", { name: "Overview" }).isVisible(), true);
});
