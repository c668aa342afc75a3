import { area } from "./catalog";
import { creative } from "./en/creative";

export const t = area("creative", creative);
