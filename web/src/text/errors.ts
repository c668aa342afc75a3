import { area } from "./catalog";
import { errors as en } from "./en/errors";

export const errors = area("errors", en);
