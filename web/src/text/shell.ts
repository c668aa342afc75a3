import { area } from "./catalog";
import { shell } from "./en/shell";

export const t = area("shell", shell);
