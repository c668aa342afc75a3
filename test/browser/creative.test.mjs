// Facts in, an ad out: the form, corrections, and work with the variants.
import assert from "node:assert/strict";
import { test } from "node:test";
import { accessible, ask, dress, faultless, settled, signedIn, until, visit } from "./browser.mjs";

const text = "Kava Bar\n\nOat milk latte, 20% off until Sunday, for students. Free refills. Rated 4.8 by 2,100 guests.";

test("a text fills the form, and corrected facts make the ad", async () => {
  const page = await signedIn();
  await visit(page, "/creative?new=1");
  const dialog = page.getByRole("dialog");
  await accessible(page, "the empty form");
  // Too little: the fields that help are named, with the first one in focus.
  await dialog.getByLabel("Price", { exact: true }).fill("$4");
  await dialog.getByRole("button", { name: "Generate", exact: true }).click();
  const alert = dialog.getByRole("alert");
  await alert.filter({ hasText: "Too little is known to write an ad" }).waitFor();
  const told = await dialog.innerText();
  assert.ok(!/brief\.|_not_|call_to_action/.test(told), `got an API name in ${told}`);
  await dialog.getByLabel("Product", { exact: true }).and(dialog.locator("[aria-invalid=true]:focus")).waitFor();
  await accessible(page, "the form with errors");
  await dialog.getByLabel("Price", { exact: true }).fill("");
  // The text fills it; by keyboard.
  await dialog.getByLabel("Paste a text").fill(text);
  await dialog.getByRole("button", { name: "Fill in the form" }).press("Enter");
  await dialog.getByText(/facts were found/).waitFor();
  const offer = dialog.getByLabel("Offer", { exact: true });
  assert.match(await offer.inputValue(), /20% off/);
  await dialog.getByText("From the text:").first().waitFor();
  await accessible(page, "the filled form");
  await dress(page, "dark");
  await accessible(page, "the filled form in the dark");
  await dress(page, "light");
  await page.setViewportSize({ width: 360, height: 740 });
  await accessible(page, "the filled form on a phone");
  await page.setViewportSize({ width: 1440, height: 900 });
  await offer.fill("25% off");
  await dialog.getByRole("button", { name: "Generate", exact: true }).click();
  await dialog.getByText("variants are ready").waitFor();
  await dialog.getByText("25% off").first().waitFor();
  await accessible(page, "the result with its facts");
  // Corrected once more, from the result.
  await dialog.getByRole("button", { name: "Correct the facts" }).click();
  await dialog.getByLabel("Offer", { exact: true }).fill("30% off");
  await dialog.getByRole("button", { name: "Generate again" }).click();
  await dialog.getByText("variants are ready").waitFor();
  await dialog.getByRole("link", { name: "Open" }).click();
  await page.waitForURL(/\/creative\/crv_/);
  await settled(page);
  await page.getByText("30% off").first().waitFor();
  await accessible(page, "a fresh creative");
  const id = page.url().match(/crv_\w+/)[0];
  const c = await ask(page, `/console/v1/creative/${id}`);
  assert.equal(c.generation.brief.offer, "30% off");
  assert.equal(c.generation.prompt, "");
  await page.getByRole("button", { name: "Correct the facts" }).click();
  assert.equal(await page.getByRole("dialog").getByLabel("Offer", { exact: true }).inputValue(), "30% off");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Approve", exact: true }).first().click();
  await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
  await until(page, `/console/v1/creative/${id}`, (d) => d.approval.status === "approved");
  faultless(page, "generate");
});
