// Puts the interactive reference into internal/docs/dist: Scalar as it is
// published, compressed once so that the server need not, and what mounts it.
// Scalar's plain file stays out: the binary is smaller by 4 MB, and every
// browser takes one of the other two.
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const here = new URL(".", import.meta.url).pathname;
const out = join(here, "../../internal/docs/dist");
const text = readFileSync(join(here, "node_modules/@scalar/api-reference/dist/browser/standalone.js"));

writeFileSync(join(out, "scalar.js.gz"), gzipSync(text, { level: 9 }));
writeFileSync(join(out, "scalar.js.br"), brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }));
// Last, because its presence says that all of it is there.
copyFileSync(join(here, "reference.js"), join(out, "reference.js"));
