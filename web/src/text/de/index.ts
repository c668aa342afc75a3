import { common } from "./common";
import { connections } from "./connections";
import { errors } from "./errors";
import { labels } from "./labels";
import { settings } from "./settings";
import { shell } from "./shell";
import { signin } from "./signin";

/** All texts in German. */
export const catalog = { common, connections, errors, labels, settings, shell, signin };
export type Catalog = typeof catalog;
