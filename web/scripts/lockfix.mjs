// Adds to package-lock.json the builds for other platforms that a registry may
// lack, so that `npm ci` accepts the lock. Run it after each `npm install`.
import { readFileSync, writeFileSync } from "node:fs";

const systems = ["android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32", "aix"];
const processors = ["arm64", "x64", "ia32", "wasm32", "ppc64", "s390x", "riscv64", "loong64", "mips64el", "arm"];

const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
for (const [path, p] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(p.optionalDependencies ?? {})) {
    const flat = `node_modules/${name}`;
    if (lock.packages[`${path}/node_modules/${name}`] || lock.packages[flat]) continue;
    const part = name.split("/").pop();
    const os = systems.find((o) => part.includes(o));
    const cpu = processors.find((c) => part.includes(c));
    lock.packages[flat] = {
      version: range.replace(/^[\^~]/, ""),
      ...(cpu ? { cpu: [cpu] } : {}),
      ...(p.dev ? { dev: true } : {}),
      optional: true,
      ...(os ? { os: [os] } : {}),
      ...(part.includes("musl") ? { libc: ["musl"] } : part.includes("gnu") ? { libc: ["glibc"] } : {}),
    };
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync("package-lock.json", `${JSON.stringify(lock, null, 2)}\n`);
