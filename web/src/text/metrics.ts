import { area } from "./catalog";
import { metrics as en } from "./en/metrics";

export const metrics = area("metrics", en);
