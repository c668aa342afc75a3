import { useMutation } from "@tanstack/react-query";
import { Download as DownloadIcon } from "lucide-react";
import { take, v1 } from "../../api/client";
import type { Catalogue } from "../../lib/catalogue";
import { count } from "../../lib/format";
import { t } from "../../text/analytics";
import { Button } from "../../ui/button";
import { Menu, MenuItem, MenuTrigger } from "../../ui/overlay";
import { say } from "../../ui/toast";
import type { Query } from "./query";

const kinds = {
  csv: { name: "CSV", accept: "text/csv" },
  ndjson: { name: "NDJSON", accept: "application/x-ndjson" },
};

/** Saves the rows of a query as a file: the first page, as large as a page can be. */
export function Download({ query, catalogue }: { query: Query; catalogue: Catalogue | undefined }) {
  const most = catalogue?.limits.max_limit ?? 10_000;
  const save = useMutation({
    mutationFn: async (kind: keyof typeof kinds) => {
      const body = { ...query, limit: most };
      const answer = v1.POST("/v1/analytics/query", {
        body: body as never,
        headers: { Accept: kinds[kind].accept },
        parseAs: "blob",
      });
      saveAs((await take(answer)) as Blob, `analytics.${kind}`);
      return (await answer).response.headers.get("X-Warnings") ?? "";
    },
    onSuccess: (warnings) => say(warnings.includes("data_lost") ? t.download.incomplete : t.download.done),
  });
  return (
    <MenuTrigger>
      <Button busy={save.isPending}>
        <DownloadIcon aria-hidden="true" />
        {t.download.download}
      </Button>
      <Menu label={t.download.upTo(count(most))}>
        {(Object.keys(kinds) as (keyof typeof kinds)[]).map((kind) => (
          <MenuItem key={kind} onAction={() => save.mutate(kind)}>
            {kinds[kind].name}
          </MenuItem>
        ))}
      </Menu>
    </MenuTrigger>
  );
}

export function saveAs(content: Blob, name: string) {
  const url = URL.createObjectURL(content);
  const a = document.createElement("a");
  a.href = url;
  a.download = name;
  a.click();
  URL.revokeObjectURL(url);
}
