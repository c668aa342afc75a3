Object.defineProperty(globalThis, "navigator", {
  value: { language: "en-US", languages: ["en-US"] },
  configurable: true,
});
Object.defineProperty(globalThis, "location", { value: new URL("https://fanfare.example"), configurable: true });
Object.defineProperty(globalThis, "localStorage", { value: { getItem: () => null }, configurable: true });
