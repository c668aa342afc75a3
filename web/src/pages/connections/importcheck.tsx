// How a file is read: which column is which field, and what would be stored.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Refusal, type Schemas, take, v1 } from "../../api/client";
import { useMetric } from "../../lib/catalogue";
import { count, day, figure, words } from "../../lib/format";
import { common } from "../../text/common";
import { t } from "../../text/connections";
import { Button } from "../../ui/button";
import { Badge, Facts } from "../../ui/display";
import { Note } from "../../ui/feedback";
import { Checkbox, Select, TextField } from "../../ui/fields";
import { Actions } from "../../ui/overlay";
import type { Import } from "./queries";

type Field = NonNullable<Schemas["ImportField"]>;

// The fields that a column may be read as, by their labels.
const fields: Record<Field, string> = t.review.fields;

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
      {i.duplicate_of ? <Note>{t.review.duplicate}</Note> : null}
      <Mapping value={i} patch={patch.mutate} />
      <Preview value={i} />
      {wrong > 0 && i.status === "ready" ? (
        <Checkbox isSelected={skip} onChange={setSkip}>
          {t.review.skip(wrong)}
        </Checkbox>
      ) : null}
      {refusal ? (
        <Note tone="bad" title={refusal.message}>
          {refusal.details.map((d) => d.message).join(" ")}
        </Note>
      ) : null}
      <Actions>
        <Button onPress={close}>{t.review.later}</Button>
        <Button
          look="primary"
          isDisabled={i.status !== "ready" || (wrong > 0 && !skip) || i.preview.valid_count === 0}
          busy={commit.isPending}
          onPress={() => commit.mutate()}
        >
          {t.review.submit(i.preview.valid_count)}
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
    <section aria-label={t.review.format} className="grid gap-4">
      <Facts
        items={[
          [t.file, i.file.name],
          [
            t.review.readAs,
            `${i.detected.template ? t.review.exportOf(words(i.detected.template), i.file.format.toUpperCase()) : i.file.format.toUpperCase()}${busy ? " …" : ""}`,
          ],
          [t.review.currencyAndZone, `${i.currency}, ${i.timezone}`],
        ]}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField
          label={t.source}
          value={source}
          onChange={setSource}
          onBlur={() => source.trim() && source !== i.source && patch({ source: source.trim() })}
        />
        <Select
          label={t.review.dateFormat}
          value={format ?? ""}
          onChange={(v) => v && patch({ date_format: v })}
          options={[
            ...(format ? [] : [{ id: "", label: t.review.chooseFormat }]),
            ...formats.map((id) => ({ id, label: id })),
          ]}
        />
        {i.file.format === "csv" ? (
          <Select
            label={t.review.decimal}
            value={i.detected.decimal ?? ""}
            onChange={(v) => v && patch({ decimal: v })}
            options={[
              ...(i.detected.decimal ? [] : [{ id: "", label: t.review.noDecimal }]),
              { id: ".", label: t.review.point },
              { id: ",", label: t.review.comma },
            ]}
          />
        ) : null}
      </div>
    </section>
  );
}

function Mapping({ value: i, patch }: { value: Import; patch: Patch }) {
  const options = [
    { id: "", label: t.review.skipColumn },
    ...Object.entries(fields).map(([id, label]) => ({ id, label })),
  ];
  return (
    <section aria-label={t.review.columns}>
      <h3 className="mb-2 text-sm font-medium">{t.review.columns}</h3>
      <ul className="divide-y divide-line rounded-lg border border-line">
        {i.columns.map((c) => (
          <li key={c.name} className="flex items-center gap-3 px-3 py-2">
            <div className="min-w-0 grow">
              <p className="flex items-center gap-2 text-sm">
                <span className="truncate">{c.name}</span>
                {c.confidence === "guess" ? <Badge tone="warn">{t.review.guess}</Badge> : null}
              </p>
              <p className="truncate text-xs text-muted">{c.sample.slice(0, 3).join(" · ")}</p>
            </div>
            <Select
              label={t.review.fieldOf(c.name)}
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
    ([name, v]) => `${fields[name as Field] ?? info(name).label} ${figure(v, info(name).format, i.currency)}`,
  );
  return (
    <section aria-label={t.review.preview} className="grid gap-3">
      <h3 className="text-sm font-medium">{t.review.preview}</h3>
      <Facts
        items={[
          [
            t.rows,
            p.skipped_count
              ? t.review.validSkipped(count(p.valid_count), count(p.row_count), p.skipped_count)
              : t.review.valid(count(p.valid_count), count(p.row_count)),
          ],
          [common.days, p.start_date ? `${day(p.start_date, true)} – ${day(p.end_date, true)}` : t.none],
          [t.review.totals, totals.join(", ") || t.none],
        ]}
      />
      {p.errors.length > 0 ? (
        <Note tone="warn" title={t.review.wrong(p.error_count)}>
          <ul className="grid gap-0.5">
            {p.errors.slice(0, 8).map((e) => (
              <li key={`${e.line}${e.field}${e.code}`} className="num">
                {t.review.line(e.line, e.message)}
              </li>
            ))}
          </ul>
        </Note>
      ) : null}
    </section>
  );
}
