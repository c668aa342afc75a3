// The fields of a campaign, for creating and for editing.
import { type ReactNode, useEffect } from "react";
import { CheckboxGroup, FieldError, Label } from "react-aria-components";
import { useMetric } from "../../lib/catalogue";
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

const none = { id: "none", label: "None" };

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
        label="Name"
        value={f.name}
        onChange={(name) => set({ name })}
        error={errorAt(errors, "name")}
        isRequired
        autoFocus={!campaign}
      />
      <Select
        label="Objective"
        value={f.objective}
        onChange={(objective) => set({ objective })}
        error={errorAt(errors, "objective")}
        isDisabled={launched}
        hint={launched ? "Fixed since the launch." : undefined}
        options={[none, ...objectives.map((id) => ({ id, label: named(id) }))]}
      />
      <CheckboxGroup
        value={f.channels}
        onChange={(c) => set({ channels: c })}
        isInvalid={!!errorAt(errors, "channels")}
        isDisabled={running}
        validationBehavior="aria"
      >
        <Label className={label}>Channels</Label>
        <div className="grid grid-cols-2 gap-x-4 gap-y-1 sm:grid-cols-3">
          {channels.map((id) => (
            <Checkbox key={id} value={id}>
              {named(id)}
            </Checkbox>
          ))}
        </div>
        {running ? <p className="mt-1 text-xs text-muted">Pause the campaign to change its channels.</p> : null}
        <FieldError className="mt-1 block text-xs text-bad">{errorAt(errors, "channels")}</FieldError>
      </CheckboxGroup>
    </Group>
  );
}

export function BudgetFields({ fields: f, set, errors, campaign }: Props) {
  return (
    <Group title="Budget">
      <div className="grid gap-4 sm:grid-cols-3">
        <Select
          label="Type"
          value={f.budgetType}
          onChange={(budgetType) => set({ budgetType })}
          error={errorAt(errors, "budget.type")}
          options={[none, { id: "daily", label: "Daily" }, { id: "lifetime", label: "Lifetime" }]}
        />
        {f.budgetType === "none" ? null : (
          <>
            <TextField
              label="Amount"
              inputMode="decimal"
              value={f.amount}
              onChange={(amount) => set({ amount })}
              error={errorAt(errors, "budget.amount")}
              trailing={f.currency}
            />
            <TextField
              label="Currency"
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
            label="Pacing"
            value={f.pacing}
            onChange={(pacing) => set({ pacing })}
            error={errorAt(errors, "budget.pacing")}
            options={[
              { id: "even", label: "Even" },
              { id: "asap", label: "As soon as possible" },
              { id: "front_loaded", label: "Front-loaded" },
            ]}
          />
          <TextField
            label="Most on one day"
            inputMode="decimal"
            value={f.dailyCap}
            onChange={(dailyCap) => set({ dailyCap })}
            error={errorAt(errors, "budget.daily_cap")}
            placeholder="No cap"
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
    <Group title="Schedule">
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Start"
          type="datetime-local"
          value={f.start}
          onChange={(v) => set({ start: v })}
          error={errorAt(errors, "schedule.start_at")}
          isDisabled={passed}
          hint={passed ? "A start that has passed is fixed." : "Without one it runs from launch."}
        />
        <TextField
          label="End"
          type="datetime-local"
          value={f.end}
          onChange={(end) => set({ end })}
          error={errorAt(errors, "schedule.end_at")}
          hint="Without one it runs until it is paused."
        />
      </div>
      <TextField
        label="Time zone"
        value={f.timezone}
        onChange={(timezone) => set({ timezone })}
        error={errorAt(errors, "schedule.timezone")}
        hint="In which the campaign's days are meant, such as Europe/Berlin."
      />
    </Group>
  );
}

export function UseFields({ fields: f, set, errors, campaign }: Props) {
  const running = campaign?.status === "active";
  return (
    <Group title="What it uses">
      <Pick
        kind="connections"
        title="Connections"
        value={f.connections}
        onChange={(connections) => set({ connections })}
        error={errorAt(errors, "connection_ids")}
        fixed={running ? "Pause the campaign to change its connections." : undefined}
      />
      <Pick
        kind="audiences"
        title="Audiences"
        value={f.audiences}
        onChange={(audiences) => set({ audiences })}
        error={errorAt(errors, "audience_ids")}
      />
      {campaign ? (
        <Pick
          kind="audiences"
          title="Excluded audiences"
          value={f.excluded}
          onChange={(excluded) => set({ excluded })}
          error={errorAt(errors, "excluded_audience_ids")}
        />
      ) : null}
      <Pick
        kind="creative"
        title="Creatives"
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
    <Group title="Goal and details">
      <div className="grid gap-4 sm:grid-cols-3">
        <Select
          label="Goal"
          value={f.goalMetric}
          onChange={(goalMetric) => set({ goalMetric })}
          error={errorAt(errors, "goal.metric")}
          options={[none, ...metricColumns.map((id) => ({ id, label: metric(id).label }))]}
        />
        {f.goalMetric === "none" ? null : (
          <>
            <Select
              label="Direction"
              value={f.goalDirection}
              onChange={(goalDirection) => set({ goalDirection })}
              error={errorAt(errors, "goal.direction")}
              options={[
                { id: "at_most", label: "At most" },
                { id: "at_least", label: "At least" },
              ]}
            />
            <TextField
              label="Target"
              inputMode="decimal"
              value={f.goalTarget}
              onChange={(goalTarget) => set({ goalTarget })}
              error={errorAt(errors, "goal.target")}
            />
          </>
        )}
      </div>
      <TextField
        label="Landing page"
        type="url"
        value={f.landingUrl}
        onChange={(landingUrl) => set({ landingUrl })}
        error={errorAt(errors, "tracking")}
        placeholder="https://"
      />
      <TextField
        label="Tags"
        value={f.tags}
        onChange={(tags) => set({ tags })}
        error={errorAt(errors, "tags")}
        hint="With commas between them."
      />
      <TextField
        label="Description"
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
