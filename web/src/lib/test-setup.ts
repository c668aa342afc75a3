Object.defineProperty(globalThis, "navigator", { value: { language: "en-US" }, configurable: true });
Object.defineProperty(globalThis, "location", { value: new URL("https://fanfare.example"), configurable: true });
