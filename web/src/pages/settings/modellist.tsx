import { useQueryClient } from "@tanstack/react-query";
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import { own } from "../../api/client";
import type { Provider } from "../../api/console";
import { none } from "../../lib/format";
import { Button } from "../../ui/button";
import { Badge } from "../../ui/display";
import { Confirm, Hint, Menu, MenuItem, MenuTrigger } from "../../ui/overlay";
import { DataTable, type TableColumn } from "../../ui/table";
import { say } from "../../ui/toast";
import { kinds } from "./modeldialog";

export const kindName = (kind: string) => kinds.find((k) => k.id === kind)?.label ?? kind;

export function ModelList({ list, edit }: { list: Provider[]; edit: (p: Provider) => void }) {
  const client = useQueryClient();
  const [going, setGoing] = useState<Provider | null>(null);
  const columns: TableColumn<Provider>[] = [
    {
      id: "kind",
      name: "Provider",
      cell: (p) => (
        <span className="flex items-center gap-2">
          <span className="font-medium">{kindName(p.kind)}</span>
          {p.settings.default ? <Badge tone="accent">Default</Badge> : null}
          {p.scope === "server" ? (
            <Hint text="The operator of this server has set it up for all workspaces.">
              <Badge>Server</Badge>
            </Hint>
          ) : null}
        </span>
      ),
    },
    { id: "model", name: "Texts", cell: (p) => <code className="font-mono text-xs">{p.settings.model}</code> },
    {
      id: "image",
      name: "Pictures",
      wide: true,
      cell: (p) =>
        p.settings.image_model ? (
          <code className="font-mono text-xs">{p.settings.image_model}</code>
        ) : (
          <span className="text-muted">Built-in</span>
        ),
    },
    {
      id: "price",
      name: "Price",
      wide: true,
      width: 110,
      cell: (p) =>
        p.settings.priced ? (
          "Known"
        ) : (
          <Hint text="What it costs is not known, so the budget cannot count it. The operator can set a price.">
            <span className="text-warn">Unknown</span>
          </Hint>
        ),
    },
    {
      id: "menu",
      name: <span className="sr-only">Actions</span>,
      label: "Actions",
      width: 60,
      cell: (p) =>
        p.scope === "workspace" ? (
          <MenuTrigger>
            <Button look="quiet" size="sm" icon aria-label={`Actions for ${kindName(p.kind)}`}>
              <Ellipsis aria-hidden="true" />
            </Button>
            <Menu label={`Actions for ${kindName(p.kind)}`}>
              <MenuItem onAction={() => edit(p)}>Change</MenuItem>
              <MenuItem danger onAction={() => setGoing(p)}>
                Remove
              </MenuItem>
            </Menu>
          </MenuTrigger>
        ) : (
          <span className="text-faint">{none}</span>
        ),
    },
  ];
  return (
    <>
      <DataTable label="Language models" columns={columns} rows={list} rowKey={(p) => p.scope + p.kind} empty={null} />
      <Confirm
        title={`Remove ${kindName(going?.kind ?? "")}`}
        action="Remove"
        danger
        isOpen={!!going}
        onOpenChange={() => setGoing(null)}
        confirm={async () => {
          await own("DELETE", `/providers/${going?.kind}`);
          say(`${kindName(going?.kind ?? "")} is removed.`);
          await client.invalidateQueries({ queryKey: ["providers"] });
        }}
      >
        Its key is deleted here. Creative that it has made stays; new creative is made by the next model, or built in.
      </Confirm>
    </>
  );
}
