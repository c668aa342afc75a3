// What others could try: pages on other sites that send requests with the
// cookie, and texts that would be programs were they not shown as texts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { faultless, open, settled, signedIn, url, visit } from "./browser.mjs";

/** A form that is sent as soon as the page is there; its answer goes to a frame, so that the page can do more. */
const form = (target, kind, fields) =>
  `<iframe name="${kind}"></iframe><form method=post enctype="${kind}" target="${kind}" action="${target}">${fields}</form>`;

/** Every way a page can send something elsewhere. */
const ways = [
  (target, body) => form(target, "text/plain", `<input name='${body.slice(0, -1)},"x":"' value='"}'>`),
  (target) => form(target, "application/x-www-form-urlencoded", "<input name=name value=x>"),
  (target) => form(target, "multipart/form-data", "<input name=name value=x>"),
  (target, body) => `<script>fetch("${target}",{method:"POST",credentials:"include",mode:"no-cors",body:'${body}'}).catch(()=>0)</script>`,
  (target, body) => `<script>fetch("${target}",{method:"POST",credentials:"include",headers:{"Content-Type":"application/json"},body:'${body}'}).catch(()=>0)</script>`,
  (target, body) => `<script>navigator.sendBeacon("${target}",'${body}')</script>`,
  (target) => `<script>fetch("${target}",{method:"DELETE",credentials:"include"}).catch(()=>0)</script>`,
  (target) => `<iframe src="${target}"></iframe>`,
];

/** Changes that a stranger would like to make. */
const wanted = [
  ["/console/v1/campaigns", '{"name":"planted"}'],
  ["/console/v1/creative/generate", '{"prompt":"planted planted planted"}'],
  ["/console/v1/audiences", '{"name":"planted","type":"customer_list"}'],
  ["/console/v1/connections", '{"platform":"sandbox","name":"planted"}'],
  ["/console/api/keys", '{"name":"planted","expires_in_days":0,"scopes":null,"ip_allow_list":null}'],
  ["/console/api/members", '{"email":"planted@example.com","role":"owner"}'],
  ["/console/api/workspaces", '{"name":"planted","timezone":"UTC","currency":"USD"}'],
  ["/console/api/workspace", '{"name":"planted"}'],
  ["/console/api/password", '{"current":"","next":"planted planted"}'],
  ["/console/api/session", "{}"],
  ["/console/api/passkeys/begin", "{}"],
  ["/console/api/totp/begin", "{}"],
  ["/console/api/session/workspace", "{}"],
];

/** All that could have changed, by where it stands. */
async function everything(page) {
  const paths = ["/console/v1/campaigns?limit=100&status=all", "/console/v1/creative?limit=100&status=all", "/console/v1/audiences?limit=100", "/console/v1/connections?limit=100&status=all",
    "/console/api/session", "/console/api/keys", "/console/api/members", "/console/api/workspace", "/console/api/passkeys", "/console/api/sessions"];
  return Promise.all(paths.map(async (path) => {
    const { status, data } = await page.evaluate(async (at) => {
      const res = await fetch(at);
      return { status: res.status, data: (await res.json()).data };
    }, path);
    assert.equal(status, 200, `${path}: got ${status} want 200`);
    // Clocks and counters go on by themselves.
    return [path, JSON.stringify(data, (k, v) => (/_at$|^version$|^sync$|^health$|^delivery$|^spend|^budget_remaining$|^daily$|^requests_30d$|^size$/.test(k) ? undefined : v))];
  }));
}

/** Sites that are not ours. To a cookie the second is the same site, so it is sent along, and only the check of the origin is left. */
const sites = ["https://elsewhere.example/", "https://localhost:2/"];

/** Opens a page that tries every way, and gives the requests when all of them are over. */
async function attack(victim, site, target, body) {
  const over = [];
  const all = new Promise((done) => {
    const note = (r) => {
      if (r.url() === target && over.push(r) === ways.length) done();
    };
    victim.on("requestfinished", note).on("requestfailed", note);
  });
  const html = ways.map((way) => way(target, body)).join("");
  await victim.route(site, (route) => route.fulfill({ contentType: "text/html", body: `<!doctype html>${html}<script>for (const f of document.forms) f.submit()</script>` }));
  await victim.goto(site, { waitUntil: "commit" });
  await all;
  await victim.unroute(site);
  victim.removeAllListeners("requestfinished").removeAllListeners("requestfailed");
  return over;
}

test("no other site changes anything", async () => {
  const page = await signedIn();
  await visit(page, "/settings/appearance");
  const before = await everything(page);
  const victim = await page.context().newPage();
  let tried = 0;
  let armed = 0;
  for (const site of sites) {
    for (const [path, body] of wanted) {
      for (const request of await attack(victim, site, url + path, body)) {
        tried++;
        if ((await request.allHeaders()).cookie) armed++;
        const status = (await request.response())?.status();
        // No status: the browser has kept it, or the answer, to itself.
        if (request.method() === "GET" || !status) continue;
        assert.equal(status, 403, `${request.method()} from ${site} to ${path}: got ${status} want 403`);
      }
    }
  }
  assert.ok(tried >= 200, `got ${tried} attempts want at least 200`);
  assert.ok(armed >= 100, `got ${armed} attempts with the cookie want at least 100`);
  assert.deepEqual(await everything(page), before, "something changed");
});

const payloads = [
  `<script>window.hurt=1</script>`,
  `"><img src=x onerror="window.hurt=1">`,
  `<svg/onload=window.hurt=1>`,
  `javascript:window.hurt=1//`,
  "{{constructor.constructor('window.hurt=1')()}}",
  "${window.hurt=1}",
];

test("texts are shown, never run", async () => {
  const page = await signedIn();
  await visit(page, "/settings/appearance");
  const made = await page.evaluate(async (list) => {
    const send = async (path, body, method = "POST") => {
      const res = await fetch(path, { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
      const answer = await res.json();
      if (!res.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`);
      return answer.data;
    };
    const ids = [];
    for (const text of list) {
      const c = await send("/console/v1/campaigns", { name: text, description: text, channels: ["search"], tags: [text.slice(0, 30).trim()], metadata: { note: text } });
      const g = await send("/console/v1/creative/generate", { prompt: text, brief: { product: "Oat milk latte", benefits: ["creamy", "hot or iced"] }, channels: ["search"] });
      const a = await send("/console/v1/audiences", { name: text, description: text, type: "targeting", definition: { countries: ["DE"], interests: [text.slice(0, 60)] } });
      ids.push(["/campaigns/", c.id], ["/creative/", g.id], ["/audiences/", a.id]);
    }
    // Each connection reads months of numbers, so one has all texts.
    const k = await send("/console/v1/connections", { platform: "sandbox", name: list.join(" ") });
    ids.push(["/connections/", k.id]);
    await send("/console/api/user", { name: list[1] }, "PATCH");
    await send("/console/api/workspace", { name: list[1] }, "PATCH");
    return ids;
  }, payloads);
  const paths = [...made.map(([at, id]) => at + id), "/", "/campaigns", "/creative", "/creative?view=table", "/audiences", "/analytics", "/connections", "/settings/members", "/settings/audit", "/settings/workspace", "/settings/profile"];
  await Promise.all([page, await signedIn(), await signedIn()].map(async (lane) => {
    for (let path = paths.shift(); path; path = paths.shift()) {
      await visit(lane, path);
      assert.equal(await lane.evaluate(() => window.hurt), undefined, `${path}: a text was run`);
    }
    faultless(lane, "pages with hostile texts");
  }));
});

test("a stranger sees nothing", async () => {
  const page = await open();
  for (const path of ["/", "/campaigns", "/settings/api/keys"]) {
    await page.goto(url + path);
    await page.waitForURL(/\/(sign-in|setup)/);
  }
  await settled(page);
});
