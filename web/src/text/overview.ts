import { area } from "./catalog";
import { overview } from "./en/overview";

export const t = area("overview", overview);
