import { t } from "../../text/settings";

// Most browsers say that they are several; the narrower name comes first.
const browsers = {
  Edge: /Edg(e|A|iOS)?\//,
  Opera: /OPR\//,
  "Samsung Internet": /SamsungBrowser\//,
  Firefox: /(Firefox|FxiOS)\//,
  Chrome: /(Chrome|CriOS|Chromium)\//,
  Safari: /Safari\//,
  curl: /^curl\//,
};

const systems = {
  iPhone: /iPhone/,
  iPad: /iPad/,
  Android: /Android/,
  Windows: /Windows/,
  Mac: /Mac OS X|Macintosh/,
  ChromeOS: /CrOS/,
  Linux: /Linux/,
};

/** A browser and its system in words, from what it says of itself: "Firefox on Windows". */
export function device(agent: string): string {
  const find = (known: Record<string, RegExp>) => Object.keys(known).find((name) => known[name]?.test(agent));
  const browser = find(browsers);
  const system = find(systems);
  if (browser && system) return t.sessions.device(browser, system);
  return browser ?? system ?? t.sessions.unknownDevice;
}
