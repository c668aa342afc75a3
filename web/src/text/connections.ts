import { area } from "./catalog";
import { connections } from "./en/connections";

export const t = area("connections", connections);
