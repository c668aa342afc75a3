import type { Workspace } from "../../api/console";
import { useMay, useSession } from "../../lib/session";
import { t } from "../../text/settings";
import { Switch } from "../../ui/fields";
import { say } from "../../ui/toast";
import { useSaveWorkspace } from "./saveworkspace";

type Rule = "require_approval" | "endless_keys";

const rules: { field: Rule; name: string; hint: string; on: string; off: string }[] = [
  {
    field: "require_approval",
    name: t.general.approval,
    hint: t.general.approvalHint,
    on: t.general.approvalOn,
    off: t.general.approvalOff,
  },
  {
    field: "endless_keys",
    name: t.general.endless,
    hint: t.general.endlessHint,
    on: t.general.endlessOn,
    off: t.general.endlessOff,
  },
];

export function WorkspaceRules() {
  const { workspace } = useSession();
  const may = useMay("admin");
  const save = useSaveWorkspace();
  const turn = (rule: (typeof rules)[number], to: boolean) => {
    const change = (value: boolean): Partial<Workspace> => ({ [rule.field]: value });
    save.mutate(change(to), {
      onSuccess: () => say(to ? rule.on : rule.off, () => save.mutate(change(!to))),
    });
  };
  return (
    <div className="grid gap-4">
      {rules.map((r) => (
        <div key={r.field}>
          <Switch isSelected={workspace[r.field]} isDisabled={!may} onChange={(to) => turn(r, to)}>
            {r.name}
          </Switch>
          <p className="pl-10.5 text-xs text-muted">{r.hint}</p>
        </div>
      ))}
      {may ? null : <p className="text-xs text-muted">{t.adminsOnly}</p>}
    </div>
  );
}
