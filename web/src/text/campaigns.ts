import { area } from "./catalog";
import { campaigns } from "./en/campaigns";

export const t = area("campaigns", campaigns);
