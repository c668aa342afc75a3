import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { strings } from "./strings";

const src = new URL("..", import.meta.url).pathname;

/** Code that people paste, names of modules, fixtures: no text of the console. */
const exempt = /^(text\/|lib\/snippet\.ts|router\.tsx|api\/schema\.d\.ts)|\.test\.ts$|test-setup\.ts$/;

const files = readdirSync(src, { recursive: true })
  .map(String)
  .filter((f) => /\.tsx?$/.test(f) && !exempt.test(f));

test.each(files)("%s has its texts in the catalog", (file) => {
  const found = strings(file, readFileSync(src + file, "utf8"));
  expect(found.map((f) => `${file}:${f.line}: ${f.text}`)).toEqual([]);
});
