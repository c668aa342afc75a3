// What all stories share: a browser that notices everything that goes wrong in
// a page, and the way in.
import assert from "node:assert/strict";
import { createHash, X509Certificate } from "node:crypto";
import { existsSync } from "node:fs";
import { after } from "node:test";
import { connect } from "node:tls";
import axe from "axe-core";
import { chromium } from "playwright-core";

export const url = process.env.FANFARE_URL;
export const link = process.env.FANFARE_LINK;

/** The server's public key, for the browser to trust. To ignore what is wrong with a certificate would not do: passkeys then do not work. */
async function trusted() {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port, servername: hostname });
  await new Promise((done, failed) => socket.once("secureConnect", done).once("error", failed));
  const key = new X509Certificate(socket.getPeerCertificate().raw).publicKey.export({ type: "spki", format: "der" });
  socket.destroy();
  return createHash("sha256").update(key).digest("base64");
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell",
  // Newer browsers keep other sites from what runs on this machine. Servers
  // elsewhere are without that help, so attacks here get none either.
  // There is no screen, and drawing for one in software takes long.
  args: ["--no-sandbox", "--disable-gpu", "--disable-software-rasterizer", "--disable-gpu-compositing", "--disable-features=LocalNetworkAccessChecks", `--ignore-certificate-errors-spki-list=${await trusted()}`],
});
export const close = () => browser.close();
if (process.env.NODE_TEST_CONTEXT) after(close);

/** Opens a page of its own. What goes wrong in it is collected in page.faults. */
export async function open({ width = 1440, height = 900, theme = "light", locale = "en-US", state } = {}) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: "reduce",
    locale,
    timezoneId: "Europe/Berlin",
    storageState: state,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  page.faults = [];
  page.on("pageerror", (e) => page.faults.push(`error: ${e}`));
  page.on("console", (m) => {
    if (m.type() === "error") page.faults.push(`console: ${m.text()}`);
  });
  page.on("request", (r) => {
    const u = new URL(r.url());
    if (u.protocol.startsWith("http") && u.origin !== url) page.faults.push(`outside request: ${u}`);
  });
  // The machine may be busy: the demo reads numbers, and other tests run beside.
  page.setDefaultTimeout(300_000);
  return page;
}

/** A file that keeps the cookie between runs, for whoever works on pages. */
const kept = process.env.FANFARE_STATE;
let state = kept && existsSync(kept) ? kept : undefined;

/** Signs in by the one-time link that the server printed, once; later pages share the cookie. */
export async function signedIn(options = {}) {
  if (!state) {
    const page = await open();
    await page.goto(link);
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    state = await page.context().storageState({ path: kept });
    await page.context().close();
  }
  return open({ ...options, state });
}

/** Who owns a new server. */
export const owner = { name: "Ada", email: "ada@example.com", password: "correct horse battery staple" };

/** Sets a new server up by the one-time link that it has logged. */
export async function setUp(page) {
  await page.goto(link);
  await page.getByLabel("Your name").fill(owner.name);
  await page.getByLabel("Email").fill(owner.email);
  await page.getByLabel("Password", { exact: true }).fill(owner.password);
  await page.getByLabel("Workspace").fill("Acme");
  await accessible(page, "set-up");
  await page.getByRole("button", { name: "Set up" }).click();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
}

/** Goes to a page of the console and waits until it has settled. */
export async function visit(page, path) {
  await page.goto(url + path);
  await settled(page);
}

/** Waits until nothing is loading any more. */
export async function settled(page) {
  await page.waitForLoadState("networkidle");
  await page.waitForFunction(
    () => document.querySelector("#root > *") && !document.querySelector('.animate-shimmer, [aria-label=Loading], [aria-label="Wird geladen"]'),
  );
}

/** Presses keys, again if nothing comes of them: on a busy machine a page can be drawn before it listens to keys, and between two keys too much time can pass. */
export async function press(page, keys, done) {
  for (const last = Date.now() + 300_000; ; ) {
    for (const key of keys) await page.keyboard.press(key);
    try {
      return await done({ timeout: 10_000 });
    } catch (e) {
      if (Date.now() > last) throw e;
    }
  }
}

/** Changes the theme as the system would, and waits until all of the page has it. */
export async function dress(page, theme) {
  await page.emulateMedia({ colorScheme: theme });
  await page.waitForFunction((t) => document.documentElement.dataset.theme === t, theme);
  // Colours change by transitions, and those of children begin when their
  // parents' are over.
  await page.evaluate(async () => {
    const running = () => document.getAnimations().filter((a) => a instanceof CSSTransition);
    do {
      await Promise.allSettled(running().map((a) => a.finished));
      await new Promise(requestAnimationFrame);
    } while (running().length > 0);
  });
}

/** What the server answers at a path, to whoever is signed in. */
export const ask = (page, path) => page.evaluate(async (at) => (await (await fetch(at)).json()).data, path);

/** Waits until the server answers as wanted, and gives the answer. */
export async function until(page, path, wanted, patience = 300_000) {
  const end = Date.now() + patience;
  for (;;) {
    const data = await ask(page, path);
    if (wanted(data)) return data;
    assert.ok(Date.now() < end, `${path}: not as wanted in time: got ${JSON.stringify(data)}`);
    await page.waitForTimeout(500);
  }
}

const everyRule = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** What axe finds by the rules, and whether the page is wider than the window, or what is in a dialog than the dialog. */
export async function check(page, rules = everyRule) {
  // Choice: axe itself, without its wrapper for the driver: our pages have no
  // frames, and the wrapper takes three times as long.
  if (await page.evaluate(() => !window.axe)) await page.evaluate(axe.source);
  const { violations } = await page.evaluate((runOnly) => window.axe.run(document, { runOnly, resultTypes: ["violations"] }), rules);
  const told = violations.map((v) => `${v.id}: ${v.help}\n    ${v.nodes.map((n) => n.html.slice(0, 200)).join("\n    ")}`);
  const wider = await page.evaluate(() => {
    const rooms = [document.documentElement, ...document.querySelectorAll("[role=dialog] > *")];
    return Math.max(...rooms.map((e) => e.scrollWidth - e.clientWidth));
  });
  if (wider > 0) told.push(`something is ${wider} px wider than its room`);
  return told;
}

/** Fails where a page cannot be used by everybody. */
export async function accessible(page, what, rules) {
  const told = await check(page, rules);
  assert.deepEqual(told, [], `${what}: got ${told.length} violations want 0`);
}

/** Fails where anything went wrong in the page so far. */
export function faultless(page, what) {
  assert.deepEqual(page.faults, [], `${what}: got ${page.faults.length} faults want 0`);
}
