// A plain letter for each platform; their own marks belong to them.
import { words } from "../../lib/format";

const letters: Record<string, string> = { ga4: "A", microsoft_ads: "MS", csv: "CSV", api: "API" };

export const platformName = words;

export function Glyph({ platform, size = "size-8" }: { platform: string; size?: string }) {
  const text = letters[platform] ?? platformName(platform).charAt(0);
  return (
    <span
      aria-hidden="true"
      className={`grid shrink-0 place-items-center rounded-md border border-line bg-sunken font-semibold text-muted ${size} ${text.length > 1 ? "text-2xs" : "text-sm"}`}
    >
      {text}
    </span>
  );
}
