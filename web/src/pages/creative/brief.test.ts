import { describe, expect, test } from "vitest";
import { Refusal } from "../../api/client";
import {
  around,
  blankFacts,
  briefOf,
  type Found,
  factsOf,
  fill,
  foundFor,
  isUnsure,
  reasonOf,
  type Understood,
  wrongOf,
} from "./brief";
import type { Creative } from "./data";
import { requestOf, stateOf } from "./state";

const text = "☕️ Oat milk latte, 20% off until Sunday. We roast daily.";
const found = (type: Found["type"], words: string, confidence = 0.9): Found => {
  const start = [...text.slice(0, text.indexOf(words))].length;
  return { type, text: words, start, end: start + [...words].length, confidence };
};
const understood = (facts: Found[], rest: Partial<Understood> = {}): Understood => ({
  language: "en",
  arranged: false,
  form: "prose",
  kind: "food",
  kind_confidence: 0.9,
  facts,
  ignored_lines: 0,
  avoid: [],
  must_include: [],
  missing: [],
  ...rest,
});
const latte = understood([
  found("product", "Oat milk latte"),
  found("offer", "20% off"),
  found("deadline", "Sunday", 0.6),
  found("sentence", "Oat milk latte, 20% off until Sunday."),
  found("sentence", "We roast daily."),
]);

describe("a text", () => {
  test("fills the form; a sentence without a fact is a benefit to check", () => {
    const facts = fill(blankFacts, latte);
    expect(briefOf(facts)).toEqual({
      product: "Oat milk latte",
      offer: "20% off",
      deadline: "Sunday",
      benefits: ["We roast daily."],
      kind: "food",
    });
  });
  test("does not change what people typed, and replaces what an earlier text filled in", () => {
    const typed = { ...blankFacts, offer: "Half price", benefits: ["Near you"] };
    const first = fill(typed, latte);
    expect([first.offer, first.product, first.benefits]).toEqual([
      "Half price",
      "Oat milk latte",
      ["Near you", "We roast daily."],
    ]);
    const second = fill(first, understood([{ ...found("place", "daily"), text: "Leeds" }]), latte.facts);
    expect([second.offer, second.product, second.place, second.benefits]).toEqual([
      "Half price",
      "",
      "Leeds",
      ["Near you"],
    ]);
  });
  test("is shown around each fact, by characters", () => {
    const offer = latte.facts[1] as Found;
    expect(around(text, offer, 7)).toEqual({ before: "…latte, ", after: " until …" });
    expect(foundFor(latte.facts, "deadline", "Sunday")).toBe(latte.facts[2]);
    expect(foundFor(latte.facts, "deadline", "Monday")).toBeUndefined();
    expect(latte.facts.filter(isUnsure).map((f) => f.text)).toEqual(["Sunday"]);
  });
  test("with several terms fills one field, which knows its source", () => {
    const u = understood([found("terms", "We roast daily"), found("terms", "until Sunday")]);
    const facts = fill(blankFacts, u);
    expect(facts.terms).toBe("We roast daily until Sunday");
    expect(foundFor(u.facts, "terms", facts.terms)).toBe(u.facts[0]);
  });
});

describe("a creative", () => {
  test("gives its facts back for the next one", () => {
    const c = {
      generation: {
        brief: { must_include: ["Kava"], avoid: ["cheap", "free"], kind: "service" },
        understood: latte,
        parameters: { brand: { name: "Kava Bar" } },
      },
    } as unknown as Creative;
    expect(factsOf(c)).toMatchObject({
      product: "Oat milk latte",
      brand: "Kava Bar",
      kind: "service",
      must_include: ["Kava"],
      avoid: "cheap, free",
    });
  });
});

describe("errors", () => {
  const refusal = (details: ConstructorParameters<typeof Refusal>[3]) =>
    new Refusal(422, "validation_failed", "2 fields are not valid.", details, "req");
  const names = /brief\.|brand\.|previous_price|call_to_action|landing_url/;

  test("are at their fields with their labels", () => {
    const { fields, summary } = wrongOf(
      refusal([
        {
          field: "brief.previous_price",
          code: "too_long",
          message: "brief.previous_price must have at most 200 characters; it has 201.",
          meta: { maximum: 200, actual: 201 },
        },
        { field: "brief.benefits[1]", code: "duplicate_item", message: "brief.benefits[1] is in the list already." },
        {
          field: "landing_url",
          code: "invalid_format",
          message: "landing_url must be an https:// URL with a host, no user name and no spaces.",
        },
        {
          field: "brand.name",
          code: "too_long",
          message: "brand.name must have at most 100 characters; it has 101.",
          meta: { maximum: 100, actual: 101 },
        },
      ]),
    );
    expect(fields["fact.previous_price"]).toBe("Previous price can have up to 200 characters. It has 201.");
    expect(fields["fact.benefits[1]"]).toBe("This is already in the list. Remove one of the two.");
    expect(fields.landing_url).toBe("Enter a web address that starts with https://.");
    expect(fields["fact.brand"]).toBe("Brand can have up to 100 characters. It has 101.");
    expect(summary).toBeUndefined();
    for (const m of Object.values(fields)) expect(m).not.toMatch(names);
  });
  test("of a brief that says too little name the fields that help", () => {
    const d = (field: string) => ({
      field,
      code: "brief_not_understood",
      message: `Too little of the brief was understood to write an ad. Add ${field}, for example "x".`,
    });
    const { fields, summary } = wrongOf(refusal([d("brief.product"), d("brief.benefits")]));
    expect(summary).toBe("That's not enough to write an ad. Fill in Product or Benefits.");
    expect(fields["fact.benefits"]).toBe('Fill in Benefits, for example "folds in ten seconds".');
    expect(
      reasonOf({
        code: "brief_not_understood",
        message: 'Add brief.product, brief.offer, for example {"product": "x"}.',
      }),
    ).toBe("That's not enough to write an ad. Fill in Product or Offer.");
  });
  test("of an empty form are at the product", () => {
    const { fields } = wrongOf(refusal([{ field: "prompt", code: "required", message: "prompt is required …" }]));
    expect(fields).toEqual({ "fact.product": "Enter a product, or paste text." });
  });
  test("without a field of the form are above it", () => {
    const refused = new Refusal(
      422,
      "content_rejected",
      "Weapons cannot be advertised.",
      [{ field: "brief", code: "content_rejected", message: "Weapons cannot be advertised." }],
      "req",
    );
    expect(wrongOf(refused)).toEqual({ fields: {}, summary: "Weapons cannot be advertised." });
  });
});

test("generating again sends the corrected facts and what the form does not show", () => {
  const c = {
    tags: ["tea"],
    generation: {
      prompt: text,
      understood: latte,
      negative_prompt: "cheap",
      provider: "composer",
      parameters: {
        type: "image",
        channels: ["social"],
        variants: 2,
        formats: ["svg"],
        brand: { name: "", logo_url: "/v1/assets/ast_1" },
      },
    },
  } as unknown as Creative;
  const state = stateOf(c);
  const request = requestOf({ ...state, facts: { ...state.facts, product: "Oat latte" } });
  expect(request.prompt).toBeUndefined();
  expect(request).toMatchObject({
    brief: { product: "Oat latte", offer: "20% off" },
    type: "image",
    variants: 2,
    formats: ["svg"],
    negative_prompt: "cheap",
    brand: { logo_url: "/v1/assets/ast_1" },
    tags: ["tea"],
  });
});
