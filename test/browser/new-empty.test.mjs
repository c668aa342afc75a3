// The same pages on a server with nothing in it.
import { test } from "node:test";
import { accessible, faultless, link, open, visit } from "./browser.mjs";
import { nameOf, pages } from "./pages.mjs";

test("every page of an empty workspace", async () => {
  const page = await open();
  await page.goto(link);
  await page.getByLabel("Your name").fill("Ada");
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Password", { exact: true }).fill("correct horse battery staple");
  await page.getByLabel("Workspace").fill("Acme");
  await page.getByRole("button", { name: "Set up" }).click();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
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
