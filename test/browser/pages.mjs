// Every page of the console, with one record of each kind where a page shows
// one.
import { ask } from "./browser.mjs";

export async function pages(page) {
  const one = async (kind, wanted = () => true) => {
    const list = await ask(page, `/console/v1/${kind}?limit=100`);
    return list.find(wanted)?.id ?? list[0]?.id;
  };
  const details = {
    campaigns: await one("campaigns", (c) => c.status === "active"),
    creative: await one("creative", (c) => c.status === "ready"),
    audiences: await one("audiences", (a) => a.type === "customer_list"),
    connections: await one("connections"),
  };
  return [
    "/",
    "/campaigns",
    "/creative",
    "/audiences",
    "/analytics",
    "/connections",
    ...Object.entries(details).flatMap(([kind, id]) => (id ? [`/${kind}/${id}`] : [])),
    "/settings/workspace",
    "/settings/members",
    "/settings/models",
    "/settings/audit",
    "/settings/api/keys",
    "/settings/api/requests",
    "/settings/profile",
    "/settings/security",
    "/settings/appearance",
  ];
}

/** A page's name for a file: without ids. */
export const nameOf = (path) => path.replace(/\/\w+_\w+$/, "-one").replaceAll("/", "-").replace(/^-/, "") || "overview";
