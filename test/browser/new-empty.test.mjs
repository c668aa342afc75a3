// The same pages on a server with nothing in it.
import { test } from "node:test";
import { accessible, faultless, open, setUp, visit } from "./browser.mjs";
import { nameOf, pages } from "./pages.mjs";

test("every page of an empty workspace", async () => {
  const page = await open();
  await setUp(page);
  const state = await page.context().storageState();
  await Promise.all([["light", 1440], ["dark", 390]].map(async ([theme, width]) => {
    const shown = await open({ theme, state, width });
    await visit(shown, "/");
    for (const path of await pages(shown)) {
      await visit(shown, path);
      await accessible(shown, `${nameOf(path)}, empty, ${theme}`);
    }
    faultless(shown, `empty, ${theme}`);
  }));
});
