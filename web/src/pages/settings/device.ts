/** A browser and its system in words, from what it says of itself: "Firefox on Windows". */
export function device(agent: string): string {
  const find = (known: [RegExp, string][]) => known.find(([pattern]) => pattern.test(agent))?.[1];
  // Most say that they are several; the narrower name comes first.
  const browser = find([
    [/Edg(e|A|iOS)?\//, "Edge"],
    [/OPR\//, "Opera"],
    [/SamsungBrowser\//, "Samsung Internet"],
    [/(Firefox|FxiOS)\//, "Firefox"],
    [/(Chrome|CriOS|Chromium)\//, "Chrome"],
    [/Safari\//, "Safari"],
    [/^curl\//, "curl"],
  ]);
  const system = find([
    [/iPhone/, "iPhone"],
    [/iPad/, "iPad"],
    [/Android/, "Android"],
    [/Windows/, "Windows"],
    [/Mac OS X|Macintosh/, "Mac"],
    [/CrOS/, "ChromeOS"],
    [/Linux/, "Linux"],
  ]);
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? system ?? "Unknown device";
}
