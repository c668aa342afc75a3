import { describe, expect, test } from "vitest";
import type { Campaign } from "./data";
import { blank, createBody, fieldsOf, patchBody } from "./fields";

describe("a new campaign", () => {
  const workspace = { currency: "USD", timezone: "UTC" };
  const empty = blank(workspace.currency, workspace.timezone);

  test("leaves out what was not changed", () => {
    expect(createBody({ ...empty, name: "Spring" }, workspace)).toEqual({ name: "Spring" });
  });
  test("keeps the time zone that was chosen", () => {
    const chosen = { ...empty, name: "Spring", start: "2027-03-01T09:00", timezone: "Europe/Berlin" };
    expect(createBody(chosen, workspace)).toEqual({
      name: "Spring",
      schedule: { start_at: "2027-03-01T08:00:00.000Z", timezone: "Europe/Berlin" },
    });
  });
});

describe("a changed campaign", () => {
  const tracked = {
    name: "Spring",
    channels: [],
    schedule: { start_at: null, end_at: null, timezone: "UTC" },
    audience_ids: [],
    excluded_audience_ids: [],
    creative_ids: [],
    connection_ids: [],
    tags: [],
    tracking: { landing_url: "https://shop.example.com", utm: { source: "news" }, auto_tag: true },
  } as unknown as Campaign;

  test("clears the landing page and keeps the rest of tracking", () => {
    const was = fieldsOf(tracked, "USD");
    expect(patchBody(was, { ...was, landingUrl: "" })).toEqual({ tracking: { landing_url: null } });
  });
  test("sends nothing where nothing changed", () => {
    const was = fieldsOf({ ...tracked, tracking: null } as Campaign, "USD");
    expect(patchBody(was, was)).toEqual({});
    expect(patchBody(was, { ...was, landingUrl: "https://a.example" })).toEqual({
      tracking: { landing_url: "https://a.example" },
    });
  });
});
