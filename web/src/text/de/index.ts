import { analytics } from "./analytics";
import { audiences } from "./audiences";
import { campaigns } from "./campaigns";
import { common } from "./common";
import { connections } from "./connections";
import { creative } from "./creative";
import { errors } from "./errors";
import { labels } from "./labels";
import { metrics } from "./metrics";
import { overview } from "./overview";
import { settings } from "./settings";
import { shell } from "./shell";
import { signin } from "./signin";

/** All texts in German. */
export const catalog = {
  analytics,
  audiences,
  campaigns,
  common,
  connections,
  creative,
  errors,
  labels,
  metrics,
  overview,
  settings,
  shell,
  signin,
};
export type Catalog = typeof catalog;
