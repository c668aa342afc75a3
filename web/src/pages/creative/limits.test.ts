import { describe, expect, test } from "vitest";
import table from "../../../../internal/creative/policy/limits.go?raw";
import { length, limitsOf } from "./limits";

/** The names of the server for the ways to count. */
const counts = { Characters: "characters", Width: "width", SMS: "message" };

describe("limits", () => {
  test("are those of the server", () => {
    const rows = [...table.matchAll(/\{"(\w+)", "(\w+)", \d+, (\d+), (\d+), (\d+), (\w+),/g)];
    expect(rows.length).toBeGreaterThan(25);
    const ours = [...new Set(rows.map((r) => r[1] as string))].flatMap((channel) =>
      limitsOf(channel).map((l) => [channel, l.field, l.most, l.soft, l.hard, l.count ?? "characters"]),
    );
    const theirs = rows.map(([, channel, field, most, soft, hard, count]) => [
      channel,
      field,
      Number(most),
      Number(soft),
      Number(hard),
      counts[count as keyof typeof counts],
    ]);
    expect(ours).toEqual(theirs);
  });
  test.each([
    ["Latte", "characters", 5],
    ["👩‍🚀", "characters", 3],
    ["日本 ok", "width", 7],
    ["Hi €", "message", 5],
    ["Hi 日", "message", 10],
  ] as const)("%s counts as %s", (text, how, want) => {
    expect(length(text, how)).toBe(want);
  });
});
