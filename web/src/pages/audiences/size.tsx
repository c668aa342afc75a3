import { count, shortCount } from "../../lib/format";
import { t } from "../../text/audiences";
import type { Audience } from "./data";

/** How many people: counted, or between two figures; never guessed. */
export function Size({ size }: { size: Audience["size"] }) {
  if (!size) return <span className="text-faint">{t.detail.unknownSize}</span>;
  if (size.lower === size.upper) return <span className="num">{count(size.estimate)}</span>;
  return (
    <span className="num whitespace-nowrap">
      {shortCount(size.lower)} – {shortCount(size.upper)}
    </span>
  );
}
