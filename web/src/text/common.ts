import { area } from "./catalog";
import { common as en } from "./en/common";

export const common = area("common", en);
