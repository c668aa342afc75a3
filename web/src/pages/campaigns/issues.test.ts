import { expect, describe as suite, test } from "vitest";
import type { Campaign } from "./data";
import { describe, type Issue, issuesOf } from "./issues";

const issue = { code: "not_linked", message: "", remediation: null, resource_id: null } as unknown as Issue;
const ref = (channel: string | null, enabled: boolean | null, push: string | null = null) => ({
  connection_id: "con_1",
  channel,
  enabled,
  push,
});
const campaign = (change: object) =>
  ({
    status: "active",
    channels: ["search", "social"],
    connection_ids: [],
    external_refs: [],
    ...change,
  }) as unknown as Campaign;

suite("a campaign that is not linked", () => {
  test("is blocked, and leads to the connections", () => {
    const d = describe(issue, campaign({}));
    expect(d.blocks).toBe(true);
    expect(d.title).toBe("No platform campaign is linked, so nothing delivers.");
    expect(d.place?.to).toBe("/connections");
  });
  test("leads to the links of its own connection", () => {
    expect(describe(issue, campaign({ connection_ids: ["con_9"] })).place?.to).toBe("/connections/con_9?tab=links");
  });
  test("is limited where only some channels are linked", () => {
    const d = describe(issue, campaign({ external_refs: [ref("search", true)] }));
    expect(d.blocks).toBe(false);
    expect(d.title).toBe("No enabled platform campaign is linked for Social.");
  });
  test("is blocked where no linked one is enabled, unless a change is pending or it is a draft", () => {
    expect(describe(issue, campaign({ external_refs: [ref("search", false)] })).blocks).toBe(true);
    expect(describe(issue, campaign({ external_refs: [ref("search", false, "pending")] })).blocks).toBe(false);
    expect(describe(issue, campaign({ status: "draft", external_refs: [ref("search", false)] })).blocks).toBe(false);
  });
  test("says once that nothing is connected", () => {
    const issues = ["no_connection", "not_linked", "no_audience"].map((code) => ({ code }));
    expect(issuesOf(campaign({ delivery: { issues } })).map((i) => i.code)).toEqual(["not_linked", "no_audience"]);
  });
});
