// What the pages of connections read.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { type Schemas, take, v1 } from "../../api/client";

export type Connection = Schemas["Connection"];
export type SyncRun = Schemas["SyncRun"];
export type Entity = Schemas["PlatformEntity"];
export type PlatformInfo = Schemas["PlatformInfo"];
export type Import = Schemas["Import"];

/** Whether a run is over. */
export const isOver = (s: SyncRun) => !["queued", "running", "waiting"].includes(s.status);

/** Whether data is sent and not fetched. */
export const isOwn = (c: Connection) => c.platform === "csv" || c.platform === "api";

export const platformsQuery = queryOptions({
  queryKey: ["connections", "platforms"],
  queryFn: async () => (await take(v1.GET("/v1/platforms"))).data,
  staleTime: 300_000,
});

export const connectionQuery = (id: string) =>
  queryOptions({
    queryKey: ["connections", "one", id],
    queryFn: async () => (await take(v1.GET("/v1/connections/{id}", { params: { path: { id } } }))).data,
    // Schedules start runs by themselves; while one is under way the page looks more often.
    refetchInterval: (q) => (q.state.data?.sync.state === "idle" ? 20_000 : 2000),
  });

export const syncQuery = (id: string) =>
  queryOptions({
    queryKey: ["connections", "sync", id],
    queryFn: async () => (await take(v1.GET("/v1/syncs/{id}", { params: { path: { id } } }))).data,
    refetchInterval: (q) => (q.state.data && isOver(q.state.data) ? false : 1000),
  });

/** Starts a run; one that is under way already is answered instead of a second. */
export function useSync(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (body: Partial<Schemas["SyncOptions"]>) =>
      (await take(v1.POST("/v1/connections/{id}/sync", { params: { path: { id } }, body: body as never }))).data,
    onSettled: () => client.invalidateQueries({ queryKey: ["connections"] }),
  });
}

/** Asks for access anew. An OAuth platform answers with the page on which a person grants it. */
export function useReconnect(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (credentials?: Schemas["CredentialsInput"]) =>
      (
        await take(
          v1.POST("/v1/connections/{id}/reconnect", {
            params: { path: { id } },
            body: credentials ? { credentials } : {},
          }),
        )
      ).data,
    onSuccess: (c) => {
      if (!goToGrant(c)) client.invalidateQueries({ queryKey: ["connections"] });
    },
  });
}

/** Takes the person to the platform's page, where there is one to go to. */
export function goToGrant(c: Connection): boolean {
  if (!c.authorization_url || !/^https?:\/\//.test(c.authorization_url)) return false;
  location.assign(c.authorization_url);
  return true;
}
