import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { Refusal } from "../../api/client";
import { money } from "../../lib/format";
import { useMay, useSession } from "../../lib/session";
import { common } from "../../text/common";
import { rich } from "../../text/rich";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { Bar, Card } from "../../ui/display";
import { Failed, Skeleton } from "../../ui/feedback";
import { TextField } from "../../ui/fields";
import { say } from "../../ui/toast";
import { usageQuery } from "./plan";
import { useSaveWorkspace } from "./saveworkspace";

/** What models may cost in a month, and what they have cost. */
export function ModelBudget() {
  const { model_budget: budget } = useSession().workspace;
  const usage = useQuery(usageQuery);
  const spent = usage.data?.model.spent;
  return (
    <Card title={t.budget.title} sub={t.budget.sub}>
      <div className="grid gap-4">
        {usage.error ? (
          <Failed error={usage.error} retry={usage.refetch} />
        ) : spent === undefined ? (
          <Skeleton className="h-8 w-full" />
        ) : (
          <div className="grid gap-1.5">
            <p className="num text-sm text-muted">
              {rich(budget === null ? t.budget.spent : t.budget.spentOf(money(budget, "USD")), {
                amount: <span className="font-medium text-ink">{money(spent, "USD")}</span>,
              })}
            </p>
            {budget === null ? null : (
              <Bar share={Number(budget) > 0 ? Number(spent) / Number(budget) : 1} label={t.budget.used} />
            )}
          </div>
        )}
        <SetBudget key={budget} />
      </div>
    </Card>
  );
}

function SetBudget() {
  const { model_budget: budget } = useSession().workspace;
  const may = useMay("admin");
  const save = useSaveWorkspace(true);
  const [text, setText] = useState(budget ?? "");
  if (!may) return null;
  const next = text.trim() === "" ? null : text.trim();
  const fault = save.error instanceof Refusal ? (save.error.fields.model_budget ?? save.error.message) : undefined;
  return (
    <Form
      className="flex items-start gap-2"
      onSubmit={(e) => {
        e.preventDefault();
        save.mutate({ model_budget: next }, { onSuccess: () => say(t.saved) });
      }}
    >
      <TextField
        label={t.budget.limit}
        hint={t.budget.limitHint}
        className="w-44"
        inputMode="decimal"
        trailing="USD"
        value={text}
        onChange={setText}
        error={fault}
      />
      <Button type="submit" className="mt-6" isDisabled={next === budget} busy={save.isPending}>
        {common.save}
      </Button>
    </Form>
  );
}
