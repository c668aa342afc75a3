import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { own, Refusal } from "../../api/client";
import { words } from "../../lib/format";
import { useSession } from "../../lib/session";
import { common } from "../../text/common";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { Card, Facts, PageHeader } from "../../ui/display";
import { TextField } from "../../ui/fields";
import { say } from "../../ui/toast";

export function Profile() {
  const { user, workspaces } = useSession();
  return (
    <>
      <PageHeader title={t.profile.title} sub={t.profile.sub} />
      <div className="grid gap-4">
        <Card title={t.profile.details}>
          <Name />
        </Card>
        <Card title={t.profile.workspaces}>
          <Facts items={workspaces.map((w) => [w.name, words(w.role)])} />
        </Card>
        <p className="text-xs text-muted">{t.profile.signIn(user.email)}</p>
      </div>
    </>
  );
}

function Name() {
  const { user } = useSession();
  const client = useQueryClient();
  const [name, setName] = useState(user.name);
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: () => own("PATCH", "/user", { name: name.trim() }),
    onSuccess: () => {
      say(t.saved);
      return Promise.all([
        client.invalidateQueries({ queryKey: ["session"] }),
        client.invalidateQueries({ queryKey: ["members"] }),
      ]);
    },
  });
  const fault = save.error instanceof Refusal ? (save.error.fields.name ?? save.error.message) : undefined;
  return (
    <Form
      className="grid gap-4"
      onSubmit={(e) => {
        e.preventDefault();
        save.mutate();
      }}
    >
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <TextField
          label={common.name}
          autoComplete="name"
          value={name}
          onChange={setName}
          error={fault}
          maxLength={100}
        />
        <TextField label={common.email} value={user.email} isReadOnly hint={t.profile.emailHint} />
      </div>
      <div className="flex justify-end">
        <Button type="submit" look="primary" isDisabled={name.trim() === user.name} busy={save.isPending}>
          {common.save}
        </Button>
      </div>
    </Form>
  );
}
