// What became of an import, and the way back.
import { ago, count, day } from "../../lib/format";
import { Button, ButtonLink } from "../../ui/button";
import { Facts } from "../../ui/display";
import { Note } from "../../ui/feedback";
import { Actions } from "../../ui/overlay";
import { ImportState, useUndoImport } from "./owndata";
import type { Import } from "./queries";

export function ImportDone({ value: i, close, again }: { value: Import; close: () => void; again: () => void }) {
  const undo = useUndoImport();
  const can = i.status === "committed" && i.undo_expires_at && Date.parse(i.undo_expires_at) > Date.now();
  return (
    <div className="grid gap-4">
      {i.status === "failed" && i.error ? <Note tone="bad">{i.error.message}</Note> : null}
      <Facts
        items={[
          ["Status", <ImportState key="s" value={i.status} />],
          ["File", i.file.name],
          ["Source", i.source],
          ["Rows", count(i.rows_written)],
          [
            "Days",
            i.preview.start_date ? `${day(i.preview.start_date, true)} – ${day(i.preview.end_date, true)}` : "None",
          ],
        ]}
      />
      {can ? (
        <p className="text-sm text-muted">
          It can be taken out again {ago(i.undo_expires_at).replace(/^in /, "for ")}: what it has stored goes, and what
          it had replaced comes back unless something newer is there.
        </p>
      ) : null}
      <Actions>
        {can ? (
          <Button busy={undo.isPending} onPress={() => undo.mutate(i.id)}>
            Take it out again
          </Button>
        ) : null}
        <Button onPress={again}>Import another</Button>
        {i.connection_id && i.status === "committed" ? (
          <ButtonLink look="primary" href={`/connections/${i.connection_id}`} onPress={close}>
            See the source
          </ButtonLink>
        ) : (
          <Button look="primary" onPress={close}>
            Done
          </Button>
        )}
      </Actions>
    </div>
  );
}
