import optimizeLocales from "@react-aria/optimize-locales-plugin";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** The programs that the pages start once their language is known. */
const programs = new Set(["main", "signin"]);

/** Has a page load its program's files at once, instead of when it starts the program. */
const preloadPrograms: Plugin = {
  name: "preload-programs",
  transformIndexHtml: (_, { bundle, chunk }) => {
    const files = new Set<string>();
    const add = (file: string) => {
      const found = bundle?.[file];
      if (found?.type !== "chunk" || files.has(file)) return;
      files.add(file);
      found.imports.forEach(add);
    };
    for (const file of chunk?.dynamicImports ?? []) {
      if (programs.has(bundle?.[file]?.name ?? "")) add(file);
    }
    for (const file of chunk?.imports ?? []) files.delete(file); // the page has them already
    return [...files].map((file) => ({
      tag: "link",
      attrs: { rel: "modulepreload", crossorigin: true, href: `/${file}` },
      injectTo: "head" as const,
    }));
  },
};

export default defineConfig({
  // The viewer of the tests is American, whoever runs them.
  test: { environment: "node", setupFiles: ["src/lib/test-setup.ts"] },
  plugins: [
    react(),
    tailwindcss(),
    { ...optimizeLocales.vite({ locales: ["en-US", "de-DE"] }), enforce: "pre" },
    preloadPrograms,
  ],
  build: {
    outDir: "../internal/console/dist",
    // The folder's .gitignore stays, because the program does not compile
    // without the folder.
    emptyOutDir: false,
    target: "es2023",
    // Nothing may stand inside a page that its policy would refuse.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // What loads what, for the sizes in make bench; it is not served.
    manifest: ".manifest.json",
    // The charts' library is one piece and comes with the first chart.
    chunkSizeWarningLimit: 600,
    rollupOptions: { input: { index: "index.html", signin: "signin.html" } },
  },
  server: {
    port: 5173,
    proxy: Object.fromEntries(
      ["/console", "/docs", "/openapi"].map((path) => [path, { target: "https://localhost:8443", secure: false }]),
    ),
  },
});
