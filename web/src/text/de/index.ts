import { common } from "./common";
import { creative } from "./creative";
import { errors } from "./errors";
import { labels } from "./labels";
import { settings } from "./settings";
import { shell } from "./shell";
import { signin } from "./signin";

/** All texts in German. */
export const catalog = { common, creative, errors, labels, settings, shell, signin };
export type Catalog = typeof catalog;
