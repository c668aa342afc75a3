import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { area } from "./catalog";
import { catalog as german } from "./de";
import { plural as plural_de } from "./de/plural";
import { plural as plural_en } from "./en/plural";
import { avoided } from "./words";

const here = new URL(".", import.meta.url).pathname;
const languages = ["en", "de"] as const;
const files = (language: string) => readdirSync(here + language).filter((f) => f !== "plural.ts");
const read = (language: string, file: string) => readFileSync(`${here}${language}/${file}`, "utf8");

/** Comments and names of keys are not read by the viewer. */
const texts = (code: string) => [...code.matchAll(/"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`|'((?:[^'\\]|\\.)*)'/g)];

describe.each(languages)("%s", (language) => {
  test.each(files(language))("%s has no word that the voice avoids", (file) => {
    const code = read(language, file).replace(/^import .*$|\/\*\*.*\*\//gm, "");
    const bad = texts(code)
      .map((m) => (m[1] ?? m[2] ?? m[3] ?? "").replace(/\$\{[^}]*\}/g, ""))
      .flatMap((text) => avoided[language].filter((word) => word.test(text)).map((word) => `${word}: ${text}`));
    expect(bad).toEqual([]);
  });
  test.each(files(language))("%s imports nothing that waits for it", (file) => {
    const imports = [...read(language, file).matchAll(/^import (type )?.* from "(.*)"/gm)];
    expect(imports.filter(([, type, from]) => !type && !from?.startsWith("./")).map((m) => m[2])).toEqual([]);
  });
});

test("a browser in English gets English", () => {
  const english = { ...german.shell, overview: "Overview" };
  expect(area("shell", english)).toBe(english);
});

test("plurals", () => {
  expect(plural_en(1, "# row", "# rows")).toBe("1 row");
  expect(plural_en(1200, "# row", "# rows")).toBe("1,200 rows");
  expect(plural_de(0, "# Zeile", "# Zeilen")).toBe("0 Zeilen");
  expect(plural_de(1200, "# Zeile", "# Zeilen")).toBe("1.200 Zeilen");
});
