import { defineConfig } from "@hey-api/openapi-ts";

export default defineConfig({
  input: "../../../api/openapi.yaml",
  output: { path: "fanfare", module: { extension: ".js" } },
  plugins: ["@hey-api/client-fetch"],
});
