// The fields of a campaign, for creating and for editing.

import { type ReactNode, useEffect } from "react";
import { CheckboxGroup, FieldError, Label } from "react-aria-components";
import { useMetric } from "../../lib/catalogue";
import { words } from "../../lib/format";
import { t } from "../../text/campaigns";
import { common } from "../../text/common";
import { Checkbox, label, Select, TextField } from "../../ui/fields";
import { channels, named } from "../creative/data";
import { metricColumns } from "./columns";
import { type Campaign, objectives } from "./data";
import { errorAt, type Fields } from "./fields";
import { Pick } from "./pick";

interface Props {
  fields: Fields;
  set: (change: Partial<Fields>) => void;
  errors: Record<string, string>;
  /** The campaign that is edited; none for a new one. */
  campaign?: Campaign;
}

const none = { id: "none", label: t.form.none };

/** Takes the reader to the first field that was refused, once it is marked. */
export function useFirstFault(refusal: unknown) {
  useEffect(() => {
    if (refusal) document.querySelector<HTMLElement>("[role=dialog] [aria-invalid=true]")?.focus();
  }, [refusal]);
}

export function Basics({ fields: f, set, errors, campaign }: Props) {
  const launched = !!campaign?.launched_at;
  const running = campaign?.status === "active";
  return (
    <Group>
      <TextField
        label={t.form.name}
        value={f.name}
        onChange={(name) => set({ name })}
        error={errorAt(errors, "name")}
        isRequired
        autoFocus={!campaign}
      />
      <Select
        label={t.form.objective}
        value={f.objective}
        onChange={(objective) => set({ objective })}
        error={errorAt(errors, "objective")}
        isDisabled={launched}
        hint={launched ? t.form.objectiveFixed : undefined}
        options={[none, ...objectives.map((id) => ({ id, label: named(id) }))]}
      />
      <CheckboxGroup
        value={f.channels}
        onChange={(c) => set({ channels: c })}
        isInvalid={!!errorAt(errors, "channels")}
        isDisabled={running}
        validationBehavior="aria"
      >
        <Label className={label}>{t.form.channels}</Label>
        <div className="grid grid-cols-2 gap-x-4 gap-y-1 sm:grid-cols-3">
          {channels.map((id) => (
            <Checkbox key={id} value={id}>
              {named(id)}
            </Checkbox>
          ))}
        </div>
        {running ? <p className="mt-1 text-xs text-muted">{t.form.channelsFixed}</p> : null}
        <FieldError className="mt-1 block text-xs text-bad">{errorAt(errors, "channels")}</FieldError>
      </CheckboxGroup>
    </Group>
  );
}

export function BudgetFields({ fields: f, set, errors, campaign }: Props) {
  return (
    <Group title={t.form.budget}>
      <div className="grid gap-4 sm:grid-cols-3">
        <Select
          label={t.form.type}
          value={f.budgetType}
          onChange={(budgetType) => set({ budgetType })}
          error={errorAt(errors, "budget.type")}
          options={[none, { id: "daily", label: t.form.daily }, { id: "lifetime", label: t.form.lifetime }]}
        />
        {f.budgetType === "none" ? null : (
          <>
            <TextField
              label={t.form.amount}
              inputMode="decimal"
              value={f.amount}
              onChange={(amount) => set({ amount })}
              error={errorAt(errors, "budget.amount")}
              trailing={f.currency}
            />
            <TextField
              label={common.currency}
              value={f.currency}
              onChange={(currency) => set({ currency: currency.toUpperCase() })}
              error={errorAt(errors, "budget.currency")}
              isDisabled={!!campaign?.launched_at}
            />
          </>
        )}
      </div>
      {campaign && f.budgetType !== "none" ? (
        <div className="grid gap-4 sm:grid-cols-2">
          <Select
            label={t.form.pacing}
            value={f.pacing}
            onChange={(pacing) => set({ pacing })}
            error={errorAt(errors, "budget.pacing")}
            options={[
              { id: "even", label: words("even") },
              { id: "asap", label: words("asap") },
              { id: "front_loaded", label: words("front_loaded") },
            ]}
          />
          <TextField
            label={t.form.dailyCap}
            inputMode="decimal"
            value={f.dailyCap}
            onChange={(dailyCap) => set({ dailyCap })}
            error={errorAt(errors, "budget.daily_cap")}
            placeholder={t.form.noCap}
            trailing={f.currency}
          />
        </div>
      ) : null}
      {errors.budget ? <p className="text-xs text-bad">{errors.budget}</p> : null}
    </Group>
  );
}

export function ScheduleFields({ fields: f, set, errors, campaign }: Props) {
  const start = campaign?.schedule.start_at;
  const passed = !!campaign?.launched_at && !!start && Date.parse(start) <= Date.now();
  return (
    <Group title={t.form.schedule}>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={t.form.start}
          type="datetime-local"
          value={f.start}
          onChange={(v) => set({ start: v })}
          error={errorAt(errors, "schedule.start_at")}
          isDisabled={passed}
          hint={passed ? t.form.startFixed : t.form.startHint}
        />
        <TextField
          label={t.form.end}
          type="datetime-local"
          value={f.end}
          onChange={(end) => set({ end })}
          error={errorAt(errors, "schedule.end_at")}
          hint={t.form.endHint}
        />
      </div>
      <TextField
        label={common.timeZone}
        value={f.timezone}
        onChange={(timezone) => set({ timezone })}
        error={errorAt(errors, "schedule.timezone")}
        hint={t.form.timezoneHint}
      />
    </Group>
  );
}

export function UseFields({ fields: f, set, errors, campaign }: Props) {
  const running = campaign?.status === "active";
  return (
    <Group title={t.form.setup}>
      <Pick
        kind="connections"
        title={t.form.connections}
        value={f.connections}
        onChange={(connections) => set({ connections })}
        error={errorAt(errors, "connection_ids")}
        fixed={running ? t.form.connectionsFixed : undefined}
      />
      <Pick
        kind="audiences"
        title={t.form.audiences}
        value={f.audiences}
        onChange={(audiences) => set({ audiences })}
        error={errorAt(errors, "audience_ids")}
      />
      {campaign ? (
        <Pick
          kind="audiences"
          title={t.form.excluded}
          value={f.excluded}
          onChange={(excluded) => set({ excluded })}
          error={errorAt(errors, "excluded_audience_ids")}
        />
      ) : null}
      <Pick
        kind="creative"
        title={t.form.creatives}
        value={f.creatives}
        onChange={(creatives) => set({ creatives })}
        error={errorAt(errors, "creative_ids")}
      />
    </Group>
  );
}

export function MoreFields({ fields: f, set, errors }: Props) {
  const metric = useMetric();
  return (
    <Group title={t.form.goalAndDetails}>
      <div className="grid gap-4 sm:grid-cols-3">
        <Select
          label={t.form.goal}
          value={f.goalMetric}
          onChange={(goalMetric) => set({ goalMetric })}
          error={errorAt(errors, "goal.metric")}
          options={[none, ...metricColumns.map((id) => ({ id, label: metric(id).label }))]}
        />
        {f.goalMetric === "none" ? null : (
          <>
            <Select
              label={t.form.direction}
              value={f.goalDirection}
              onChange={(goalDirection) => set({ goalDirection })}
              error={errorAt(errors, "goal.direction")}
              options={[
                { id: "at_most", label: t.form.atMost },
                { id: "at_least", label: t.form.atLeast },
              ]}
            />
            <TextField
              label={t.form.target}
              inputMode="decimal"
              value={f.goalTarget}
              onChange={(goalTarget) => set({ goalTarget })}
              error={errorAt(errors, "goal.target")}
            />
          </>
        )}
      </div>
      <TextField
        label={t.form.landing}
        type="url"
        value={f.landingUrl}
        onChange={(landingUrl) => set({ landingUrl })}
        error={errorAt(errors, "tracking")}
        placeholder="https://"
      />
      <TextField
        label={t.form.tags}
        value={f.tags}
        onChange={(tags) => set({ tags })}
        error={errorAt(errors, "tags")}
        hint={t.form.tagsHint}
      />
      <TextField
        label={t.form.description}
        rows={3}
        value={f.description}
        onChange={(description) => set({ description })}
        error={errorAt(errors, "description")}
      />
    </Group>
  );
}

function Group({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <div className="grid grid-cols-1 gap-4">
      {title ? <h3 className="border-t border-line pt-4 text-sm font-semibold">{title}</h3> : null}
      {children}
    </div>
  );
}
