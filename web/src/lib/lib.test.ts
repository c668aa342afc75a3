import { describe, expect, test } from "vitest";
import { ago, count, day, figure, money, none, percent, words } from "./format";
import { addDays, daysBetween, rangeOf, readRange, today } from "./range";
import { languages, snippet, trust } from "./snippet";

describe("format", () => {
  test("what is missing is a dash, never a zero", () => {
    for (const f of [count, percent]) expect(f(null)).toBe(none);
    expect(money(undefined, "USD")).toBe(none);
    expect(figure(null, "currency", "EUR")).toBe(none);
  });
  test("amounts stay exact beyond what a float can hold", () => {
    expect(money("9007199254740993.01", "USD")).toBe("$9,007,199,254,740,993.01");
  });
  test("each format of the catalogue", () => {
    expect(figure(0.0234, "ratio", "USD")).toBe("2.34%");
    expect(figure(3.456, "number", "USD")).toBe("3.46");
    expect(figure(1234567, "count", "USD")).toBe("1,234,567");
    expect(figure(1234567, "count", "USD", true)).toBe("1.2M");
    expect(figure(12345.6, "currency", "USD", true)).toBe("$12.3K");
    expect(figure(99.5, "currency", "USD", true)).toBe("$99.50");
    expect(figure(9000, "currency", "USD", true)).toBe("$9,000");
  });
  test("a day has no zone", () => {
    expect(day("2020-01-01", true)).toBe("Jan 1, 2020");
  });
  test("how long ago", () => {
    const now = Date.parse("2026-11-16T12:00:00Z");
    expect(ago("2026-11-16T11:59:50Z", now)).toBe("just now");
    expect(ago("2026-11-16T09:00:00Z", now)).toBe("3 hr. ago");
    expect(ago("2026-11-18T12:00:00Z", now)).toBe("in 2 days");
  });
  test("words", () => expect(words("pending_start")).toBe("Pending start"));
});

describe("range", () => {
  test("today depends on the zone", () => {
    const late = Date.parse("2026-11-16T23:30:00Z");
    expect(today("UTC", late)).toBe("2026-11-16");
    expect(today("Asia/Tokyo", late)).toBe("2026-11-17");
  });
  test("days across a change of clocks and a leap day", () => {
    expect(addDays("2026-03-28", 2)).toBe("2026-03-30");
    expect(daysBetween("2024-02-28", "2024-03-01")).toBe(3);
  });
  test("what makes no sense in a URL is left out", () => {
    expect(readRange({ from: "2026-11-05", to: "2026-11-01" })).toEqual({});
    expect(readRange({ from: "yesterday", to: "2026-11-01", compare: "x" })).toEqual({});
    expect(readRange({ from: "2026-11-01", to: "2026-11-05", compare: "none" })).toEqual({
      from: "2026-11-01",
      to: "2026-11-05",
      compare: "none",
    });
  });
  test("long periods are cut coarser", () => {
    expect(rangeOf({ from: "2026-01-01", to: "2026-01-31" }, "UTC").granularity).toBe("day");
    expect(rangeOf({ from: "2026-01-01", to: "2026-06-30" }, "UTC").granularity).toBe("week");
    expect(rangeOf({ from: "2024-01-01", to: "2026-06-30" }, "UTC").granularity).toBe("month");
  });
});

describe("snippet", () => {
  const call = {
    method: "POST",
    path: "/v1/campaigns",
    body: { name: "It's 5 o'clock", on: true, off: null },
  } as const;
  test("a shell takes the body as one word", () => {
    expect(snippet(call, "curl")).toContain(`"name": "It'\\''s 5 o'\\''clock"`);
  });
  test("Python has other words for true and null, but not inside strings", () => {
    const text = snippet({ ...call, body: { a: true, b: null, c: "true null" } }, "Python");
    expect(text).toContain(`"a": True`);
    expect(text).toContain(`"b": None`);
    expect(text).toContain(`"c": "true null"`);
  });
  test("lists are one parameter", () => {
    const text = snippet(
      { method: "GET", path: "/v1/analytics/overview", query: { metrics: ["spend", "roas"] } },
      "curl",
    );
    expect(text).toContain("?metrics=spend,roas");
  });
  test("no language puts a key into the text", () => {
    for (const l of languages) expect(snippet(call, l)).toMatch(/FANFARE_API_KEY/);
  });

  test("trusts the authority of a server on this machine", () => {
    trust("/data/it's/ca.pem", "localhost");
    expect(snippet(call, "curl")).toContain(`--cacert '/data/it'\\''s/ca.pem'`);
    for (const l of languages) expect(snippet(call, l)).toContain("ca.pem");
    trust("/data/ca.pem", "fanfare.example");
    for (const l of languages) expect(snippet(call, l)).not.toContain("ca.pem");
  });
});
