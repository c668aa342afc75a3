import { useMutation, useQueryClient } from "@tanstack/react-query";
import { own } from "../../api/client";
import type { Invitation } from "../../api/console";
import { ago, words } from "../../lib/format";
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
      say(`The invitation of ${i.email} is withdrawn. Its link no longer works.`);
      return client.invalidateQueries({ queryKey: ["members"] });
    },
  });
  return (
    <Card title="Invited" flush>
      <DataTable
        label="Invitations"
        rows={list}
        rowKey={(i) => i.id}
        empty={null}
        columns={[
          { id: "email", name: "E-mail", cell: (i) => <span className="block truncate">{i.email}</span> },
          { id: "role", name: "Role", width: 140, cell: (i) => words(i.role) },
          { id: "ends", name: "Expires", wide: true, width: 120, cell: (i) => ago(i.expires_at) },
          {
            id: "menu",
            name: <span className="sr-only">Actions</span>,
            label: "Actions",
            width: 120,
            align: "end",
            cell: (i) => (
              <Button size="sm" look="quiet" aria-label={`Withdraw ${i.email}`} onPress={() => withdraw.mutate(i)}>
                Withdraw
              </Button>
            ),
          },
        ]}
      />
    </Card>
  );
}
