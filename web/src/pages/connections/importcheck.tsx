// How a file is read: which column is which field, and what would be stored.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Refusal, type Schemas, take, v1 } from "../../api/client";
import { useMetric } from "../../lib/catalogue";
import { count, day, figure, words } from "../../lib/format";
import { Button } from "../../ui/button";
import { Badge, Facts } from "../../ui/display";
import { Note } from "../../ui/feedback";
import { Checkbox, Select, TextField } from "../../ui/fields";
import { Actions } from "../../ui/overlay";
import type { Import } from "./queries";

type Field = NonNullable<Schemas["ImportField"]>;

// The fields that a column may be read as, in the order of the contract.
const fields: Field[] = [
  "date",
  "channel",
  "campaign_name",
  "campaign_id",
  "external_campaign_id",
  "creative_name",
  "creative_id",
  "external_creative_id",
  "audience_name",
  "audience_id",
  "external_audience_id",
  "account_id",
  "country",
  "age_range",
  "gender",
  "device",
  "impressions",
  "clicks",
  "spend",
  "conversions",
  "revenue",
  "leads",
  "engagements",
  "video_views",
  "video_completions",
  "sends",
  "deliveries",
  "opens",
  "bounces",
  "unsubscribes",
  "complaints",
  "reach",
  "end_date",
  "currency",
];

const formats = [
  "YYYY-MM-DD",
  "YYYY/MM/DD",
  "YYYYMMDD",
  "DD.MM.YYYY",
  "DD/MM/YYYY",
  "DD-MM-YYYY",
  "MM/DD/YYYY",
  "MMM D, YYYY",
];

export function CheckImport({ value: i, close }: { value: Import; close: () => void }) {
  const client = useQueryClient();
  const [skip, setSkip] = useState(false);
  const took = (next: Import) => client.setQueryData(["imports", "one", i.id], next);
  const path = { id: i.id };
  const patch = useMutation({
    meta: { quiet: true },
    mutationFn: async (body: Schemas["ImportPatch"]) =>
      (await take(v1.PATCH("/v1/imports/{id}", { params: { path }, body }))).data,
    onSuccess: took,
  });
  const commit = useMutation({
    meta: { quiet: true },
    mutationFn: async () =>
      (await take(v1.POST("/v1/imports/{id}/commit", { params: { path }, body: { skip_errors: skip } }))).data,
    onSuccess: (next) => {
      took(next);
      for (const key of ["imports", "connections", "analytics"]) client.invalidateQueries({ queryKey: [key] });
    },
  });
  const refusal = (commit.error ?? patch.error) as Refusal | null;
  const wrong = i.preview.error_count;
  return (
    <div className="grid gap-5">
      <Read value={i} patch={patch.mutate} busy={patch.isPending} />
      {i.error ? <Note tone="warn">{i.error.message}</Note> : null}
      {i.duplicate_of ? (
        <Note>The same file was imported to this source before. Storing it again leaves no duplicates.</Note>
      ) : null}
      <Mapping value={i} patch={patch.mutate} />
      <Preview value={i} />
      {wrong > 0 && i.status === "ready" ? (
        <Checkbox isSelected={skip} onChange={setSkip}>
          Leave out the {count(wrong)} {wrong === 1 ? "row that is" : "rows that are"} wrong
        </Checkbox>
      ) : null}
      {refusal ? (
        <Note tone="bad" title={refusal.message}>
          {refusal.details.map((d) => d.message).join(" ")}
        </Note>
      ) : null}
      <Actions>
        <Button onPress={close}>Later</Button>
        <Button
          look="primary"
          isDisabled={i.status !== "ready" || (wrong > 0 && !skip) || i.preview.valid_count === 0}
          busy={commit.isPending}
          onPress={() => commit.mutate()}
        >
          Store {count(i.preview.valid_count)} {i.preview.valid_count === 1 ? "row" : "rows"}
        </Button>
      </Actions>
    </div>
  );
}

type Patch = (body: Schemas["ImportPatch"]) => void;

function Read({ value: i, patch, busy }: { value: Import; patch: Patch; busy: boolean }) {
  const [source, setSource] = useState(i.source);
  const format = i.detected.date_format;
  return (
    <section aria-label="How the file is read" className="grid gap-4">
      <Facts
        items={[
          ["File", i.file.name],
          [
            "Read as",
            `${i.detected.template ? `${words(i.detected.template)} export, ` : ""}${i.file.format.toUpperCase()}${busy ? " …" : ""}`,
          ],
          ["Amounts and days", `${i.currency}, days in ${i.timezone}`],
        ]}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField
          label="Source"
          value={source}
          onChange={setSource}
          onBlur={() => source.trim() && source !== i.source && patch({ source: source.trim() })}
        />
        <Select
          label="Days are written as"
          value={format ?? ""}
          onChange={(v) => v && patch({ date_format: v })}
          options={[
            ...(format ? [] : [{ id: "", label: "Not clear: choose" }]),
            ...formats.map((id) => ({ id, label: id })),
          ]}
        />
        {i.file.format === "csv" ? (
          <Select
            label="Decimal mark"
            value={i.detected.decimal ?? ""}
            onChange={(v) => v && patch({ decimal: v })}
            options={[
              ...(i.detected.decimal ? [] : [{ id: "", label: "None seen" }]),
              { id: ".", label: "Point: 1,234.56" },
              { id: ",", label: "Comma: 1.234,56" },
            ]}
          />
        ) : null}
      </div>
    </section>
  );
}

function Mapping({ value: i, patch }: { value: Import; patch: Patch }) {
  const info = useMetric();
  const options = [{ id: "", label: "Not read" }, ...fields.map((id) => ({ id: id as string, label: info(id).label }))];
  return (
    <section aria-label="Columns">
      <h3 className="mb-2 text-sm font-medium">Columns</h3>
      <ul className="divide-y divide-line rounded-lg border border-line">
        {i.columns.map((c) => (
          <li key={c.name} className="flex items-center gap-3 px-3 py-2">
            <div className="min-w-0 grow">
              <p className="flex items-center gap-2 text-sm">
                <span className="truncate">{c.name}</span>
                {c.confidence === "guess" ? <Badge tone="warn">A guess</Badge> : null}
              </p>
              <p className="truncate text-xs text-muted">{c.sample.slice(0, 3).join(" · ")}</p>
            </div>
            <Select
              label={`What ${c.name} is`}
              hideLabel
              className="w-44 shrink-0"
              value={c.field ?? ""}
              onChange={(f) => patch({ mapping: { [c.name]: f === "" ? null : (f as Field) } })}
              options={options}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Preview({ value: i }: { value: Import }) {
  const info = useMetric();
  const p = i.preview;
  const totals = Object.entries(p.totals).map(
    ([name, v]) => `${info(name).label} ${figure(v, info(name).format, i.currency)}`,
  );
  return (
    <section aria-label="What would be stored" className="grid gap-3">
      <h3 className="text-sm font-medium">What would be stored</h3>
      <Facts
        items={[
          [
            "Rows",
            `${count(p.valid_count)} of ${count(p.row_count)}${p.skipped_count ? `; ${count(p.skipped_count)} lines are no rows` : ""}`,
          ],
          ["Days", p.start_date ? `${day(p.start_date, true)} – ${day(p.end_date, true)}` : "None"],
          ["Totals", totals.join(", ") || "None"],
        ]}
      />
      {p.errors.length > 0 ? (
        <Note tone="warn" title={`${count(p.error_count)} ${p.error_count === 1 ? "row is" : "rows are"} wrong`}>
          <ul className="grid gap-0.5">
            {p.errors.slice(0, 8).map((e) => (
              <li key={`${e.line}${e.field}${e.code}`}>
                <span className="num">Line {e.line}</span>: {e.message}
              </li>
            ))}
          </ul>
        </Note>
      ) : null}
    </section>
  );
}
