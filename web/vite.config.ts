import optimizeLocales from "@react-aria/optimize-locales-plugin";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  // The viewer of the tests is American, whoever runs them.
  test: { environment: "node", setupFiles: ["src/lib/test-setup.ts"] },
  plugins: [react(), tailwindcss(), { ...optimizeLocales.vite({ locales: ["en-US"] }), enforce: "pre" }],
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
