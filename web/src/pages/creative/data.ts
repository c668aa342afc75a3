// Creatives as the pages read and change them.

import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { type Schemas, take, v1 } from "../../api/client";
import { words } from "../../lib/format";
import { t } from "../../text/creative";
import type { Option } from "../../ui/fields";
import { say } from "../../ui/toast";

export type Creative = Schemas["Creative"];
export type Variant = Schemas["Variant"];
export type Content = Schemas["Content"];
export type Copy = Schemas["ChannelCopy"];
export type Finding = Schemas["Finding"];
export type Patch = Schemas["CreativePatch"];
export type Channel = Schemas["Channel"];

export const channels: Channel[] = [
  "search",
  "social",
  "display",
  "video",
  "audio",
  "email",
  "sms",
  "push",
  "affiliate",
  "influencer",
  "direct_mail",
  "other",
];

/** A channel or a type in words. */
export const named = (v: string) => words(v);

export const options = (ids: readonly string[]): Option[] => ids.map((id) => ({ id, label: named(id) }));

const actions = [
  "learn_more",
  "shop_now",
  "sign_up",
  "get_offer",
  "book_now",
  "contact_us",
  "download",
  "subscribe",
  "get_quote",
  "apply_now",
  "donate_now",
  "order_now",
  "get_started",
  "register_now",
  "buy_tickets",
  "watch_now",
  "get_directions",
  "call_now",
];

/** What a reader can be asked to do; the first is to leave it open. */
export const callOptions: Option[] = [{ id: "none", label: t.none }, ...options(actions)];

export const callOf = (id: string) => (id === "none" ? null : (id as Content["call_to_action"]));

/** Where a picture lies for who is signed in. */
export const picture = (media: { url: string }) => `/console${media.url}`;

export interface Filter {
  q?: string;
  type?: string;
  status?: string;
  approval?: string;
  channel?: string;
  tag?: string;
  sort?: string;
  order?: string;
}

/** A filter as parameters of the list; what is not set is left out. */
export function listQuery(f: Filter) {
  const one = <T>(v?: string) => (v ? [v as T] : undefined);
  return {
    q: f.q || undefined,
    type: one<Creative["type"]>(f.type),
    status: one<Creative["status"] | "all">(f.status),
    approval: one<Creative["approval"]["status"]>(f.approval),
    channel: one<Channel>(f.channel),
    tag: f.tag || undefined,
    sort: (f.sort || undefined) as "created_at" | "updated_at" | "name" | undefined,
    order: (f.order || undefined) as "asc" | "desc" | undefined,
  };
}

export const creativesQuery = (f: Filter) =>
  infiniteQueryOptions({
    queryKey: ["creative", "list", f],
    queryFn: ({ pageParam }) =>
      take(v1.GET("/v1/creative", { params: { query: { limit: 48, cursor: pageParam, ...listQuery(f) } } })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    // Cards of what is being made turn into pictures by themselves.
    refetchInterval: ({ state }) =>
      state.data?.pages.some((p) => p.data.some((c) => c.status === "generating")) ? 2000 : false,
  });

export const creativeQuery = (id: string) =>
  queryOptions({
    queryKey: ["creative", id],
    queryFn: async () => (await take(v1.GET("/v1/creative/{id}", { params: { path: { id } } }))).data,
    refetchInterval: ({ state }) => (state.data?.status === "generating" ? 1000 : false),
  });

export const variantsQuery = (id: string) =>
  queryOptions({
    queryKey: ["creative", id, "variants"],
    queryFn: async () =>
      (
        await take(
          v1.GET("/v1/creative/{id}/variants", {
            params: { path: { id }, query: { limit: 100, include: "metrics" } },
          }),
        )
      ).data,
  });

/** Puts a creative that a change has answered where pages look for it. */
export function useKeep(): (c: Creative) => void {
  const client = useQueryClient();
  return (c) => {
    client.setQueryData(["creative", c.id], c);
    client.invalidateQueries({ queryKey: ["creative", "list"] });
    client.invalidateQueries({ queryKey: ["creative", c.id, "variants"] });
    client.invalidateQueries({ queryKey: ["campaigns"] });
  };
}

/** Changes fields of a creative. Forms say what is wrong themselves: quiet. */
export function usePatch(id: string, quiet = false) {
  const keep = useKeep();
  return useMutation({
    meta: { quiet },
    mutationFn: async (body: Patch) =>
      (await take(v1.PATCH("/v1/creative/{id}", { params: { path: { id } }, body }))).data,
    onSuccess: keep,
  });
}

/** Reads a creative and its variants again after a change of a variant. */
function useReread(id: string) {
  const client = useQueryClient();
  return () =>
    client.invalidateQueries({
      queryKey: ["creative"],
      predicate: (q) => [id, "list"].includes(String(q.queryKey[1])),
    });
}

/** The version of a variant that a change is about; a newer one is not overwritten. */
const match = (v: Variant) => ({ "If-Match": `"${v.version}.0"` });

/** Changes the texts of a variant. */
export function useVariantPatch(v: Variant) {
  const done = useReread(v.creative_id);
  return useMutation({
    meta: { quiet: true },
    mutationFn: async (body: Schemas["VariantPatch"]) =>
      (await take(v1.PATCH("/v1/variants/{id}", { params: { path: { id: v.id }, header: match(v) }, body }))).data,
    onSuccess: done,
  });
}

/** Approves or rejects a variant. */
export function useDecide(v: Variant) {
  const done = useReread(v.creative_id);
  return useMutation({
    mutationFn: async (what: "approve" | "reject") => {
      const params = { path: { id: v.id }, header: match(v) };
      return what === "approve"
        ? take(v1.POST("/v1/variants/{id}/approve", { params }))
        : take(v1.POST("/v1/variants/{id}/reject", { params }));
    },
    onSuccess: done,
  });
}

/** Replaces one line of a variant by another one from the same facts. */
export function useRegenerate(v: Variant | undefined) {
  const done = useReread(v?.creative_id ?? "");
  return useMutation({
    mutationFn: async (field: string) => {
      if (!v) return;
      await take(
        v1.POST("/v1/variants/{id}/regenerate", { params: { path: { id: v.id }, header: match(v) }, body: { field } }),
      );
    },
    onSuccess: done,
  });
}

/** Generates a creative whose variants all have the idea of one. */
export function useMoreLike() {
  const keep = useKeep();
  return useMutation({
    mutationFn: async (id: string) =>
      (
        await take(
          v1.POST("/v1/creative/generate", {
            params: { header: { Prefer: "respond-async" } },
            body: { like_variant_id: id } as Schemas["GenerateRequest"],
          }),
        )
      ).data,
    onSuccess: keep,
  });
}

export function useRestore() {
  const keep = useKeep();
  return useMutation({
    mutationFn: async (id: string) =>
      (await take(v1.POST("/v1/creative/{id}/restore", { params: { path: { id } } }))).data,
    onSuccess: keep,
  });
}

/** Archives, which stops a running generation too, and offers to take it back. */
export function useArchive() {
  const keep = useKeep();
  const restore = useRestore();
  return useMutation({
    mutationFn: async (id: string) => (await take(v1.DELETE("/v1/creative/{id}", { params: { path: { id } } }))).data,
    onSuccess: (c) => {
      keep(c);
      say(t.archived, () => restore.mutate(c.id));
    },
  });
}

export function useRetry() {
  const keep = useKeep();
  return useMutation({
    mutationFn: async (id: string) =>
      (
        await take(
          v1.POST("/v1/creative/{id}/retry", { params: { path: { id }, header: { Prefer: "respond-async" } } }),
        )
      ).data,
    onSuccess: keep,
  });
}

/** Sends the bytes of a picture; the server decides what they are. */
export async function upload(file: File): Promise<Schemas["Asset"]> {
  const answer = await take(
    v1.POST("/v1/assets", {
      body: file as never,
      bodySerializer: (b) => b as never,
      headers: { "Content-Type": "application/octet-stream" },
    }),
  );
  return answer.data;
}
