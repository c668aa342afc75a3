import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { readRange } from "./lib/range";
import { sessionQuery } from "./lib/session";
import { NotFound } from "./shell/notfound";
import { Shell } from "./shell/shell";
import { Broken, Failed } from "./ui/feedback";

const root = createRootRouteWithContext<{ client: QueryClient }>()({
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: ({ error, reset }) => <Failed error={error} retry={reset} />,
  beforeLoad: ({ context }) => context.client.ensureQueryData(sessionQuery),
});

type Search = Record<string, unknown>;

/** What stands after the question mark belongs to the page; the period is read the same everywhere. */
const kept = (search: Search): Search => ({ ...search, ...readRange(search) });

function page(path: string, load: () => Promise<Record<string, unknown>>, name: string) {
  return createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: kept,
    component: lazyRouteComponent(load as () => Promise<Record<string, () => React.ReactNode>>, name),
  });
}

const settings = createRoute({
  getParentRoute: () => root,
  id: "settings-frame",
  component: lazyRouteComponent(() => import("./pages/settings/frame"), "SettingsFrame"),
});

function setting(path: string, load: () => Promise<Record<string, unknown>>, name: string) {
  return createRoute({
    getParentRoute: () => settings,
    path,
    validateSearch: kept,
    component: lazyRouteComponent(load as () => Promise<Record<string, () => React.ReactNode>>, name),
  });
}

const tree = root.addChildren([
  page("/", () => import("./pages/overview"), "Overview"),
  page("/campaigns", () => import("./pages/campaigns/list"), "Campaigns"),
  page("/campaigns/$id", () => import("./pages/campaigns/detail"), "CampaignDetail"),
  page("/creative", () => import("./pages/creative/gallery"), "Gallery"),
  page("/creative/$id", () => import("./pages/creative/detail"), "CreativeDetail"),
  page("/audiences", () => import("./pages/audiences/list"), "Audiences"),
  page("/audiences/$id", () => import("./pages/audiences/detail"), "AudienceDetail"),
  page("/analytics", () => import("./pages/analytics/explorer"), "Explorer"),
  page("/connections", () => import("./pages/connections/list"), "Connections"),
  page("/connections/$id", () => import("./pages/connections/detail"), "ConnectionDetail"),
  createRoute({
    getParentRoute: () => root,
    path: "/settings",
    beforeLoad: () => {
      throw redirect({ to: "/settings/workspace" });
    },
  }),
  settings.addChildren([
    setting("/settings/workspace", () => import("./pages/settings/workspace"), "WorkspaceSettings"),
    setting("/settings/members", () => import("./pages/settings/members"), "Members"),
    setting("/settings/models", () => import("./pages/settings/models"), "Models"),
    setting("/settings/audit", () => import("./pages/settings/audit"), "Audit"),
    setting("/settings/api/keys", () => import("./pages/settings/keys"), "Keys"),
    setting("/settings/api/requests", () => import("./pages/settings/requests"), "Requests"),
    setting("/settings/profile", () => import("./pages/settings/profile"), "Profile"),
    setting("/settings/security", () => import("./pages/settings/security"), "Security"),
    setting("/settings/appearance", () => import("./pages/settings/appearance"), "Appearance"),
  ]),
]);

export function makeRouter(client: QueryClient) {
  return createRouter({
    routeTree: tree,
    context: { client },
    defaultPreload: "intent",
    scrollRestoration: true,
    // An error in a page leaves the navigation around it usable.
    defaultErrorComponent: ({ reset }) => <Broken retry={reset} />,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
