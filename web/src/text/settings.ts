import { area } from "./catalog";
import { settings } from "./en/settings";

export const t = area("settings", settings);
