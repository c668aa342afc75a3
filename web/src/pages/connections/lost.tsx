// What a connection says after the server has lost its data, and how a person ends that.

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { take, v1 } from "../../api/client";
import { instant } from "../../lib/format";
import { useMay } from "../../lib/session";
import { t } from "../../text/connections";
import { Button } from "../../ui/button";
import { Note } from "../../ui/feedback";
import { Confirm } from "../../ui/overlay";
import { say } from "../../ui/toast";
import { type Connection, isOwn } from "./queries";

/** The server's remedy ends with how a program accepts the loss; here that is a button. */
const acceptance = / To accept the loss,/;

export function Lost({ connection: c }: { connection: Connection }) {
  const admin = useMay("admin");
  if (!c.data_lost_at) return null;
  const sends = isOwn(c) && c.status !== "disconnected";
  const remedy = c.status_reason?.code === "data_lost" ? (c.status_reason.remediation ?? "") : "";
  const acceptable = sends || acceptance.test(remedy);
  return (
    <Note
      tone="bad"
      title={t.lost.title}
      action={admin && acceptable ? <Complete connection={c} sends={sends} /> : undefined}
    >
      {sends ? t.lost.sendAgain : remedy.split(acceptance)[0] || t.lost.readAgain}
      <span className="text-muted"> {t.since(instant(c.data_lost_at))}</span>
      {admin || !acceptable ? null : <span className="text-muted"> {t.lost.askAdmin}</span>}
    </Note>
  );
}

/** Ends the loss: everything was sent again, or what is missing is accepted. */
function Complete({ connection: c, sends }: { connection: Connection; sends: boolean }) {
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const action = sends ? t.lost.complete : t.lost.accept;
  return (
    <>
      <Button size="sm" onPress={() => setOpen(true)}>
        {action}
      </Button>
      <Confirm
        title={sends ? t.lost.completeTitle(c.name) : t.lost.acceptTitle(c.name)}
        action={sends ? t.lost.complete : t.lost.accept}
        danger
        isOpen={open}
        onOpenChange={setOpen}
        confirm={async () => {
          await take(
            v1.PATCH("/v1/connections/{id}", { params: { path: { id: c.id } }, body: { data_lost_at: null } }),
          );
          for (const key of ["connections", "campaigns", "analytics"]) client.invalidateQueries({ queryKey: [key] });
          say(t.lost.done(c.name));
        }}
      >
        <p>{sends ? t.lost.completeHint : t.lost.acceptHint}</p>
      </Confirm>
    </>
  );
}
