// What became of an import, and the way back.

import { count, day, instant } from "../../lib/format";
import { common } from "../../text/common";
import { t } from "../../text/connections";
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
          [t.status, <ImportState key="s" value={i.status} />],
          [t.file, i.file.name],
          [t.source, i.source],
          [t.rows, count(i.rows_written)],
          [
            common.days,
            i.preview.start_date ? `${day(i.preview.start_date, true)} – ${day(i.preview.end_date, true)}` : t.none,
          ],
        ]}
      />
      {can ? <p className="text-sm text-muted">{t.imported.undoUntil(instant(i.undo_expires_at))}</p> : null}
      <Actions>
        {can ? (
          <Button busy={undo.isPending} onPress={() => undo.mutate(i.id)}>
            {t.imported.undo}
          </Button>
        ) : null}
        <Button onPress={again}>{t.imported.another}</Button>
        {i.connection_id && i.status === "committed" ? (
          <ButtonLink look="primary" href={`/connections/${i.connection_id}`} onPress={close}>
            {t.imported.toConnection}
          </ButtonLink>
        ) : (
          <Button look="primary" onPress={close}>
            {t.imported.done}
          </Button>
        )}
      </Actions>
    </div>
  );
}
