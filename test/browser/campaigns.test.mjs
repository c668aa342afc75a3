// Campaigns in the console: what the switch does, the server has done.
import assert from "node:assert/strict";
import { test } from "node:test";
import { accessible, ask, faultless, press, settled, signedIn, until, visit } from "./browser.mjs";

async function campaign(page, status) {
  const list = await ask(page, `/console/v1/campaigns?status=${status}&limit=100`);
  return list.find((c) => c.delivery.status !== "pending_start") ?? list[0];
}

/** Waits until the server says so. */
const becomes = (page, id, status) => until(page, `/console/v1/campaigns/${id}`, (c) => c.status === status);

test("pause, undo, resume", async () => {
  const page = await signedIn();
  await visit(page, "/campaigns");
  const c = await campaign(page, "active");
  const toggle = page.getByRole("switch", { name: `${c.name} is running` });
  await toggle.press("Space");
  await becomes(page, c.id, "paused");
  await page.getByRole("button", { name: "Undo" }).click();
  await becomes(page, c.id, "active");
  await toggle.press("Space");
  await becomes(page, c.id, "paused");
  await toggle.press("Space");
  await becomes(page, c.id, "active");
  faultless(page, "campaigns");
});

test("create, see what is missing, launch", async () => {
  const page = await signedIn();
  await visit(page, "/campaigns?new=1");
  const dialog = page.getByRole("dialog");
  await accessible(page, "new campaign");
  await dialog.getByLabel("Name").fill("Spring sale");
  await dialog.getByRole("checkbox", { name: "Search", exact: true }).press("Space");
  await dialog.getByRole("button", { name: /Type$/ }).click();
  await page.getByRole("option", { name: "Daily" }).click();
  await dialog.getByLabel("Amount").fill("25");
  await dialog.getByRole("button", { name: /^Create/ }).click();
  await page.getByText("Spring sale created as a draft.").waitFor();
  await page.waitForURL(/\/campaigns\/cmp_/);
  await settled(page);
  await page.getByRole("heading", { name: "Spring sale" }).waitFor();
  await page.getByRole("button", { name: "Launch", exact: true }).click();
  const check = page.getByRole("dialog");
  await check.getByText("No platform campaign is linked, so nothing delivers.").waitFor();
  assert.equal(await check.getByText("No delivery issues").count(), 0, "the check says that nothing is wrong");
  assert.equal(await check.getByRole("link", { name: "Link platform campaign" }).getAttribute("href"), "/connections");
  await accessible(page, "launch check-list");
  await check.getByRole("button", { name: "Launch anyway" }).click();
  await becomes(page, page.url().split("/").pop(), "active");
  await page.getByRole("main").getByText("Blocked", { exact: true }).first().waitFor();
  await visit(page, "/campaigns?q=Spring+sale");
  await page.getByRole("row", { name: "Spring sale" }).getByText("Blocked", { exact: true }).waitFor();
  faultless(page, "create and launch");
});

test("the table by keyboard, and bulk", async () => {
  const page = await signedIn();
  await visit(page, "/campaigns?status=active");
  await page.getByRole("grid", { name: /Campaigns/ }).waitFor();
  const paused = "/console/v1/campaigns?status=paused&limit=100";
  const before = (await ask(page, paused)).length;
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.getByText(/2 selected/).waitFor();
  await page.getByRole("button", { name: /^Pause/ }).first().click();
  const confirm = page.getByRole("dialog").getByRole("button", { name: /Pause/ });
  if (await confirm.isVisible().catch(() => false)) await confirm.click();
  await until(page, paused, (list) => list.length === before + 2);
  faultless(page, "bulk");
});

test("⌘K goes anywhere", async () => {
  const page = await signedIn();
  await visit(page, "/");
  await press(page, ["Control+k"], (o) => page.getByRole("dialog", { name: "Search or jump to" }).waitFor(o));
  await accessible(page, "palette");
  await page.keyboard.type("keys");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/settings/api/keys");
  await page.keyboard.press("Escape");
  await page.locator("main").focus();
  await press(page, ["g", "c"], (o) => page.waitForURL("**/campaigns", o));
});
