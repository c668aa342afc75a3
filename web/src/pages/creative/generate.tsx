// From a prompt to variants: the brief, then how it goes, then what came of it.
import { useMutation, useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { Button as AriaButton, Disclosure, DisclosurePanel, Form, Heading } from "react-aria-components";
import { Refusal, type Schemas, take, v1 } from "../../api/client";
import { Button, ButtonLink } from "../../ui/button";
import { Note, Skeleton } from "../../ui/feedback";
import { Select, TextField } from "../../ui/fields";
import { Actions, Dialog } from "../../ui/overlay";
import { Choices } from "./choices";
import { type Creative, callOf, callOptions, channels, creativeQuery, options, useKeep } from "./data";
import { Frame } from "./frames";
import { FallbackNote, Progress } from "./progress";

type Request = Schemas["GenerateRequest"];

/** The fields of the form; all text, as they are typed. */
const blank = {
  prompt: "",
  type: "text",
  channels: [] as string[],
  variants: "3",
  aspect_ratios: [] as string[],
  sizes: [] as string[],
  audience: "none",
  campaign: "none",
  language: "",
  tone: "",
  avoid: "",
  call: "none",
  landing: "",
  brand: "",
  voice: "",
  colors: "",
  provider: "none",
  fallback: "none",
};

type Brief = typeof blank;

const text = (s: string) => s.trim() || undefined;
const chosen = (id: string) => (id === "none" ? undefined : id);
const list = (s: string) => s.split(/[\s,;]+/).filter(Boolean);

function request(b: Brief): Request {
  const brand = { name: text(b.brand), voice: text(b.voice), colors: b.colors ? list(b.colors) : undefined };
  return {
    prompt: b.prompt,
    type: b.type as Request["type"],
    channels: b.channels.length > 0 ? (b.channels as Request["channels"]) : undefined,
    variants: Number(b.variants),
    aspect_ratios: b.aspect_ratios.length > 0 ? (b.aspect_ratios as Request["aspect_ratios"]) : undefined,
    sizes: b.sizes.length > 0 ? (b.sizes as Request["sizes"]) : undefined,
    audience_id: chosen(b.audience),
    campaign_id: chosen(b.campaign),
    language: text(b.language),
    tone: text(b.tone),
    negative_prompt: text(b.avoid),
    call_to_action: b.call === "none" ? undefined : callOf(b.call),
    landing_url: text(b.landing),
    brand: Object.values(brand).some(Boolean) ? brand : undefined,
    provider: chosen(b.provider) as Request["provider"],
    fallback: b.fallback === "fail" ? "none" : (chosen(b.fallback) as Request["fallback"]),
  };
}

export function Generate({ isOpen, onOpenChange }: { isOpen: boolean; onOpenChange: (open: boolean) => void }) {
  const [brief, setBrief] = useState(blank);
  const [made, setMade] = useState("");
  const keep = useKeep();
  const ask = useMutation({
    meta: { quiet: true },
    mutationFn: async () =>
      (
        await take(
          v1.POST("/v1/creative/generate", {
            params: { header: { Prefer: "respond-async" } },
            body: request(brief),
          }),
        )
      ).data,
    onSuccess: (c) => {
      keep(c);
      setMade(c.id);
    },
  });
  const again = () => setMade("");
  return (
    <Dialog
      side
      title="Generate creative"
      isOpen={isOpen}
      onOpenChange={(open) => {
        if (!open && made) {
          setMade("");
          setBrief(blank);
        }
        ask.reset();
        onOpenChange(open);
      }}
    >
      {(close) =>
        made ? (
          <Made id={made} again={again} close={close} />
        ) : (
          <Form
            className="grid gap-5"
            onSubmit={(e) => {
              e.preventDefault();
              ask.mutate();
            }}
          >
            <Fields brief={brief} set={(next) => setBrief({ ...brief, ...next })} refused={ask.error} />
            <Actions>
              <Button onPress={close}>Cancel</Button>
              <Button type="submit" look="primary" busy={ask.isPending} isDisabled={!brief.prompt.trim()}>
                Generate
              </Button>
            </Actions>
          </Form>
        )
      }
    </Dialog>
  );
}

interface FieldsProps {
  brief: Brief;
  set: (next: Partial<Brief>) => void;
  refused: Error | null;
}

const ratios = ["1:1", "4:5", "9:16", "16:9", "1.91:1"].map((id) => ({ id, label: id }));
const sizes = ["300x250", "336x280", "728x90", "970x90", "970x250", "160x600", "300x600", "320x50", "320x100"].map(
  (id) => ({ id, label: id.replace("x", " × ") }),
);

function Fields({ brief: b, set, refused }: FieldsProps) {
  const f = refused instanceof Refusal ? refused.fields : {};
  const unclear =
    refused instanceof Refusal && refused.says("brief_not_understood")
      ? "Too little was understood to write an ad. Say what is advertised, what people get, and why they should want it."
      : undefined;
  const pictures = b.type === "image" || b.channels.includes("display");
  return (
    <>
      {refused && Object.keys(f).length === 0 ? <Note tone="bad">{refused.message}</Note> : null}
      <TextField
        label="Prompt"
        hint="Product, offer, price, deadline, audience, benefits: as sentences or as lines such as “Product: …”. Nothing is claimed that is not said here."
        placeholder="Oat milk latte, 20% off until Sunday, for students near the campus"
        rows={4}
        value={b.prompt}
        onChange={(prompt) => set({ prompt })}
        maxLength={4000}
        error={f.prompt ?? unclear}
        autoFocus
        isRequired
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <Select
          label="Type"
          value={b.type}
          onChange={(type) => set({ type })}
          options={[
            { id: "text", label: "Text" },
            { id: "image", label: "Picture and text" },
            { id: "email", label: "E-mail" },
          ]}
          error={f.type}
        />
        <Select
          label="Variants"
          value={b.variants}
          onChange={(variants) => set({ variants })}
          options={Array.from({ length: 10 }, (_, i) => ({ id: String(i + 1), label: String(i + 1) }))}
          error={f.variants}
        />
      </div>
      <Choices
        label="Channels"
        hint="Each gets copy within its own limits. Without any, the campaign's or social."
        options={options(channels)}
        value={b.channels}
        onChange={(v) => set({ channels: v })}
        error={f.channels}
      />
      {pictures ? (
        <>
          <Choices
            label="Shapes"
            hint="One picture of each variant per shape."
            options={ratios}
            value={b.aspect_ratios}
            onChange={(v) => set({ aspect_ratios: v })}
            error={f.aspect_ratios}
          />
          <Choices
            label="Banner sizes"
            hint="Display ads in pixels."
            options={sizes}
            value={b.sizes}
            onChange={(v) => set({ sizes: v })}
            error={f.sizes}
          />
        </>
      ) : null}
      <Context brief={b} set={set} refused={refused} />
      <Voice brief={b} set={set} refused={refused} />
    </>
  );
}

function Context({ brief: b, set, refused }: FieldsProps) {
  const f = refused instanceof Refusal ? refused.fields : {};
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
    { id: "none", label: "None" },
    ...(of ?? []).map((o) => ({ id: o.id, label: o.name })),
  ];
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Select
        label="Campaign"
        hint="Lends channels, landing page and objective."
        value={b.campaign}
        onChange={(campaign) => set({ campaign })}
        options={pick(campaigns)}
        error={f.campaign_id}
      />
      <Select
        label="Audience"
        value={b.audience}
        onChange={(audience) => set({ audience })}
        options={pick(audiences)}
        error={f.audience_id}
      />
    </div>
  );
}

const providers = [
  { id: "none", label: "The workspace's choice" },
  { id: "composer", label: "Built-in composer", hint: "No network, no cost" },
  { id: "openai", label: "OpenAI" },
  { id: "anthropic", label: "Anthropic" },
  { id: "gemini", label: "Gemini" },
];

const fallbacks = [
  { id: "none", label: "The model's setting" },
  { id: "composer", label: "Use the built-in composer" },
  { id: "fail", label: "Stop with an error" },
];

const voiceFields = /^(brand|language|tone|negative_prompt|call_to_action|landing_url|provider|fallback)/;

function Voice({ brief: b, set, refused }: FieldsProps) {
  const f = refused instanceof Refusal ? refused.fields : {};
  const [open, setOpen] = useState(false);
  const wrong = Object.keys(f).some((name) => voiceFields.test(name));
  const colour = Object.entries(f).find(([name]) => name.startsWith("brand.colors"))?.[1];
  return (
    <Disclosure isExpanded={open || wrong} onExpandedChange={setOpen} className="border-t border-line pt-3">
      <Heading level={3}>
        <AriaButton
          slot="trigger"
          className="flex cursor-default items-center gap-1.5 rounded-md py-1 text-sm font-medium outline-none focus-visible:ring-focus"
        >
          <ChevronRight
            className={`size-4 text-faint transition-transform ${open || wrong ? "rotate-90" : ""}`}
            aria-hidden="true"
          />
          Brand, voice and model
        </AriaButton>
      </Heading>
      <DisclosurePanel className="grid gap-4 sm:grid-cols-2 data-[expanded]:pt-3 [&:not([data-expanded])]:hidden">
        <TextField label="Brand" value={b.brand} onChange={(brand) => set({ brand })} error={f["brand.name"]} />
        <TextField
          label="Colours"
          hint="Main colour first"
          placeholder="#5451d0, #0b8a8f"
          value={b.colors}
          onChange={(colors) => set({ colors })}
          error={colour}
        />
        <TextField
          className="sm:col-span-2"
          label="Brand voice"
          placeholder="Warm, dry humour, never pushy"
          value={b.voice}
          onChange={(voice) => set({ voice })}
          error={f["brand.voice"]}
        />
        <TextField label="Tone" value={b.tone} onChange={(tone) => set({ tone })} error={f.tone} />
        <TextField
          label="Language"
          hint="Such as en or pt-BR; that of the prompt if empty"
          value={b.language}
          onChange={(language) => set({ language })}
          error={f.language}
        />
        <TextField
          className="sm:col-span-2"
          label="Words that must not appear"
          value={b.avoid}
          onChange={(avoid) => set({ avoid })}
          error={f.negative_prompt}
        />
        <Select
          label="Call to action"
          value={b.call}
          onChange={(call) => set({ call })}
          options={callOptions}
          error={f.call_to_action}
        />
        <TextField
          label="Landing page"
          placeholder="https://"
          value={b.landing}
          onChange={(landing) => set({ landing })}
          error={f.landing_url}
        />
        <Select
          label="Model"
          value={b.provider}
          onChange={(provider) => set({ provider })}
          options={providers}
          error={f.provider}
        />
        {b.provider === "composer" ? null : (
          <Select
            label="If the model fails"
            value={b.fallback}
            onChange={(fallback) => set({ fallback })}
            options={fallbacks}
            error={f.fallback}
          />
        )}
      </DisclosurePanel>
    </Disclosure>
  );
}

function Made({ id, again, close }: { id: string; again: () => void; close: () => void }) {
  const { data: c } = useQuery(creativeQuery(id));
  if (!c) return <Skeleton className="h-24 w-full" />;
  return (
    <div className="grid gap-4" aria-live="polite">
      <Progress creative={c} edit={again} />
      {c.status === "archived" ? <p className="text-sm text-muted">Cancelled and archived.</p> : null}
      {c.status === "ready" ? <Done creative={c} /> : null}
      <Actions>
        {c.status !== "generating" ? <Button onPress={again}>Change the brief</Button> : null}
        {c.status === "ready" ? (
          <ButtonLink look="primary" href={`/creative/${id}`}>
            Open
          </ButtonLink>
        ) : (
          <Button onPress={close}>Close</Button>
        )}
      </Actions>
    </div>
  );
}

function Done({ creative: c }: { creative: Creative }) {
  const first = c.channels[0] ?? Object.keys(c.content.by_channel)[0] ?? "other";
  return (
    <>
      <p className="text-sm">
        <span className="font-medium">
          {c.variant_count} {c.variant_count === 1 ? "variant is" : "variants are"} ready.
        </span>{" "}
        <span className="text-muted">This is the first.</span>
      </p>
      <div className="rounded-lg bg-sunken p-4">
        <Frame channel={first} content={c.content} />
      </div>
      <FallbackNote creative={c} />
      {(c.generation?.dropped ?? []).map((why) => (
        <Note key={why}>{why}</Note>
      ))}
    </>
  );
}
