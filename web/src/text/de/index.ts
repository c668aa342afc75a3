import { audiences } from "./audiences";
import { common } from "./common";
import { connections } from "./connections";
import { errors } from "./errors";
import { labels } from "./labels";
import { settings } from "./settings";
import { shell } from "./shell";
import { signin } from "./signin";

/** All texts in German. */
export const catalog = { audiences, common, connections, errors, labels, settings, shell, signin };
export type Catalog = typeof catalog;
