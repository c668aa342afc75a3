import { describe, expect, test } from "vitest";
import { audiences as german } from "../../text/de/audiences";
import { readMembers, sha256 } from "./members";
import { lookalikeSentence, targetingSentence } from "./sentence";

const empty = {
  countries: [],
  regions: [],
  languages: [],
  age: null,
  genders: [],
  interests: [],
  devices: [],
  include_audience_ids: [],
  exclude_audience_ids: [],
};
const named = (id: string) => id;

describe("members", () => {
  test("are found in lists and tables, each once, as the platforms want them", () => {
    const hash = "9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08";
    const text = `email,name,phone\r\n" Ann@Example.com ",Ann,+49 (151) 1234-5678\nann@example.com\n${hash}\nnobody\n\n`;
    expect(readMembers(text)).toEqual({
      hashes: [hash.toLowerCase()],
      plain: ["ann@example.com", "+4915112345678"],
      skipped: 2,
    });
  });
  test("are hashed with SHA-256 in lower-case digits", async () => {
    expect(await sha256("test")).toBe("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");
  });
});

describe("a definition as a sentence", () => {
  test.each([
    [{}, "Everyone."],
    [{ genders: ["female"] }, "Women."],
    [{ age: { min: 25, max: 44 }, countries: ["DE", "AT"] }, "People aged 25 to 44 in Germany or Austria."],
    [{ age: { min: 18, max: null } }, "People aged 18 and over."],
    [{ countries: ["US", "CA"] }, "People in the United States or Canada."],
    [
      { genders: ["female", "male"], interests: ["coffee"], devices: ["tv"], exclude_audience_ids: ["buyers"] },
      'Women and men, interested in coffee, on TV, but not in "buyers".',
    ],
  ] as const)("%j", (part, want) => {
    expect(targetingSentence({ ...empty, ...part } as never, named)).toBe(want);
  });
  test("of a lookalike", () => {
    const d = { seed_audience_id: "buyers", countries: ["FR"], size_percent: 2 };
    expect(lookalikeSentence(d, named)).toBe('The 2% of people in France who are most similar to "buyers".');
  });
  test("in German needs no article or case of a name", () => {
    const d = { genders: ["female"], age: { min: 25, max: null }, places: ["Schweiz", "USA"], languages: ["Deutsch"] };
    expect(
      german.describe({ ...d, interests: ["Rennräder"], devices: ["tv"], included: [], excluded: ["Käufer"] }),
    ).toBe(
      "Frauen ab 25 Jahren (Schweiz oder USA); Sprache: Deutsch; Interessen: Rennräder; Gerät: TV; nicht aus „Käufer“.",
    );
  });
});
