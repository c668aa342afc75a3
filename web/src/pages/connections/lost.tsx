// What a connection says after the server has lost its data, and how a person ends that.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { take, v1 } from "../../api/client";
import { instant } from "../../lib/format";
import { useMay } from "../../lib/session";
import { Button } from "../../ui/button";
import { Note } from "../../ui/feedback";
import { Confirm } from "../../ui/overlay";
import { say } from "../../ui/toast";
import { type Connection, isOwn } from "./queries";

/** The server's remedy ends with how a program accepts the loss; here that is a button. */
const acceptance = " To accept the loss,";

export function Lost({ connection: c }: { connection: Connection }) {
  const admin = useMay("admin");
  if (!c.data_lost_at) return null;
  const sends = isOwn(c) && c.status !== "disconnected";
  const remedy = c.status_reason?.code === "data_lost" ? (c.status_reason.remediation ?? "") : "";
  const acceptable = sends || remedy.includes(acceptance);
  return (
    <Note
      tone="bad"
      title="Data of this connection was lost on the server"
      action={admin && acceptable ? <Complete connection={c} sends={sends} /> : undefined}
    >
      {sends
        ? "Send everything that matters again. Until you say that it is complete, reports say that data is missing."
        : remedy.split(acceptance)[0] || "The metrics are read again from the platform as soon as it can be reached."}
      <span className="text-muted"> Since {instant(c.data_lost_at)}.</span>
      {admin || !acceptable ? null : <span className="text-muted"> An admin can end this.</span>}
    </Note>
  );
}

/** Ends the loss: everything was sent again, or what is missing is accepted. */
function Complete({ connection: c, sends }: { connection: Connection; sends: boolean }) {
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const action = sends ? "I have sent this data again" : "Accept the loss";
  return (
    <>
      <Button size="sm" onPress={() => setOpen(true)}>
        {action}
      </Button>
      <Confirm
        title={sends ? `Is the data of ${c.name} complete?` : `Accept that data of ${c.name} is lost?`}
        action={sends ? "Data is complete" : "Accept the loss"}
        danger
        isOpen={open}
        onOpenChange={setOpen}
        confirm={async () => {
          await take(
            v1.PATCH("/v1/connections/{id}", { params: { path: { id: c.id } }, body: { data_lost_at: null } }),
          );
          for (const key of ["connections", "campaigns", "analytics"]) client.invalidateQueries({ queryKey: [key] });
          say(`Reports no longer say that data of ${c.name} is missing`);
        }}
      >
        <p>
          Reports, budgets and downloads then count this connection as complete, and nobody is warned any more. What{" "}
          {sends ? "was not sent again" : "was lost"} stays missing: sums are too low, and days without data show 0.
        </p>
      </Confirm>
    </>
  );
}
