// People who may do less: they are invited, look, and meet nothing that says no
// only after they have tried.
import assert from "node:assert/strict";
import { test } from "node:test";
import { accessible, faultless, open, setUp, visit } from "./browser.mjs";
import { pages } from "./pages.mjs";

const owner = await open();
await setUp(owner);

/** Invites somebody, who joins, and gives the page they are on. */
async function join(role, email) {
  await visit(owner, "/settings/members?new=person");
  const dialog = owner.getByRole("dialog");
  await dialog.getByLabel("Email").fill(email);
  await dialog.getByRole("radio", { name: new RegExp(`^${role}`) }).check({ force: true });
  await accessible(owner, "invitation");
  await dialog.getByRole("button", { name: "Create invite link" }).click();
  const shown = await owner.getByLabel("Link", { exact: true }).innerText();
  const page = await open();
  await page.goto(shown.trim());
  await page.getByRole("heading", { name: "Join Acme" }).waitFor();
  await accessible(page, "join");
  await page.getByLabel("Your name").fill(email);
  await page.getByLabel("Choose a password").fill(`a long password of ${email}`);
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  return { page, shown };
}

/** What a button to do something is called, on the page that has it. */
const doing = { "/campaigns": "New campaign", "/creative": "Generate", "/audiences": "New audience", "/connections": "Connect" };

async function create(page) {
  return page.evaluate(async () => {
    const headers = { "Content-Type": "application/json" };
    return (await fetch("/console/v1/campaigns", { method: "POST", headers, body: '{"name":"Mine"}' })).status;
  });
}

test("a viewer looks", async () => {
  const { page, shown } = await join("Viewer", "grace@example.com");
  for (const path of await pages(page)) {
    await visit(page, path);
    await accessible(page, `${path} for a viewer`);
    if (doing[path]) assert.equal(await page.getByRole("button", { name: doing[path] }).count(), 0, `${path} offers a viewer to ${doing[path]}`);
  }
  for (const path of ["/campaigns?new=1", "/creative?new=1", "/audiences?new=1", "/connections?new=1", "/connections?import=1"]) {
    await visit(page, path);
    assert.equal(await page.getByRole("dialog").count(), 0, `${path} opens for a viewer`);
  }
  await visit(page, "/settings/members");
  await page.getByText("You're a viewer in this workspace").waitFor();
  faultless(page, "a viewer");
  assert.equal(await create(page), 403, "a viewer cannot create, however they try");

  const again = await open();
  await again.goto(shown.trim());
  await again.getByRole("heading", { name: "This link doesn't work" }).waitFor();
});

test("an editor works, and manages nobody", async () => {
  const { page } = await join("Editor", "lin@example.com");
  for (const [path, name] of Object.entries(doing)) {
    await visit(page, path);
    if (path !== "/connections") await page.getByRole("button", { name }).first().waitFor();
  }
  await visit(page, "/settings/members");
  await page.getByText("You're an editor in this workspace").waitFor();
  await visit(page, "/settings/audit");
  await visit(page, "/settings/models");
  faultless(page, "an editor");
  assert.equal(await create(page), 201, "an editor creates");
});

test("who lost the way in gets a link", async () => {
  await visit(owner, "/settings/members");
  await owner.getByRole("button", { name: "Actions for lin@example.com" }).click();
  await owner.getByRole("menuitem", { name: "Create reset link" }).click();
  const shown = await owner.getByLabel("Link", { exact: true }).innerText();
  const page = await open();
  await page.goto(shown.trim());
  await page.getByLabel("New password").fill("another long password of lin");
  await page.getByRole("button", { name: "Save and sign in" }).click();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  faultless(page, "reset");
});
