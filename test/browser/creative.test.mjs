// Facts in, an ad out: the form, corrections, and work with the variants.
import assert from "node:assert/strict";
import { test } from "node:test";
import { accessible, ask, dress, faultless, settled, signedIn, until, visit } from "./browser.mjs";

/** Takes out the one request that the story meant to be refused: the browser reports it. */
function wasRefused(page) {
  const at = page.faults.findIndex((f) => /status of 422/.test(f));
  assert.notEqual(at, -1, "got no refused request want one");
  page.faults.splice(at, 1);
}

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
  await alert.filter({ hasText: "That's not enough to write an ad" }).waitFor();
  wasRefused(page);
  const told = await dialog.innerText();
  assert.ok(!/brief\.|_not_|call_to_action/.test(told), `got an API name in ${told}`);
  await dialog.getByLabel("Product", { exact: true }).and(dialog.locator("[aria-invalid=true]:focus")).waitFor();
  await accessible(page, "the form with errors");
  await dialog.getByLabel("Price", { exact: true }).fill("");
  // The text fills it; by keyboard.
  await dialog.getByLabel("Paste text").fill(text);
  await dialog.getByRole("button", { name: "Fill in form" }).press("Enter");
  await dialog.getByText(/Found \d+ details/).waitFor();
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
  await dialog.getByRole("button", { name: "Edit brief" }).click();
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
  await page.getByRole("button", { name: "Edit brief" }).click();
  assert.equal(await page.getByRole("dialog").getByLabel("Offer", { exact: true }).inputValue(), "30% off");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Approve", exact: true }).first().click();
  await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
  await until(page, `/console/v1/creative/${id}`, (d) => d.approval.status === "approved");
  faultless(page, "generate");
});

test("edit, regenerate, approve and reject variants, and more like one", async () => {
  const page = await signedIn();
  await visit(page, "/creative");
  const id = await page.evaluate(async () => {
    const brief = { product: "Lumo 8 folding bike", offer: "20% off", audience: "commuters", benefits: ["folds in ten seconds", "weighs 9 kg"], call_to_action: "Book a test ride" };
    const headers = { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() };
    const r = await fetch("/console/v1/creative/generate", { method: "POST", headers, body: JSON.stringify({ brief, channels: ["search"], variants: 3, seed: 7 }) });
    return (await r.json()).data.id;
  });
  const path = `/console/v1/creative/${id}/variants`;
  const [first, second] = await ask(page, path);
  await visit(page, `/creative/${id}`);
  await accessible(page, "the variants");
  // One line of the shown variant is replaced.
  await page.getByRole("button", { name: "Regenerate headline 1" }).press("Enter");
  const line = (v) => v.content.by_channel.search.headlines[0];
  await until(page, path, (all) => line(all[0]) !== line(first));
  // A text that is too long is refused at its field, with its label.
  await page.getByRole("button", { name: `Edit ${second.name}` }).click();
  const dialog = page.getByRole("dialog");
  const headline = dialog.getByLabel("Headline 1", { exact: true });
  await headline.fill("This headline is far too long for a search ad");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("Headline can have up to 30 characters").waitFor();
  wasRefused(page);
  await accessible(page, "a refused text");
  await headline.fill("Your bike on the train");
  await dialog.getByRole("button", { name: "Save" }).click();
  await until(page, path, (all) => line(all[1]) === "Your bike on the train");
  // The primary one is rejected, so another takes its place.
  await page.getByRole("button", { name: `Approve ${second.name}` }).click();
  await until(page, path, (all) => all[1].approval?.status === "approved");
  await page.getByRole("button", { name: `Reject ${first.name}` }).click();
  await until(page, path, (all) => all[0].weight === 0 && all[1].is_primary);
  await settled(page);
  await page.setViewportSize({ width: 360, height: 740 });
  await accessible(page, "decided variants on a phone");
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole("button", { name: `More like this: ${second.name}` }).click();
  await page.waitForURL((u) => u.pathname.startsWith("/creative/crv_") && !u.pathname.endsWith(id));
  const made = page.url().match(/crv_\w+/)[0];
  const like = await until(page, `/console/v1/creative/${made}/variants`, (all) => all.length > 0);
  assert.ok(like.every((v) => v.generation.parameters.angle === second.generation.parameters.angle));
  faultless(page, "variants");
});
