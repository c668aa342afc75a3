import { useMutation, useQueryClient } from "@tanstack/react-query";
import { own } from "../../api/client";
import type { SignedIn, Workspace } from "../../api/console";
import { sessionQuery } from "../../lib/session";

/** What can be changed about a workspace. */
export type WorkspaceChange = Partial<
  Pick<Workspace, "name" | "timezone" | "currency" | "require_approval" | "model_budget" | "endless_keys">
>;

/** Changes the workspace; it is shown changed at once, and as it was if the server refuses. */
export function useSaveWorkspace(quiet = false) {
  const client = useQueryClient();
  const show = (change: WorkspaceChange) =>
    client.setQueryData(
      sessionQuery.queryKey,
      (s) => s && ({ ...s, workspace: { ...s.workspace, ...change } } satisfies SignedIn),
    );
  return useMutation({
    meta: { quiet },
    mutationFn: (change: WorkspaceChange) => own<Workspace>("PATCH", "/workspace", change),
    onMutate: (change) => {
      const before = client.getQueryData(sessionQuery.queryKey);
      show(change);
      return before;
    },
    onError: (_error, _change, before) => client.setQueryData(sessionQuery.queryKey, before),
    onSettled: () => client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  });
}
