// Changes a campaign, unless somebody else has done so meanwhile.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { type Refusal, take, v1 } from "../../api/client";
import { useSession } from "../../lib/session";
import { t } from "../../text/campaigns";
import { common } from "../../text/common";
import { Button } from "../../ui/button";
import { Note } from "../../ui/feedback";
import { Actions, Dialog } from "../../ui/overlay";
import { say } from "../../ui/toast";
import { type Campaign, campaignQuery, changeKept, useRefresh } from "./data";
import { type Fields, fieldsOf, patchBody } from "./fields";
import { Basics, BudgetFields, MoreFields, ScheduleFields, UseFields, useFirstFault } from "./form";

export function EditDialog({
  campaign,
  isOpen,
  onOpenChange,
}: {
  campaign: Campaign;
  isOpen: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  return (
    <Dialog title={t.change.title} side isOpen={isOpen} onOpenChange={onOpenChange}>
      {(close) => <EditForm opened={campaign} close={close} />}
    </Dialog>
  );
}

function EditForm({ opened, close }: { opened: Campaign; close: () => void }) {
  const client = useQueryClient();
  const refresh = useRefresh();
  const { currency } = useSession().workspace;
  // What the form began with, even if the page looks again behind it.
  const [base, setBase] = useState(opened);
  const [fields, setFields] = useState<Fields>(() => fieldsOf(opened, currency));
  const body = patchBody(fieldsOf(base, currency), fields);
  const update = useMutation({
    meta: { quiet: true },
    mutationFn: async () =>
      (
        await take(
          v1.PATCH("/v1/campaigns/{id}", {
            params: { path: { id: base.id }, header: { "If-Match": `"${base.version}"` } },
            body,
          }),
        )
      ).data,
    onSuccess: (c) => {
      changeKept(client, c.id, () => c);
      refresh();
      say(t.saved(c.name));
      close();
    },
  });
  const reload = async () => {
    const now = await client.fetchQuery({ ...campaignQuery(base.id), staleTime: 0 });
    setBase(now);
    setFields(fieldsOf(now, currency));
    update.reset();
  };
  const refusal = update.error as Refusal | null;
  useFirstFault(refusal);
  const props = {
    fields,
    set: (change: Partial<Fields>) => setFields((old) => ({ ...old, ...change })),
    errors: refusal?.fields ?? {},
    campaign: base,
  };
  return (
    <Form
      className="grid gap-5"
      onSubmit={(e) => {
        e.preventDefault();
        update.mutate();
      }}
    >
      <Basics {...props} />
      <BudgetFields {...props} />
      <ScheduleFields {...props} />
      <UseFields {...props} />
      <MoreFields {...props} />
      {refusal?.status === 412 ? (
        <Note
          tone="bad"
          title={t.change.conflict}
          action={
            <Button size="sm" onPress={reload}>
              {t.change.reload}
            </Button>
          }
        >
          {t.change.conflictHint}
        </Note>
      ) : refusal ? (
        <p role="alert" className="text-sm text-bad">
          {refusal.message}
        </p>
      ) : null}
      <Actions>
        <Button onPress={close}>{common.cancel}</Button>
        <Button type="submit" look="primary" busy={update.isPending} isDisabled={Object.keys(body).length === 0}>
          {common.save}
        </Button>
      </Actions>
    </Form>
  );
}
