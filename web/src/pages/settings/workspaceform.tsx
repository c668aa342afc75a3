import { useState } from "react";
import { Form } from "react-aria-components";
import { Refusal } from "../../api/client";
import type { Workspace } from "../../api/console";
import { useMay, useSession } from "../../lib/session";
import { common } from "../../text/common";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { TextField } from "../../ui/fields";
import { say } from "../../ui/toast";
import { useSaveWorkspace } from "./saveworkspace";

type Shown = Pick<Workspace, "name" | "currency" | "timezone">;

/** Name, money and days of the workspace. */
export function WorkspaceForm() {
  const { workspace } = useSession();
  const may = useMay("admin");
  const save = useSaveWorkspace(true);
  const [edit, setEdit] = useState<Partial<Shown>>({});
  const v: Shown = { ...workspace, ...edit };
  const changed = (Object.keys(edit) as (keyof Shown)[]).filter((k) => edit[k] !== workspace[k]);
  const f = save.error instanceof Refusal ? save.error.fields : {};
  const set = (field: keyof Shown) => ({
    value: v[field],
    onChange: (value: string) => setEdit({ ...edit, [field]: value }),
    error: f[field],
    isReadOnly: !may,
  });
  const send = () =>
    save.mutate(Object.fromEntries(changed.map((k) => [k, v[k]])), {
      onSuccess: () => {
        setEdit({});
        say(t.saved);
      },
    });
  return (
    <Form
      className="grid gap-4"
      onSubmit={(e) => {
        e.preventDefault();
        send();
      }}
    >
      <TextField label={common.name} {...set("name")} />
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <TextField label={common.timeZone} hint={t.general.timeZoneHint} {...set("timezone")} />
        <TextField label={common.currency} hint={t.general.currencyHint} {...set("currency")} />
      </div>
      {save.error && Object.keys(f).length === 0 ? (
        <p role="alert" className="text-sm text-bad">
          {save.error.message}
        </p>
      ) : null}
      {may ? (
        <div className="flex justify-end gap-2">
          {changed.length > 0 ? (
            <Button
              onPress={() => {
                setEdit({});
                save.reset();
              }}
            >
              {t.general.discard}
            </Button>
          ) : null}
          <Button type="submit" look="primary" isDisabled={changed.length === 0} busy={save.isPending}>
            {common.save}
          </Button>
        </div>
      ) : (
        <p className="text-xs text-muted">{t.adminsOnly}</p>
      )}
    </Form>
  );
}
