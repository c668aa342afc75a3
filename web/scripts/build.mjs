// Builds the console into internal/console/dist: types from the contract, the
// bundle, and a compressed copy of each file so that the server need not.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";

const here = new URL("..", import.meta.url).pathname;
const out = join(here, "../internal/console/dist");

// The console is built with the server that it calls, so it knows every value
// that an open enumeration has.
const contract = join(here, "contract/node_modules/.openapi.yaml");
writeFileSync(
  contract,
  readFileSync(join(here, "../api/openapi.yaml"), "utf8").replaceAll("x-extensible-enum:", "enum:"),
);
execFileSync(join(here, "contract/node_modules/.bin/openapi-typescript"), [contract, "-o", "src/api/schema.d.ts"], {
  cwd: here,
  stdio: ["ignore", "ignore", "inherit"],
});
for (const name of readdirSync(out)) {
  if (name !== ".gitignore") rmSync(join(out, name), { recursive: true });
}
await build({ root: here, logLevel: "warn" });

const worth = /\.(js|css|html|svg|json|webmanifest)$/;
for (const name of readdirSync(out, { recursive: true })) {
  const file = join(out, name);
  if (!worth.test(name) || statSync(file).size < 1024) continue;
  const text = readFileSync(file);
  writeFileSync(`${file}.gz`, gzipSync(text, { level: 9 }));
  writeFileSync(`${file}.br`, brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }));
}
