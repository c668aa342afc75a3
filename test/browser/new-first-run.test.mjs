// A new server: its owner sets it up, signs in, makes a key, calls the API with
// it, and revokes it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { accessible, faultless, link, open, owner, setUp, settled, url, visit } from "./browser.mjs";

async function signIn(page) {
  await page.goto(`${url}/sign-in?next=%2Fsettings%2Fapi%2Fkeys`);
  await page.getByLabel("Email").fill(owner.email);
  await page.getByLabel("Password", { exact: true }).fill(owner.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("heading", { name: "API keys" }).waitFor();
}

async function signOut(page) {
  await page.getByRole("button", { name: owner.name }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
}

const call = (key) => fetch(`${url}/v1/me`, { headers: { Authorization: `Bearer ${key}` } });

/** The reference lists every operation of the contract, and shows the fields of campaigns and queries. */
async function readReference(page) {
  const { paths } = await (await fetch(`${url}/openapi/v1.json`)).json();
  const methods = ["get", "post", "patch", "put", "delete"];
  const wanted = Object.entries(paths).flatMap(([path, operations]) => methods.filter((m) => operations[m]).map((m) => m.toUpperCase() + path));
  await page.goto(`${url}/docs/api`);
  const links = page.locator('a[href^="#tag/"]');
  await links.first().waitFor();
  const addresses = () => links.evaluateAll((all) => all.map((a) => a.getAttribute("href")));
  for (const tag of (await addresses()).filter((address) => address.split("/").length === 2)) {
    const inside = page.locator(`a[href^="${tag}/"]`);
    if ((await inside.count()) === 0) await page.locator(`a[href="${tag}"]`).click();
    await inside.first().waitFor();
  }
  const listed = (await addresses()).map((address) => address.split("/").slice(2).join("/"));
  assert.deepEqual(listed.filter((operation) => operation).sort(), wanted.sort(), "operations of the reference");
  for (const [operation, fields] of [
    ["tag/campaigns/POST/v1/campaigns", ["name", "budget", "channels"]],
    ["tag/analytics/POST/v1/analytics/query", ["metrics", "compare", "date_range"]],
  ]) {
    await page.goto(`${url}/docs/api#${operation}`);
    for (const field of fields) await page.locator(`[id$="${operation}.body.${field}"]`).waitFor();
  }
}

/** The reference calls with a key, under its policy of content and without another host. */
async function tryReference(key) {
  const page = await open();
  await readReference(page);
  await page.goto(`${url}/docs/api#tag/api/GET/v1/me`);
  await page.getByPlaceholder("Token").fill(key);
  await page.getByRole("button", { name: /Test Request.*\/v1\/me\)/s }).click();
  const answered = page.waitForResponse(`${url}/v1/me`);
  await page.getByRole("button", { name: /Send/ }).first().click();
  assert.equal((await answered).status(), 200, "the reference calls with the key");
  faultless(page, "reference");
}

test("first run to first call", async () => {
  const page = await open();
  await page.goto(`${url}/settings/profile`);
  await page.waitForURL("**/setup?next=%2Fsettings%2Fprofile");
  await page.getByText("Open the setup link from the server log").waitFor();
  await accessible(page, "set-up without the link");

  await setUp(page);
  await settled(page);
  await accessible(page, "overview of an empty workspace");
  assert.equal(await page.evaluate(() => location.hash), "", "the token stays in the address");

  await signOut(page);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await accessible(page, "sign-in");
  await signIn(page);

  await page.getByRole("button", { name: "Create key" }).first().click();
  await page.getByLabel("Name").fill("First integration");
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  const shown = page.getByRole("dialog").getByText(/^fanf_\w{36}$/);
  const key = await shown.innerText();
  await accessible(page, "the key, once");
  await page.setViewportSize({ width: 390, height: 844 });
  await accessible(page, "the key, once, on a phone");
  const told = await page.getByLabel("curl with the new key").innerText();
  await page.getByRole("button", { name: "I've saved it" }).click();
  await shown.waitFor({ state: "detached" });

  const first = JSON.parse(execFileSync("sh", ["-c", told], { stdio: ["ignore", "pipe", "pipe"] }));
  assert.equal(first.data.user.email, owner.email, "the ready call works as it is pasted");

  await tryReference(key);

  await visit(page, "/settings/api/requests");
  await page.getByText("/v1/me").first().waitFor();

  await visit(page, "/settings/api/keys");
  await page.getByRole("button", { name: "Actions for First integration" }).click();
  await page.getByRole("menuitem", { name: "Revoke" }).click();
  await page.getByLabel("Type First integration to confirm").fill("First integration");
  await page.getByRole("button", { name: "Revoke key" }).click();
  await page.getByText("First integration revoked.").waitFor();
  const after = await call(key);
  assert.equal(after.status, 401, "a revoked key opens nothing");
  assert.equal((await after.json()).error.code, "api_key_revoked");
  faultless(page, "first run");
});

test("the set-up token works once", async () => {
  const page = await open();
  await page.goto(link);
  await page.getByText("This server is already set up").waitFor();
});

test("sign-in leads back to the page that was wanted", async () => {
  const page = await open();
  await page.goto(`${url}/campaigns?status=active`);
  await page.waitForURL("**/sign-in?next=**");
  await page.getByLabel("Email").fill(owner.email);
  await page.getByLabel("Password", { exact: true }).fill(owner.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL("**/campaigns?status=active");
  await page.getByRole("heading", { name: "Campaigns" }).waitFor();
  faultless(page, "back to the wanted page");
});

test("a wrong password says no more than that", async () => {
  const page = await open();
  await page.goto(`${url}/sign-in`);
  const said = [];
  for (const email of [owner.email, "nobody@example.com"]) {
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password", { exact: true }).fill("not the password");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    const alert = page.getByRole("alert");
    await alert.waitFor();
    said.push(await alert.innerText());
    await page.reload();
  }
  assert.equal(said[0], said[1], "an unknown address is answered like a known one");
});

test("a passkey signs in", async () => {
  const page = await open();
  const device = await page.context().newCDPSession(page);
  await device.send("WebAuthn.enable");
  await device.send("WebAuthn.addVirtualAuthenticator", {
    options: { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
  });
  await signIn(page);
  await visit(page, "/settings/security");
  await page.getByRole("button", { name: "Add passkey" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("This machine");
  await page.getByRole("dialog").getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Remove This machine" }).waitFor();
  // The device takes what the sign-in page offers at once.
  const offered = page.waitForResponse((r) => r.url() === `${url}/console/api/session/passkey`);
  await signOut(page);
  assert.equal((await offered).status(), 200, "an offered passkey signs in");
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  // A browser that offers none has the button.
  await page.addInitScript(() => {
    PublicKeyCredential.isConditionalMediationAvailable = async () => false;
  });
  await signOut(page);
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  faultless(page, "passkey");
});
