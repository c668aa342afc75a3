// Puts the interactive reference into internal/docs/dist: Scalar as it is
// published, compressed once so that the server need not, and what mounts it.
// Scalar's plain file stays out: the binary is smaller by 4 MB, and every
// browser takes one of the other two.
//
// Scalar's browser build needs none of the 250 packages that its package names,
// so the package is fetched alone, and must be the very one that was reviewed.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const scalar = "@scalar/api-reference@1.72.1";
const integrity = "sha512-XpEJ0rfc/cXbCrR+iC4kK0o/WwX2dTtGQbT049OlPKAHD6IMIFdTeGz2r+M27P2EDWKyUITRm/NzlP8z2pw/Ow==";

const here = new URL(".", import.meta.url).pathname;
const out = join(here, "../../internal/docs/dist");

function fetched(folder) {
  const run = (name, ...args) => execFileSync(name, args, { cwd: folder, maxBuffer: 64 << 20, stdio: ["ignore", "pipe", "inherit"] });
  const archive = join(folder, run("npm", "pack", "--silent", scalar).toString().trim());
  const got = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
  if (got !== integrity) throw new Error(`${scalar} is not what it was: got ${got} want ${integrity}`);
  return run("tar", "-xzOf", archive, "package/dist/browser/standalone.js");
}

const folder = mkdtempSync(join(tmpdir(), "fanfare-scalar-"));
try {
  const text = fetched(folder);
  writeFileSync(join(out, "scalar.js.gz"), gzipSync(text, { level: 9 }));
  writeFileSync(join(out, "scalar.js.br"), brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
} finally {
  rmSync(folder, { recursive: true });
}
// Last, because its presence says that all of it is there.
copyFileSync(join(here, "reference.js"), join(out, "reference.js"));
