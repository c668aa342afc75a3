import { area } from "./catalog";
import { audiences } from "./en/audiences";

export const t = area("audiences", audiences);
