import { area } from "./catalog";
import { signin } from "./en/signin";

export const t = area("signin", signin);
