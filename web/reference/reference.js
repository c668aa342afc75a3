// Mounts the interactive reference on the contract that the same server gives.
// Everything that would ask another host is off.
const { origin } = window.location;

// The reference shows the values of an enumeration, and does not know the
// open ones of this contract.
function listed(node) {
  if (Array.isArray(node)) return node.map(listed);
  if (node === null || typeof node !== "object") return node;
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name === "x-extensible-enum" ? "enum" : name, listed(value)]),
  );
}

function mount(contract) {
  window.Scalar.createApiReference("#reference", {
    content: listed(contract),
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
}

fetch("/openapi/v1.json")
  .then((res) => res.json())
  .then(mount);
