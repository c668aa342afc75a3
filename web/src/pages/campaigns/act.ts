// What can be done with campaigns: shown at once, taken back when the server
// refuses, and undone on request.

import { type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { take, v1 } from "../../api/client";
import { t } from "../../text/campaigns";
import { say } from "../../ui/toast";
import { type Campaign, changeKept, useRefresh } from "./data";

export type Action = "launch" | "pause" | "resume" | "archive" | "restore";

async function call(id: string, action: Action): Promise<Campaign> {
  const params = { path: { id } };
  switch (action) {
    case "launch":
      return (await take(v1.POST("/v1/campaigns/{id}/launch", { params }))).data;
    case "pause":
      return (await take(v1.POST("/v1/campaigns/{id}/pause", { params }))).data;
    case "resume":
      return (await take(v1.POST("/v1/campaigns/{id}/resume", { params }))).data;
    case "archive":
      return (await take(v1.DELETE("/v1/campaigns/{id}", { params }))).data;
    case "restore":
      return (await take(v1.POST("/v1/campaigns/{id}/restore", { params }))).data;
  }
}

const becomes: Record<Action, (c: Campaign) => Campaign["status"]> = {
  launch: () => "active",
  pause: () => "paused",
  resume: () => "active",
  archive: () => "archived",
  restore: (c) => (c.launched_at ? "paused" : "draft"),
};

/** What takes an action back. An active campaign comes back from the archive paused, so it is resumed too. */
function opposite(action: Action, before: Campaign | undefined): Action[] {
  switch (action) {
    case "launch":
    case "resume":
      return ["pause"];
    case "pause":
      return ["resume"];
    case "archive":
      return before?.status === "active" ? ["restore", "resume"] : ["restore"];
    case "restore":
      return ["archive"];
  }
}

/** Does one thing with one campaign and shows it before the server has answered. Returns what would undo it. */
async function perform(client: QueryClient, id: string, action: Action): Promise<Action[]> {
  await client.cancelQueries({ queryKey: ["campaigns"] });
  const before = changeKept(client, id, (c) => ({ ...c, status: becomes[action](c) }));
  try {
    const after = await call(id, action);
    changeKept(client, id, () => after);
  } catch (e) {
    if (before) changeKept(client, id, () => before);
    throw e;
  }
  return opposite(action, before);
}

const mutationKey = ["campaigns", "act"];

/** Launches, pauses, resumes, archives or restores a campaign, with ten seconds to undo it. */
export function useAct() {
  const client = useQueryClient();
  const refresh = useRefresh();
  const act = useMutation({
    mutationKey,
    mutationFn: async ({ id, actions }: { id: string; name: string; actions: Action[]; undoing?: boolean }) => {
      let back: Action[] = [];
      for (const action of actions) back = await perform(client, id, action);
      return back;
    },
    onSuccess: (back, { id, name, actions, undoing }) => {
      const text = t.done[actions[actions.length - 1] as Action](name);
      say(text, undoing ? undefined : () => act.mutate({ id, name, actions: back, undoing: true }));
    },
    // Only the last of several looks again, or the first answers would show older states.
    onSettled: () => {
      if (client.isMutating({ mutationKey }) === 1) refresh();
    },
  });
  const { mutate } = act;
  return useCallback((c: Campaign, action: Action) => mutate({ id: c.id, name: c.name, actions: [action] }), [mutate]);
}

export interface Progress {
  action: Action;
  total: number;
  finished: number;
  failed: { campaign: Campaign; reason: string }[];
}

/** Does the same with many campaigns, four at a time, and tells how far it is. */
export function useActOnMany(tell: (p: Progress | null) => void) {
  const client = useQueryClient();
  const refresh = useRefresh();
  const run = async (campaigns: Campaign[], actionsOf: (c: Campaign) => Action[], word: Action, undoable: boolean) => {
    const backs = new Map<string, Action[]>();
    const queue = [...campaigns];
    const progress: Progress = { action: word, total: campaigns.length, finished: 0, failed: [] };
    const work = async () => {
      for (let c = queue.shift(); c; c = queue.shift()) {
        try {
          for (const action of actionsOf(c)) backs.set(c.id, await perform(client, c.id, action));
        } catch (e) {
          progress.failed.push({ campaign: c, reason: (e as Error).message });
        }
        progress.finished++;
        tell({ ...progress });
      }
    };
    tell({ ...progress });
    await Promise.all([work(), work(), work(), work()]);
    refresh();
    if (progress.failed.length === 0) tell(null);
    const changed = campaigns.filter((c) => backs.has(c.id));
    if (changed.length === 0) return;
    const undo = () =>
      run(changed, (c) => backs.get(c.id) ?? [], (backs.get(changed[0]?.id ?? "") ?? [word])[0] as Action, false);
    say(t.done[word](t.count(changed.length)), undoable ? undo : undefined);
  };
  return (campaigns: Campaign[], action: Action) => run(campaigns, () => [action], action, true);
}
