import { expect, test } from "vitest";
import { chartOf } from "./chartof";
import { conditions, drill, faultAt, linkTo, misshapen, type Query, type Row, readQuery, starters } from "./query";

const days = { start_date: "2026-08-18", end_date: "2026-11-15" };
const row = (dimensions: Row["dimensions"], spend: number | null = 1): Row => ({ dimensions, metrics: { spend } });

test("a row of a series becomes filters, its bucket the period, and the next buckets are finer", () => {
  const q: Query = { metrics: ["spend"], dimensions: ["channel"], granularity: "week", order_by: [{ field: "spend" }] };
  const got = drill(q, row({ date: "2026-08-17", channel: "social" }), days);
  expect(got.date_range).toEqual({ start_date: "2026-08-18", end_date: "2026-08-23" });
  expect(got.granularity).toBe("day");
  expect(got.dimensions).toEqual(["campaign_id"]);
  expect(conditions(got.filters)).toEqual([{ field: "channel", op: "eq", values: ["social"] }]);
  expect(got.order_by).toBeUndefined();
});

test("a month ends on its own last day", () => {
  const got = drill({ metrics: ["spend"], granularity: "month" }, row({ date: "2026-09-01" }), days);
  expect(got.date_range).toEqual({ start_date: "2026-09-01", end_date: "2026-09-30" });
});

test("what is not set is asked for as such, and never broken down by again", () => {
  const q: Query = {
    metrics: ["spend"],
    dimensions: ["campaign_id"],
    filters: { field: "creative_id", op: "is_null" },
  };
  const got = drill(q, row({ campaign_id: null }), days);
  expect(conditions(got.filters)).toEqual([
    { field: "creative_id", op: "is_null" },
    { field: "campaign_id", op: "is_null" },
  ]);
  expect(got.dimensions).toBeUndefined();
  expect(got.granularity).toBe("day");
});

test("faults are found at their field and below it, not at one that begins alike", () => {
  const details = [
    { field: "filters.and[1].values[0]", code: "x", message: "first" },
    { field: "filters.and[10].field", code: "x", message: "other" },
  ];
  expect(faultAt(details, "filters.and[1]")).toBe("first");
  expect(faultAt(details, "filters.and[2]")).toBeUndefined();
});

test.each([
  [5, "The query must be an object."],
  [{}, "metrics must be a list of names."],
  [{ metrics: ["spend"], dimensions: "channel" }, "dimensions must be a list of names."],
  [{ metrics: ["spend"], date_range: [] }, "date_range must be an object."],
  [
    { metrics: ["spend"], filters: { or: [{ field: 1 }] } },
    "filters must be conditions with field and op, combined with and, or, not.",
  ],
  [{ metrics: ["spend"], order_by: ["spend"] }, "order_by must be a list of objects."],
  [{ metrics: [] }, null],
])("%j is told what is wrong with it", (v, want) => {
  expect(misshapen(v)).toBe(want);
});

test("a link holds the whole query, and nonsense shows the first starting point", () => {
  for (const s of starters) {
    const q = new URLSearchParams(linkTo(s.query).split("?")[1]).get("q");
    expect(readQuery(JSON.parse(q ?? ""))).toEqual(s.query);
  }
  expect(readQuery("nonsense")).toBe(starters[0]?.query);
});

const spend = { name: "spend", label: "Spend", format: "currency" } as const;

test("a series by channel is drawn with a gap where a bucket has no row", () => {
  const q: Query = { metrics: ["spend"], dimensions: ["channel"], granularity: "day" };
  const rows = [
    row({ date: "2026-11-02", channel: "search" }, 5),
    row({ date: "2026-11-01", channel: "social" }, 9),
    row({ date: "2026-11-02", channel: "social" }, 8),
  ];
  const got = chartOf(q, rows, spend, "EUR");
  expect(got?.data.categories).toEqual(["2026-11-01", "2026-11-02"]);
  expect(got?.data.series.map((s) => [s.name, s.values])).toEqual([
    ["Social", [9, 8]],
    ["Search", [null, 5]],
  ]);
  expect(got?.row(1, 1)).toBe(rows[0]);
});

test("a comparison by channel draws the previous period of every line, also beyond the last bucket", () => {
  const q: Query = {
    metrics: ["spend"],
    dimensions: ["channel"],
    granularity: "day",
    compare: { to: "previous_period" },
  };
  const both = (
    date: string | null,
    previous_date: string | null,
    channel: string,
    now: number | null,
    before: number | null,
  ) => ({
    ...row({ date, channel }, now),
    previous_date,
    previous: previous_date ? { spend: before } : null,
  });
  const rows = [
    both("2026-11-02", "2026-10-31", "search", 4, 7),
    both(null, "2026-11-01", "search", null, 6),
    both("2026-11-02", "2026-10-31", "social", 0, 30),
    both(null, "2026-11-01", "social", null, 20),
  ];
  const got = chartOf(q, rows, spend, "EUR");
  expect(got?.data.categories).toEqual(["2026-11-02", "2026-11-01"]);
  expect(got?.data.series.map((s) => [s.name, s.values, s.before ?? false, s.color])).toEqual([
    ["Social", [0, null], false, 0],
    ["Social, previous period", [30, 20], true, 0],
    ["Search", [4, null], false, 1],
    ["Search, previous period", [7, 6], true, 1],
  ]);
  expect(got?.row(1, 1)).toBe(rows[3]);
});

test("a series that is compared has two lines, and rows of another query are no dates", () => {
  const q: Query = { metrics: ["spend"], granularity: "day", compare: { to: "previous_period" } };
  const rows = [{ ...row({ date: "2026-11-02" }, 4), previous_date: "2026-11-01", previous: { spend: 3 } }];
  expect(chartOf(q, rows, spend, "EUR")?.data.series.map((s) => [s.name, s.values])).toEqual([
    ["Spend", [4]],
    ["Previous period", [3]],
  ]);
  expect(chartOf(q, [row({})], spend, "EUR")?.data.categories).toEqual([""]);
});

test("two dimensions make groups, none makes no chart", () => {
  const rows = [row({ channel: "social", device: "mobile" }, 3), row({ channel: "search", device: "desktop" }, 4)];
  const got = chartOf({ metrics: ["spend"], dimensions: ["channel", "device"] }, rows, spend, "EUR");
  expect(got?.data.categories).toEqual(["Social", "Search"]);
  expect(got?.data.series.map((s) => s.values)).toEqual([
    [null, 4],
    [3, null],
  ]);
  expect(chartOf({ metrics: ["spend"] }, [row({})], spend, "EUR")).toBeNull();
});
