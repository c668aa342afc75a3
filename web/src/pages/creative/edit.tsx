// Changing a creative: its name, where it fits and the copy of each channel.

import { type ReactNode, useState } from "react";
import { Form, Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { type Detail, Refusal } from "../../api/client";
import { count, words } from "../../lib/format";
import { common } from "../../text/common";
import { t } from "../../text/creative";
import { Button } from "../../ui/button";
import { Note } from "../../ui/feedback";
import { Select, TextField } from "../../ui/fields";
import { Actions, Dialog } from "../../ui/overlay";
import { tab } from "../../ui/showcall";
import { say } from "../../ui/toast";
import { Choices } from "./choices";
import { Counter, Findings, foundIn } from "./copy";
import {
  type Channel,
  type Copy,
  type Creative,
  callOf,
  callOptions,
  channels,
  named,
  options,
  type Patch,
  usePatch,
  useVariantPatch,
  type Variant,
} from "./data";
import { isList, type Limit, limitsOf, lineNames, texts } from "./limits";
import { Lines } from "./lines";

type ByChannel = Record<string, Partial<Copy>>;

export function Edit({
  creative,
  variant,
  isOpen,
  onOpenChange,
}: {
  creative: Creative;
  /** The variant to edit instead of the creative. */
  variant?: Variant;
  isOpen: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  return (
    <Dialog side title={variant ? t.editor.variantTitle : t.editor.title} isOpen={isOpen} onOpenChange={onOpenChange}>
      {(close) => <EditForm creative={creative} variant={variant} close={close} />}
    </Dialog>
  );
}

const same = (a: unknown, b: unknown) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

/** The copy that differs from what is saved; null where a channel is gone. */
function copyPatch(was: ByChannel, now: ByChannel): ByChannel | undefined {
  const changed: ByChannel = {};
  for (const [channel, copy] of Object.entries(now)) {
    const fields = Object.entries(copy)
      .map(([k, v]) => [k, Array.isArray(v) ? v.filter((line) => line.trim()) : v || null] as const)
      .filter(([k, v]) => !same(v, was[channel]?.[k as keyof Copy]));
    if (fields.length > 0) changed[channel] = Object.fromEntries(fields);
  }
  return Object.keys(changed).length > 0 ? changed : undefined;
}

/** What is wrong with a field, in the words of the form. */
function worded(d: Detail, field: string, name: string): string {
  const line: { label: string; one: string } | undefined = lineNames(name as keyof Copy);
  const label = (field.includes("by_channel") ? line?.one : labels[name]) ?? words(name);
  const { minimum, maximum, actual } = d.meta ?? {};
  switch (d.code) {
    case "required":
      return Number(minimum) > 1 && line
        ? t.errors.tooFew(line.label, count(Number(minimum)))
        : t.errors.required(label);
    case "too_many_items":
      return t.errors.tooMany(line?.label ?? label, count(Number(maximum)), count(Number(actual)));
    case "too_long":
      return t.errors.tooLong(label, count(Number(maximum)), count(Number(actual)));
    case "invalid_format":
      return name === "landing_url" ? t.errors.url : d.message.replaceAll(field, label);
  }
  return d.message.replaceAll(field, label);
}

const labels: Record<string, string> = {
  name: t.name,
  channels: t.channels,
  tags: t.tags,
  headline: t.headline,
  body: t.text,
  call_to_action: t.callToAction,
  landing_url: t.landingPage,
};

/** Messages by field, with the words of the form instead of API names. */
function errorsOf(error: Error | null): Record<string, string> {
  if (!(error instanceof Refusal)) return {};
  return Object.fromEntries(
    error.details
      .filter((d) => d.field)
      .map((d) => {
        const field = d.field as string;
        const name = field.replace(/^.*\./, "").replace(/\[\d+\]$/, "");
        // The policy check names the field and the place in it.
        const place =
          d.code === "policy_blocked" && isList(name as keyof Copy) ? `${field}[${d.meta?.index ?? 0}]` : field;
        return [place, worded(d, field, name)];
      }),
  );
}

function EditForm({ creative: c, variant, close }: { creative: Creative; variant?: Variant; close: () => void }) {
  const { name, content: was } = variant ?? c;
  const [v, setV] = useState({
    name,
    channels: c.channels as string[],
    tags: c.tags.join(", "),
    headline: was.headline ?? "",
    body: was.body ?? "",
    call: was.call_to_action ?? "none",
    landing: was.landing_url ?? "",
  });
  const [copy, setCopy] = useState<ByChannel>(was.by_channel);
  const whole = usePatch(c.id, true);
  const one = useVariantPatch(variant ?? ({} as Variant));
  const patch = variant ? one : whole;
  const set = (next: Partial<typeof v>) => setV({ ...v, ...next });
  const f = errorsOf(patch.error);
  const save = () => {
    const tags = v.tags
      .split(",")
      .map((tag) => tag.trim())
      .filter(Boolean);
    const content: Patch["content"] = {
      ...(v.headline !== (was.headline ?? "") ? { headline: v.headline || null } : {}),
      ...(v.body !== (was.body ?? "") ? { body: v.body || null } : {}),
      ...(v.call !== (was.call_to_action ?? "none") ? { call_to_action: callOf(v.call) } : {}),
      ...(v.landing !== (was.landing_url ?? "") ? { landing_url: v.landing || null } : {}),
      by_channel: copyPatch(was.by_channel, copy),
    };
    const onSuccess = () => {
      say(t.saved);
      close();
    };
    if (variant) one.mutate({ name: v.name, content }, { onSuccess });
    else whole.mutate({ name: v.name, channels: v.channels as Channel[], tags, content }, { onSuccess });
  };
  const shown = [...new Set([...Object.keys(copy), ...v.channels])];
  return (
    <Form
      className="grid gap-5"
      onSubmit={(e) => {
        e.preventDefault();
        save();
      }}
    >
      {patch.error ? <Note tone="bad">{Object.keys(f).length > 0 ? t.errors.marked : patch.error.message}</Note> : null}
      <TextField label={t.name} value={v.name} onChange={(name) => set({ name })} error={f.name} isRequired />
      {variant ? null : (
        <Choices
          label={t.channels}
          options={options(channels)}
          value={v.channels}
          onChange={(list) => set({ channels: list })}
          error={f.channels}
        />
      )}
      {shown.length > 0 ? (
        <Tabs>
          <TabList aria-label={t.channel} className="mb-3 flex overflow-x-auto border-b border-line">
            {shown.map((ch) => (
              <Tab key={ch} id={ch} className={tab}>
                {named(ch)}
              </Tab>
            ))}
          </TabList>
          {shown.map((ch) => (
            <TabPanel key={ch} id={ch} className="grid gap-4 outline-none">
              {limitsOf(ch).map((limit) => (
                <CopyField
                  key={limit.field}
                  of={variant ?? c}
                  channel={ch}
                  limit={limit}
                  value={texts(copy[ch], limit.field)}
                  errors={f}
                  set={(lines) =>
                    setCopy({
                      ...copy,
                      [ch]: { ...copy[ch], [limit.field]: isList(limit.field) ? lines : (lines[0] ?? "") },
                    })
                  }
                />
              ))}
            </TabPanel>
          ))}
        </Tabs>
      ) : null}
      <fieldset className="grid gap-4 border-t border-line pt-4">
        <legend className="sr-only">{t.editor.general}</legend>
        <TextField
          label={t.headline}
          hint={t.editor.headlineHint}
          value={v.headline}
          onChange={(headline) => set({ headline })}
          error={f["content.headline"]}
        />
        <TextField
          label={t.text}
          rows={3}
          value={v.body}
          onChange={(body) => set({ body })}
          error={f["content.body"]}
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <Select
            label={t.callToAction}
            value={v.call}
            onChange={(call) => set({ call: call as "none" })}
            options={callOptions}
          />
          <TextField
            label={t.landingPage}
            placeholder="https://"
            value={v.landing}
            onChange={(landing) => set({ landing })}
            error={f["content.landing_url"]}
          />
        </div>
        {variant ? null : (
          <TextField
            label={t.tags}
            hint={t.editor.tagsHint}
            value={v.tags}
            onChange={(tags) => set({ tags })}
            error={Object.entries(f).find(([k]) => k.startsWith("tags"))?.[1]}
          />
        )}
      </fieldset>
      <Actions>
        <Button onPress={close}>{common.cancel}</Button>
        <Button type="submit" look="primary" busy={patch.isPending}>
          {common.save}
        </Button>
      </Actions>
    </Form>
  );
}

interface CopyFieldProps {
  /** What is edited, as it is saved. */
  of: Pick<Creative, "content" | "policy">;
  channel: string;
  limit: Limit;
  value: string[];
  errors: Record<string, string>;
  set: (lines: string[]) => void;
}

function CopyField({ of: c, channel, limit, value, errors, set }: CopyFieldProps) {
  const name = lineNames(limit.field);
  const list = isList(limit.field);
  const path = `content.by_channel.${channel}.${limit.field}`;
  const saved = texts(c.content.by_channel[channel], limit.field);
  const long = limit.hard > 120;
  const field = (text: string, i: number, label: string): ReactNode => (
    <TextField
      label={label}
      rows={long ? (limit.hard > 1000 ? 8 : 3) : undefined}
      value={text}
      onChange={(next) => set(value.length === 0 ? [next] : value.map((x, n) => (n === i ? next : x)))}
      trailing={<Counter text={text} limit={limit} />}
      hint={
        <>
          {long ? <Counter text={text} limit={limit} /> : null}
          {/* The check has seen what is saved, not what is typed. */}
          {text === saved[i] ? <Findings list={foundIn(c.policy, channel, limit.field, i)} /> : null}
        </>
      }
      error={errors[list ? `${path}[${i}]` : path] ?? (i === 0 ? errors[path] : undefined)}
    />
  );
  if (!list) return field(value[0] ?? "", 0, name.one);
  return (
    <Lines one={name.one} values={value} most={limit.most} set={set}>
      {(text, i, label) => field(text, i, label)}
    </Lines>
  );
}
