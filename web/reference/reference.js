// Mounts the interactive reference on the contract that the same server gives.
// Everything that would ask another host is off.
const { origin } = window.location;
window.Scalar.createApiReference("#reference", {
  url: "/openapi/v1.json",
  servers: [{ url: origin, description: "This server" }],
  authentication: { preferredSecurityScheme: "bearer" },
  withDefaultFonts: false,
  proxyUrl: "",
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
  persistAuth: false,
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
});
