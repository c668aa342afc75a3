// Pictures of every page for people to look at: node shots.mjs FOLDER [filter].
// FANFARE_URL and FANFARE_LINK say where, as for the tests. It prints what goes
// wrong in a page on the way.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { check, close, signedIn, visit } from "./browser.mjs";
import { nameOf, pages } from "./pages.mjs";

const [folder = "shots", filter = ""] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const first = await signedIn();
await visit(first, "/settings/appearance");
const paths = (await pages(first)).filter((p) => nameOf(p).includes(filter));
for (const theme of ["light", "dark"]) {
  for (const width of [1440, 390]) {
    const page = await signedIn({ theme, width });
    for (const path of paths) {
      await visit(page, path);
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      await page.setViewportSize({ width, height: Math.min(Math.max(height, 800), 4000) });
      await page.waitForTimeout(300);
      await page.screenshot({ path: join(folder, `${nameOf(path)}-${width}-${theme}.png`) });
      await page.setViewportSize({ width, height: 900 });
      const found = [...page.faults.splice(0), ...(await check(page))];
      if (found.length) console.log(`${path} ${width} ${theme}\n  ${found.join("\n  ")}`);
    }
    await page.context().close();
  }
}
await close();
