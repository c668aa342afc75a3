// Audiences as the pages read and change them.

import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { type Schemas, take, v1 } from "../../api/client";
import { t } from "../../text/audiences";
import type { Option } from "../../ui/fields";
import { say } from "../../ui/toast";

export type Audience = Schemas["Audience"];
export type Targeting = Schemas["TargetingDefinition"];
export type Lookalike = Schemas["LookalikeDefinition"];
export type Insights = Schemas["AudienceInsights"];
export type Patch = Schemas["AudiencePatch"];

export const typeNames: Record<Audience["type"], string> = t.types;

export interface Filter {
  q?: string;
  type?: string;
  status?: string;
  tag?: string;
  sort?: string;
  order?: string;
}

/** A filter as parameters of the list; what is not set is left out. */
export function listQuery(f: Filter) {
  return {
    q: f.q || undefined,
    type: f.type ? [f.type as Audience["type"]] : undefined,
    status: f.status ? [f.status as Audience["status"] | "all"] : undefined,
    tag: f.tag || undefined,
    sort: (f.sort || undefined) as "created_at" | "updated_at" | "name" | "size.estimate" | undefined,
    order: (f.order || undefined) as "asc" | "desc" | undefined,
  };
}

export const audiencesQuery = (f: Filter) =>
  infiniteQueryOptions({
    queryKey: ["audiences", "list", f],
    queryFn: ({ pageParam }) =>
      take(v1.GET("/v1/audiences", { params: { query: { limit: 50, cursor: pageParam, ...listQuery(f) } } })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });

/** Names to choose from and to show ids by. */
export const namesQuery = queryOptions({
  queryKey: ["audiences", "names"],
  queryFn: async () =>
    (await take(v1.GET("/v1/audiences", { params: { query: { limit: 100, sort: "name", order: "asc" } } }))).data,
});

export const namesOf = (list?: Audience[]): Option[] => (list ?? []).map((a) => ({ id: a.id, label: a.name }));

export const audienceQuery = (id: string) =>
  queryOptions({
    queryKey: ["audiences", id],
    queryFn: async () => (await take(v1.GET("/v1/audiences/{id}", { params: { path: { id } } }))).data,
    refetchInterval: ({ state }) => (state.data?.status === "processing" ? 3000 : false),
  });

export const membersQuery = (id: string) =>
  queryOptions({
    queryKey: ["audiences", id, "members"],
    queryFn: async () => (await take(v1.GET("/v1/audiences/{id}/members", { params: { path: { id } } }))).data,
  });

/** How many campaigns there are to count uses in; beyond that the list would wait for too long. */
const counted = 1000;

/** In how many campaigns each audience is, in or out. */
export const usesQuery = queryOptions({
  queryKey: ["campaigns", "audience-uses"],
  queryFn: async () => {
    const uses = new Map<string, number>();
    let cursor: string | undefined;
    for (let seen = 0; seen < counted; seen += 100) {
      const page = await take(v1.GET("/v1/campaigns", { params: { query: { limit: 100, cursor } } }));
      for (const c of page.data) {
        for (const id of [...c.audience_ids, ...c.excluded_audience_ids]) uses.set(id, (uses.get(id) ?? 0) + 1);
      }
      if (!page.next_cursor) break;
      cursor = page.next_cursor;
    }
    return uses;
  },
  staleTime: 60_000,
});

/** Puts an audience that a change has answered where pages look for it. */
export function useKeep(): (a: Audience) => void {
  const client = useQueryClient();
  return (a) => {
    client.setQueryData(["audiences", a.id], a);
    client.invalidateQueries({ queryKey: ["audiences"], predicate: (q) => q.queryKey[1] !== a.id });
    client.invalidateQueries({ queryKey: ["audiences", a.id, "insights"] });
  };
}

export function useCreate() {
  const keep = useKeep();
  return useMutation({
    meta: { quiet: true },
    mutationFn: async (body: Schemas["AudienceCreate"]) => (await take(v1.POST("/v1/audiences", { body }))).data,
    onSuccess: keep,
  });
}

export function usePatch(id: string) {
  const keep = useKeep();
  return useMutation({
    meta: { quiet: true },
    mutationFn: async (body: Patch) =>
      (await take(v1.PATCH("/v1/audiences/{id}", { params: { path: { id } }, body }))).data,
    onSuccess: keep,
  });
}

export function useRestore() {
  const keep = useKeep();
  return useMutation({
    mutationFn: async (id: string) =>
      (await take(v1.POST("/v1/audiences/{id}/restore", { params: { path: { id } } }))).data,
    onSuccess: keep,
  });
}

export function useArchive() {
  const keep = useKeep();
  const restore = useRestore();
  return useMutation({
    mutationFn: async (id: string) => (await take(v1.DELETE("/v1/audiences/{id}", { params: { path: { id } } }))).data,
    onSuccess: (a) => {
      keep(a);
      say(t.archived, () => restore.mutate(a.id));
    },
  });
}
