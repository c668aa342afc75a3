import { useState } from "react";
import { Form } from "react-aria-components";
import { Refusal } from "../../api/client";
import type { Workspace } from "../../api/console";
import { useMay, useSession } from "../../lib/session";
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
        say("Saved.");
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
      <TextField label="Name" {...set("name")} />
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <TextField
          label="Time zone"
          hint="Where days begin and end. Campaigns that exist keep theirs."
          {...set("timezone")}
        />
        <TextField label="Currency" hint="Reports are in it. Campaigns that exist keep theirs." {...set("currency")} />
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
              Discard
            </Button>
          ) : null}
          <Button type="submit" look="primary" isDisabled={changed.length === 0} busy={save.isPending}>
            Save
          </Button>
        </div>
      ) : (
        <p className="text-xs text-muted">Admins and owners can change this.</p>
      )}
    </Form>
  );
}
