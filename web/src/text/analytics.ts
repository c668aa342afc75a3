import { area } from "./catalog";
import { analytics } from "./en/analytics";

export const t = area("analytics", analytics);
