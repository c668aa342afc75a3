// The definition of an audience: whom it means, with the sentence that it makes.

import { useQuery } from "@tanstack/react-query";
import { CheckboxGroup, Label } from "react-aria-components";
import { percent, words } from "../../lib/format";
import { t } from "../../text/audiences";
import { Checkbox, label, Select, TextField } from "../../ui/fields";
import { type Lookalike, namesOf, namesQuery, type Targeting } from "./data";
import { countries, country, language, languages } from "./places";
import { lookalikeSentence, type Named, targetingSentence } from "./sentence";
import { Tokens } from "./tokens";

export const noTargeting: Targeting = {
  countries: [],
  regions: [],
  languages: [],
  age: null,
  genders: [],
  interests: [],
  devices: [],
  include_audience_ids: [],
  exclude_audience_ids: [],
};

export const noLookalike: Lookalike = { seed_audience_id: "", countries: [], size_percent: 1 };

const genders: Record<string, string> = t.build.gender;

interface Props<T> {
  value: T;
  onChange: (next: T) => void;
  /** Messages by field, such as definition.countries[0]. */
  errors: Record<string, string>;
  /** The audience itself, which cannot refer to itself. */
  self?: string;
}

/** What is said about a field or one of its items. */
const about = (errors: Record<string, string>, field: string) =>
  Object.entries(errors).find(([k]) => k === `definition.${field}` || k.startsWith(`definition.${field}[`))?.[1];

/** Names of audiences by id. */
export function useNamed(): Named {
  const { data } = useQuery(namesQuery);
  return (id) => data?.find((a) => a.id === id)?.name ?? (data ? id : "…");
}

export function TargetingBuilder({ value: d, onChange, errors, self }: Props<Targeting>) {
  const { data } = useQuery(namesQuery);
  const named = useNamed();
  const set = (next: Partial<Targeting>) => onChange({ ...d, ...next });
  const others = namesOf(data?.filter((a) => a.id !== self));
  return (
    <div className="grid gap-5">
      <Said text={targetingSentence(d, named)} />
      <div className="grid gap-4 sm:grid-cols-2">
        <Tokens
          label={t.build.countries}
          options={countries}
          named={country}
          value={d.countries}
          onChange={(v) => set({ countries: v })}
          error={about(errors, "countries")}
        />
        <Tokens
          label={t.build.regions}
          value={d.regions}
          onChange={(v) => set({ regions: v })}
          error={about(errors, "regions")}
        />
        <Tokens
          label={t.build.languages}
          options={languages}
          named={language}
          value={d.languages}
          onChange={(v) => set({ languages: v })}
          error={about(errors, "languages")}
        />
        <Tokens
          label={t.build.interests}
          value={d.interests}
          onChange={(v) => set({ interests: v })}
          error={about(errors, "interests")}
        />
      </div>
      <Age value={d.age} onChange={(age) => set({ age })} errors={errors} />
      <div className="grid gap-4 sm:grid-cols-2">
        <Several
          label={t.build.genders}
          options={["female", "male", "other", "unknown"]}
          named={(g) => genders[g] ?? words(g)}
          value={d.genders}
          onChange={(v) => set({ genders: v as Targeting["genders"] })}
        />
        <Several
          label={t.build.devices}
          options={["desktop", "mobile", "tablet", "tv"]}
          named={words}
          value={d.devices}
          onChange={(v) => set({ devices: v as Targeting["devices"] })}
        />
        <Tokens
          label={t.build.included}
          placeholder={t.build.chooseAudiences}
          options={others}
          named={named}
          value={d.include_audience_ids}
          onChange={(v) => set({ include_audience_ids: v })}
          error={about(errors, "include_audience_ids")}
        />
        <Tokens
          label={t.build.excluded}
          placeholder={t.build.chooseAudiences}
          options={others}
          named={named}
          value={d.exclude_audience_ids}
          onChange={(v) => set({ exclude_audience_ids: v })}
          error={about(errors, "exclude_audience_ids")}
        />
      </div>
    </div>
  );
}

/** The sentence that changes as one chooses. */
function Said({ text }: { text: string }) {
  return (
    <div className="rounded-lg bg-sunken px-3 py-2.5">
      <p aria-live="polite" className="text-sm font-medium text-pretty">
        {text}
      </p>
      <p className="mt-0.5 text-xs text-muted">{t.build.sizeHint}</p>
    </div>
  );
}

function Age({
  value,
  onChange,
  errors,
}: {
  value: Targeting["age"];
  onChange: (age: Targeting["age"]) => void;
  errors: Record<string, string>;
}) {
  const years = (v: string) => (v.trim() === "" || Number.isNaN(Number(v)) ? null : Number(v));
  const set = (min: number | null, max: number | null) => onChange(min === null && max === null ? null : { min, max });
  const shown = (n: number | null | undefined) => (n === null || n === undefined ? "" : String(n));
  return (
    <div className="grid grid-cols-2 gap-4">
      <TextField
        label={t.build.ageFrom}
        inputMode="numeric"
        placeholder="13"
        value={shown(value?.min)}
        onChange={(v) => set(years(v), value?.max ?? null)}
        error={errors["definition.age.min"] ?? errors["definition.age"]}
      />
      <TextField
        label={t.build.ageTo}
        inputMode="numeric"
        placeholder="120"
        value={shown(value?.max)}
        onChange={(v) => set(value?.min ?? null, years(v))}
        error={errors["definition.age.max"]}
      />
    </div>
  );
}

function Several({
  label: text,
  options,
  named,
  value,
  onChange,
}: {
  label: string;
  options: string[];
  named: (option: string) => string;
  value: string[];
  onChange: (v: string[]) => void;
}) {
  return (
    <CheckboxGroup value={value} onChange={onChange}>
      <Label className={label}>{text}</Label>
      <div className="flex flex-wrap gap-x-4 gap-y-1">
        {options.map((o) => (
          <Checkbox key={o} value={o}>
            {named(o)}
          </Checkbox>
        ))}
      </div>
    </CheckboxGroup>
  );
}

function sizeLabel(n: number): string {
  const share = percent(n / 100, 0);
  if (n === 1) return t.build.mostSimilar(share);
  return n === 10 ? t.build.broadest(share) : share;
}

export function LookalikeBuilder({ value: d, onChange, errors, self }: Props<Lookalike>) {
  const { data } = useQuery(namesQuery);
  const named = useNamed();
  const set = (next: Partial<Lookalike>) => onChange({ ...d, ...next });
  const seeds = namesOf(data?.filter((a) => a.id !== self));
  return (
    <div className="grid gap-5">
      {d.seed_audience_id ? <Said text={lookalikeSentence(d, named)} /> : null}
      <Select
        label={t.build.seed}
        hint={t.build.seedHint}
        placeholder={t.build.chooseAudience}
        value={d.seed_audience_id}
        onChange={(v) => set({ seed_audience_id: v })}
        options={seeds}
        error={about(errors, "seed_audience_id")}
      />
      <Tokens
        label={t.build.countries}
        options={countries}
        named={country}
        value={d.countries}
        onChange={(v) => set({ countries: v })}
        error={about(errors, "countries")}
      />
      <Select
        label={t.size}
        hint={t.build.percentHint}
        value={String(d.size_percent)}
        onChange={(v) => set({ size_percent: Number(v) })}
        options={Array.from({ length: 10 }, (_, i) => ({
          id: String(i + 1),
          label: sizeLabel(i + 1),
        }))}
        error={about(errors, "size_percent")}
      />
    </div>
  );
}
