import { useMutation, useQueryClient } from "@tanstack/react-query";
import { own } from "../../api/client";
import type { Invitation } from "../../api/console";
import { ago, words } from "../../lib/format";
import { common } from "../../text/common";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { Card } from "../../ui/display";
import { DataTable } from "../../ui/table";
import { say } from "../../ui/toast";

/** Who was invited and has not come yet. */
export function Invitations({ list }: { list: Invitation[] }) {
  const client = useQueryClient();
  const withdraw = useMutation({
    mutationFn: (i: Invitation) => own("DELETE", `/invitations/${i.id}`),
    onSuccess: (_r, i) => {
      say(t.invite.revoked(i.email));
      return client.invalidateQueries({ queryKey: ["members"] });
    },
  });
  return (
    <Card title={t.invite.pending} flush>
      <DataTable
        label={t.invite.pending}
        rows={list}
        rowKey={(i) => i.id}
        empty={null}
        columns={[
          { id: "email", name: common.email, cell: (i) => <span className="block truncate">{i.email}</span> },
          { id: "role", name: t.role, width: 140, cell: (i) => words(i.role) },
          { id: "ends", name: t.invite.expires, wide: true, width: 120, cell: (i) => ago(i.expires_at) },
          {
            id: "menu",
            name: <span className="sr-only">{t.actions}</span>,
            label: t.actions,
            width: 120,
            align: "end",
            cell: (i) => (
              <Button
                size="sm"
                look="quiet"
                aria-label={t.invite.revokeFor(i.email)}
                onPress={() => withdraw.mutate(i)}
              >
                {t.invite.revoke}
              </Button>
            ),
          },
        ]}
      />
    </Card>
  );
}
