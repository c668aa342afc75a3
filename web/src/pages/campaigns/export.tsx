// The list as a file: all that matches, not only what is loaded.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Download } from "lucide-react";
import type { Range } from "../../lib/range";
import { t } from "../../text/campaigns";
import { Button } from "../../ui/button";
import { fileCells, type Line, metricsOf } from "./columns";
import { csv, save } from "./csv";
import { type ListQuery, numbersQuery, ofPage, readPage } from "./data";

export function Export({ query, columns, range }: { query: ListQuery; columns: string[]; range: Range }) {
  const client = useQueryClient();
  const metrics = metricsOf(columns);
  const all = async (): Promise<Line[]> => {
    const lines: Line[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof readPage>> = await readPage(query, cursor);
      const answer =
        page.data.length > 0 ? await client.fetchQuery(numbersQuery(ofPage(page.data, metrics, range))) : null;
      const values = new Map(answer?.data.map((row) => [row.dimensions.campaign_id, row.metrics]));
      for (const campaign of page.data) lines.push({ campaign, values: values.get(campaign.id) });
      cursor = page.next_cursor;
    } while (cursor);
    return lines;
  };
  const run = useMutation({
    mutationFn: async () => {
      const head = ["id", "name", "channels", ...columns];
      const rows = (await all()).map((line) => fileCells(line, columns));
      save(`campaigns_${range.from}_${range.to}.csv`, csv([head, ...rows]));
    },
  });
  return (
    <Button busy={run.isPending} onPress={() => run.mutate()}>
      <Download aria-hidden="true" />
      {t.list.export}
    </Button>
  );
}
