import { useState } from "react";
import { Form } from "react-aria-components";
import { own, type Refusal } from "../api/client";
import { common } from "../text/common";
import { t } from "../text/shell";
import { Button } from "../ui/button";
import { TextField } from "../ui/fields";
import { Actions, Dialog } from "../ui/overlay";

export function NewWorkspace({ isOpen, onOpenChange }: { isOpen: boolean; onOpenChange: (open: boolean) => void }) {
  const [name, setName] = useState("");
  const [currency, setCurrency] = useState("USD");
  const [timezone, setTimezone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [error, setError] = useState<Refusal | null>(null);
  const [busy, setBusy] = useState(false);
  const make = async () => {
    setBusy(true);
    try {
      const made = await own<{ id: string }>("POST", "/workspaces", { name, currency, timezone });
      await own("POST", "/session/workspace", { workspace_id: made.id });
      location.assign("/");
    } catch (e) {
      setError(e as Refusal);
      setBusy(false);
    }
  };
  const f = error?.fields ?? {};
  return (
    <Dialog title={t.newWorkspace} isOpen={isOpen} onOpenChange={onOpenChange}>
      {(close) => (
        <Form
          className="grid gap-4"
          onSubmit={(e) => {
            e.preventDefault();
            make();
          }}
        >
          <p className="text-sm text-muted">{t.newWorkspaceHint}</p>
          <TextField label={common.name} value={name} onChange={setName} error={f.name} isRequired autoFocus />
          <div className="grid gap-4 sm:grid-cols-2">
            <TextField
              label={common.currency}
              hint={common.currencyHint}
              value={currency}
              onChange={setCurrency}
              error={f.currency}
            />
            <TextField
              label={common.timeZone}
              hint={common.timeZoneHint}
              value={timezone}
              onChange={setTimezone}
              error={f.timezone}
            />
          </div>
          {error && error.details.length === 0 ? (
            <p role="alert" className="text-sm text-bad">
              {error.message}
            </p>
          ) : null}
          <Actions>
            <Button onPress={close}>{common.cancel}</Button>
            <Button type="submit" look="primary" busy={busy}>
              {t.createWorkspace}
            </Button>
          </Actions>
        </Form>
      )}
    </Dialog>
  );
}
