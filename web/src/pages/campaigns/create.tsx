// A new campaign, as a draft. All but the name can wait.

import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Form } from "react-aria-components";
import { type Refusal, take, v1 } from "../../api/client";
import { useSession } from "../../lib/session";
import { t } from "../../text/campaigns";
import { common } from "../../text/common";
import { Button } from "../../ui/button";
import { Actions, Dialog } from "../../ui/overlay";
import { say } from "../../ui/toast";
import { useRefresh } from "./data";
import { blank, createBody, type Fields } from "./fields";
import { Basics, BudgetFields, ScheduleFields, UseFields, useFirstFault } from "./form";

export function CreateDialog({ isOpen, onOpenChange }: { isOpen: boolean; onOpenChange: (open: boolean) => void }) {
  return (
    <Dialog title={t.newCampaign} side isOpen={isOpen} onOpenChange={onOpenChange}>
      {(close) => <CreateForm close={close} />}
    </Dialog>
  );
}

function CreateForm({ close }: { close: () => void }) {
  const { workspace } = useSession();
  const navigate = useNavigate();
  const refresh = useRefresh();
  const [fields, setFields] = useState<Fields>(() => blank(workspace.currency, workspace.timezone));
  const create = useMutation({
    meta: { quiet: true },
    mutationFn: async () => (await take(v1.POST("/v1/campaigns", { body: createBody(fields, workspace) }))).data,
    onSuccess: (c) => {
      refresh();
      say(t.draftCreated(c.name));
      navigate({ to: `/campaigns/${c.id}` });
    },
  });
  const refusal = create.error as Refusal | null;
  useFirstFault(refusal);
  const props = {
    fields,
    set: (change: Partial<Fields>) => setFields((old) => ({ ...old, ...change })),
    errors: refusal?.fields ?? {},
  };
  return (
    <Form
      className="grid gap-5"
      onSubmit={(e) => {
        e.preventDefault();
        create.mutate();
      }}
    >
      <p className="text-sm text-muted">{t.create.hint}</p>
      <Basics {...props} />
      <BudgetFields {...props} />
      <ScheduleFields {...props} />
      <UseFields {...props} />
      {refusal ? (
        <p role="alert" className="text-sm text-bad">
          {refusal.message}
        </p>
      ) : null}
      <Actions>
        <Button onPress={close}>{common.cancel}</Button>
        <Button type="submit" look="primary" busy={create.isPending}>
          {t.create.submit}
        </Button>
      </Actions>
    </Form>
  );
}
