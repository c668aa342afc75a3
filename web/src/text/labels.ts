import { area } from "./catalog";
import { labels as en } from "./en/labels";

export const labels = area("labels", en);
