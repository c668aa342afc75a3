import { campaigns } from "./campaigns";
import { common } from "./common";
import { errors } from "./errors";
import { labels } from "./labels";
import { overview } from "./overview";
import { settings } from "./settings";
import { shell } from "./shell";
import { signin } from "./signin";

/** All texts in German. */
export const catalog = { campaigns, common, errors, labels, overview, settings, shell, signin };
export type Catalog = typeof catalog;
