import { t } from "../../text/connections";

/** How often something happens, in the largest unit that fits. */
export function every(minutes: number): string {
  if (minutes % 1440 === 0) return t.every.days(minutes / 1440);
  if (minutes % 60 === 0) return t.every.hours(minutes / 60);
  return t.every.minutes(minutes);
}
