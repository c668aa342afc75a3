// How an ad should be: type, channels, shapes, brand, voice and model.

import { useQuery } from "@tanstack/react-query";
import { take, v1 } from "../../api/client";
import { words } from "../../lib/format";
import { t } from "../../text/creative";
import { Select, TextField } from "../../ui/fields";
import { Choices } from "./choices";
import { callOptions, channels, options } from "./data";
import { More } from "./more";
import type { Settings } from "./state";

interface FieldsProps {
  settings: Settings;
  set: (next: Partial<Settings>) => void;
  /** Messages by field of the request. */
  wrong: Record<string, string>;
}

const ratios = ["1:1", "4:5", "9:16", "16:9", "1.91:1"].map((id) => ({ id, label: id }));
const sizes = ["300x250", "336x280", "728x90", "970x90", "970x250", "160x600", "300x600", "320x50", "320x100"].map(
  (id) => ({ id, label: id.replace("x", " × ") }),
);

/** The message about a field or the first of its items that has one. */
const at = (wrong: Record<string, string>, field: string) =>
  Object.entries(wrong).find(([name]) => name === field || name.startsWith(`${field}[`))?.[1];

export function SettingFields({ settings: b, set, wrong: f }: FieldsProps) {
  const pictures = b.type === "image" || b.channels.includes("display");
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Select
          label={t.type}
          value={b.type}
          onChange={(type) => set({ type })}
          options={[
            { id: "text", label: t.text },
            { id: "image", label: t.options.imageAndText },
            { id: "email", label: t.upload.email },
          ]}
          error={f.type}
        />
        <Select
          label={t.variants}
          value={b.variants}
          onChange={(variants) => set({ variants })}
          options={Array.from({ length: 10 }, (_, i) => ({ id: String(i + 1), label: String(i + 1) }))}
          error={f.variants}
        />
      </div>
      <Choices
        label={t.channels}
        hint={t.options.channelsHint}
        options={options(channels)}
        value={b.channels}
        onChange={(v) => set({ channels: v })}
        error={at(f, "channels")}
      />
      {pictures ? (
        <>
          <Choices
            label={t.options.ratios}
            hint={t.options.ratiosHint}
            options={ratios}
            value={b.aspect_ratios}
            onChange={(v) => set({ aspect_ratios: v })}
            error={at(f, "aspect_ratios")}
          />
          <Choices
            label={t.options.sizes}
            hint={t.options.sizesHint}
            options={sizes}
            value={b.sizes}
            onChange={(v) => set({ sizes: v })}
            error={at(f, "sizes")}
          />
        </>
      ) : null}
      <Context settings={b} set={set} wrong={f} />
      <Voice settings={b} set={set} wrong={f} />
    </>
  );
}

function Context({ settings: b, set, wrong: f }: FieldsProps) {
  const { data: audiences } = useQuery({
    queryKey: ["audiences", "names"],
    queryFn: async () =>
      (await take(v1.GET("/v1/audiences", { params: { query: { limit: 100, sort: "name", order: "asc" } } }))).data,
  });
  const { data: campaigns } = useQuery({
    queryKey: ["campaigns", "names"],
    queryFn: async () =>
      (await take(v1.GET("/v1/campaigns", { params: { query: { limit: 100, sort: "name", order: "asc" } } }))).data,
  });
  const pick = (of?: { id: string; name: string }[]) => [
    { id: "none", label: t.none },
    ...(of ?? []).map((o) => ({ id: o.id, label: o.name })),
  ];
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Select
        label={t.options.campaign}
        hint={t.options.campaignHint}
        value={b.campaign}
        onChange={(campaign) => set({ campaign })}
        options={pick(campaigns)}
        error={f.campaign_id}
      />
      <Select
        label={t.options.audience}
        value={b.audience}
        onChange={(audience) => set({ audience })}
        options={pick(audiences)}
        error={f.audience_id}
      />
    </div>
  );
}

const providers = [
  { id: "none", label: t.options.modelDefault },
  { id: "composer", label: words("composer"), hint: t.options.composerHint },
  { id: "openai", label: words("openai") },
  { id: "anthropic", label: words("anthropic") },
  { id: "gemini", label: words("gemini") },
];

const fallbacks = [
  { id: "none", label: t.options.fallbackDefault },
  { id: "composer", label: t.options.fallbackComposer },
  { id: "fail", label: t.options.fallbackNone },
];

const voiceFields = ["brand", "language", "tone", "call_to_action", "landing_url", "provider", "fallback"];

function Voice({ settings: b, set, wrong: f }: FieldsProps) {
  const isWrong = Object.keys(f).some((name) => voiceFields.some((field) => name.startsWith(field)));
  return (
    <More title={t.options.more} isNeeded={isWrong}>
      <TextField
        label={t.options.colors}
        hint={t.options.colorsHint}
        placeholder="#5451d0, #0b8a8f"
        value={b.colors}
        onChange={(colors) => set({ colors })}
        error={at(f, "brand.colors")}
      />
      <TextField
        label={t.options.voice}
        placeholder={t.options.voiceExample}
        value={b.voice}
        onChange={(voice) => set({ voice })}
        error={f["brand.voice"]}
      />
      <TextField label={t.options.tone} value={b.tone} onChange={(tone) => set({ tone })} error={f.tone} />
      <TextField
        label={t.options.language}
        hint={t.options.languageHint}
        value={b.language}
        onChange={(language) => set({ language })}
        error={f.language}
      />
      <Select
        label={t.options.button}
        hint={t.options.buttonHint}
        value={b.call}
        onChange={(call) => set({ call })}
        options={callOptions}
        error={f.call_to_action}
      />
      <TextField
        label={t.landingPage}
        placeholder="https://"
        value={b.landing}
        onChange={(landing) => set({ landing })}
        error={f.landing_url}
      />
      <Select
        label={t.options.model}
        value={b.provider}
        onChange={(provider) => set({ provider })}
        options={providers}
        error={f.provider}
      />
      <Select
        label={t.options.fallback}
        value={b.fallback}
        onChange={(fallback) => set({ fallback })}
        options={fallbacks}
        error={f.fallback}
      />
    </More>
  );
}
