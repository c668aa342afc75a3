// Material of one's own: pictures, or text.

import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ImagePlus, X } from "lucide-react";
import { useState } from "react";
import { DropZone, type FileDropItem, FileTrigger, Form } from "react-aria-components";
import { Refusal, type Schemas, take, v1 } from "../../api/client";
import { common } from "../../text/common";
import { t } from "../../text/creative";
import { Button } from "../../ui/button";
import { Note } from "../../ui/feedback";
import { Select, TextField } from "../../ui/fields";
import { Actions, Dialog } from "../../ui/overlay";
import { say } from "../../ui/toast";
import { Choices } from "./choices";
import { type Channel, callOf, callOptions, channels, options, picture, upload, useKeep } from "./data";

interface Shot {
  asset: Schemas["Asset"];
  alt: string;
}

const blank = { kind: "image", name: "", headline: "", body: "", call: "none", landing: "" };

export function Upload({ isOpen, onOpenChange }: { isOpen: boolean; onOpenChange: (open: boolean) => void }) {
  return (
    <Dialog side title={t.addOwn} isOpen={isOpen} onOpenChange={onOpenChange}>
      {(close) => <Own close={close} />}
    </Dialog>
  );
}

function Own({ close }: { close: () => void }) {
  const [v, setV] = useState(blank);
  const [fits, setFits] = useState<string[]>([]);
  const [shots, setShots] = useState<Shot[]>([]);
  const keep = useKeep();
  const navigate = useNavigate();
  const set = (next: Partial<typeof blank>) => setV({ ...v, ...next });
  const pictures = v.kind === "image";
  const add = useMutation({
    meta: { quiet: true },
    mutationFn: async () => {
      const body: Schemas["CreativeCreate"] = {
        name: v.name,
        type: pictures && shots.length > 1 ? "carousel" : (v.kind as "image" | "text" | "email"),
        channels: fits as Channel[],
        content: {
          headline: v.headline || null,
          body: v.body || null,
          call_to_action: callOf(v.call),
          landing_url: v.landing.trim() || null,
          media: pictures ? shots.map((s) => ({ asset_id: s.asset.id, alt_text: s.alt || null })) : [],
        },
      };
      return (await take(v1.POST("/v1/creative", { body }))).data;
    },
    onSuccess: (c) => {
      keep(c);
      say(t.upload.added);
      navigate({ to: `/creative/${c.id}` });
    },
  });
  const f = add.error instanceof Refusal ? add.error.fields : {};
  return (
    <Form
      className="grid gap-5"
      onSubmit={(e) => {
        e.preventDefault();
        add.mutate();
      }}
    >
      {add.error && Object.keys(f).length === 0 ? <Note tone="bad">{add.error.message}</Note> : null}
      <Select
        label={t.type}
        value={v.kind}
        onChange={(kind) => set({ kind })}
        options={[
          { id: "image", label: t.upload.images },
          { id: "text", label: t.text },
          { id: "email", label: t.upload.email },
        ]}
      />
      {pictures ? <Shots shots={shots} set={setShots} error={f["content.media"]} /> : null}
      <TextField label={t.name} value={v.name} onChange={(name) => set({ name })} error={f.name} isRequired />
      <Choices label={t.channels} options={options(channels)} value={fits} onChange={setFits} error={f.channels} />
      <TextField
        label={v.kind === "email" ? t.upload.subject : t.headline}
        value={v.headline}
        onChange={(headline) => set({ headline })}
        error={f["content.headline"]}
      />
      <TextField
        label={t.text}
        rows={pictures ? 3 : 8}
        value={v.body}
        onChange={(body) => set({ body })}
        error={f["content.body"]}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <Select label={t.callToAction} value={v.call} onChange={(call) => set({ call })} options={callOptions} />
        <TextField
          label={t.landingPage}
          placeholder="https://"
          value={v.landing}
          onChange={(landing) => set({ landing })}
          error={f["content.landing_url"]}
        />
      </div>
      <Actions>
        <Button onPress={close}>{common.cancel}</Button>
        <Button type="submit" look="primary" busy={add.isPending} isDisabled={pictures && shots.length === 0}>
          {t.upload.add}
        </Button>
      </Actions>
    </Form>
  );
}

function Shots({ shots, set, error }: { shots: Shot[]; set: (s: Shot[]) => void; error?: string }) {
  const send = useMutation({
    meta: { quiet: true },
    mutationFn: (files: File[]) => Promise.all(files.map(upload)),
    onSuccess: (assets) => {
      const known = new Set(shots.map((s) => s.asset.id));
      set([...shots, ...assets.filter((a) => !known.has(a.id)).map((asset) => ({ asset, alt: "" }))].slice(0, 20));
    },
  });
  return (
    <div className="grid gap-3">
      <DropZone
        aria-label={t.upload.drop}
        onDrop={async (e) => {
          const files = e.items.filter((i): i is FileDropItem => i.kind === "file");
          send.mutate(await Promise.all(files.map((i) => i.getFile())));
        }}
        className="flex flex-col items-center gap-2 rounded-lg border border-dashed border-line-strong px-4 py-6 text-center outline-none data-[drop-target]:border-accent data-[drop-target]:bg-accent-soft data-[focus-visible]:ring-focus"
      >
        <ImagePlus className="size-5 text-faint" aria-hidden="true" />
        <FileTrigger
          acceptedFileTypes={["image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"]}
          allowsMultiple
          onSelect={(files) => files && send.mutate([...files])}
        >
          <Button size="sm" busy={send.isPending}>
            {t.upload.choose}
          </Button>
        </FileTrigger>
        <p className="text-xs text-muted">{t.upload.hint}</p>
      </DropZone>
      {send.error || error ? (
        <p role="alert" className="text-xs text-bad">
          {send.error?.message ?? error}
        </p>
      ) : null}
      {shots.map((s, i) => (
        <div key={s.asset.id} className="flex items-center gap-3">
          <span className="grid size-16 shrink-0 place-items-center overflow-hidden rounded-md border border-line bg-sunken">
            <img src={picture(s.asset)} alt="" className="max-h-full max-w-full" />
          </span>
          <div className="grow">
            <TextField
              label={t.upload.alt}
              hint={t.upload.altHint}
              value={s.alt}
              onChange={(alt) => set(shots.map((x) => (x === s ? { ...x, alt } : x)))}
            />
          </div>
          <Button
            icon
            look="quiet"
            aria-label={t.upload.remove(i + 1)}
            onPress={() => set(shots.filter((x) => x !== s))}
          >
            <X aria-hidden="true" />
          </Button>
        </div>
      ))}
    </div>
  );
}
