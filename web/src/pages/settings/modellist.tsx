import { useQueryClient } from "@tanstack/react-query";
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import { own } from "../../api/client";
import type { Provider } from "../../api/console";
import { none, words } from "../../lib/format";
import { t } from "../../text/settings";
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
      name: t.models.provider,
      cell: (p) => (
        <span className="flex items-center gap-2">
          <span className="font-medium">{kindName(p.kind)}</span>
          {p.settings.default ? <Badge tone="accent">{t.models.default}</Badge> : null}
          {p.scope === "server" ? (
            <Hint text={t.models.serverHint}>
              <Badge>{words("server")}</Badge>
            </Hint>
          ) : null}
        </span>
      ),
    },
    { id: "model", name: t.models.text, cell: (p) => <code className="font-mono text-xs">{p.settings.model}</code> },
    {
      id: "image",
      name: t.models.images,
      wide: true,
      cell: (p) =>
        p.settings.image_model ? (
          <code className="font-mono text-xs">{p.settings.image_model}</code>
        ) : (
          <span className="text-muted">{t.models.builtIn}</span>
        ),
    },
    {
      id: "price",
      name: t.models.price,
      wide: true,
      width: 110,
      cell: (p) =>
        p.settings.priced ? (
          t.models.priceKnown
        ) : (
          <Hint text={t.models.priceHint}>
            <span className="text-warn">{t.models.priceUnknown}</span>
          </Hint>
        ),
    },
    {
      id: "menu",
      name: <span className="sr-only">{t.actions}</span>,
      label: t.actions,
      width: 60,
      cell: (p) =>
        p.scope === "workspace" ? (
          <MenuTrigger>
            <Button look="quiet" size="sm" icon aria-label={t.actionsFor(kindName(p.kind))}>
              <Ellipsis aria-hidden="true" />
            </Button>
            <Menu label={t.actionsFor(kindName(p.kind))}>
              <MenuItem onAction={() => edit(p)}>{t.edit}</MenuItem>
              <MenuItem danger onAction={() => setGoing(p)}>
                {t.remove}
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
      <DataTable label={t.models.title} columns={columns} rows={list} rowKey={(p) => p.scope + p.kind} empty={null} />
      <Confirm
        title={t.removeTitle(kindName(going?.kind ?? ""))}
        action={t.remove}
        danger
        isOpen={!!going}
        onOpenChange={() => setGoing(null)}
        confirm={async () => {
          await own("DELETE", `/providers/${going?.kind}`);
          say(t.removed(kindName(going?.kind ?? "")));
          await client.invalidateQueries({ queryKey: ["providers"] });
        }}
      >
        {t.models.removeHint}
      </Confirm>
    </>
  );
}
