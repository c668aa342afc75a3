import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { FileTrigger, Form } from "react-aria-components";
import { Refusal, type Schemas, take, v1 } from "../../api/client";
import { useMay } from "../../lib/session";
import { Button } from "../../ui/button";
import { Failed, Skeleton } from "../../ui/feedback";
import { Select, TextField } from "../../ui/fields";
import { say } from "../../ui/toast";
import { picture, upload } from "../creative/data";

type Kit = Schemas["BrandKit"];
type Face = NonNullable<Kit["typefaces"]>["heading"];

const kitQuery = queryOptions({
  queryKey: ["brand-kit"],
  queryFn: async () => (await take(v1.GET("/v1/brand-kit"))).data,
});

const faces: { id: Face | "auto"; label: string }[] = [
  { id: "auto", label: "Chosen for each ad" },
  { id: "inter", label: "Inter" },
  { id: "dm_sans", label: "DM Sans" },
  { id: "barlow_condensed", label: "Barlow Condensed" },
  { id: "oswald", label: "Oswald" },
  { id: "fraunces", label: "Fraunces" },
  { id: "bodoni_moda", label: "Bodoni Moda" },
];

/** How ads look and sound, for everybody in the workspace. */
export function BrandKit() {
  const kit = useQuery(kitQuery);
  if (kit.error) return <Failed error={kit.error} retry={kit.refetch} />;
  return kit.data ? <KitForm key={kit.data.version} kit={kit.data} /> : <Skeleton className="h-40 w-full" />;
}

const list = (text: string) =>
  text
    .split(/[,\n]/)
    .map((s) => s.trim())
    .filter(Boolean);

function useSaveKit(kit: Kit) {
  const client = useQueryClient();
  return useMutation({
    meta: { quiet: true },
    mutationFn: async (body: Schemas["BrandKitInput"]) => {
      const header = { "If-Match": `"${kit.version}.0"` };
      return (await take(v1.PUT("/v1/brand-kit", { params: { header }, body }))).data;
    },
    onSuccess: (saved) => {
      client.setQueryData(kitQuery.queryKey, saved);
      say("Saved.");
    },
  });
}

function KitForm({ kit }: { kit: Kit }) {
  const may = useMay("admin");
  const save = useSaveKit(kit);
  const [name, setName] = useState(kit.name ?? "");
  const [voice, setVoice] = useState(kit.voice ?? "");
  const [colors, setColors] = useState(kit.colors.join(", "));
  const [banned, setBanned] = useState(kit.banned_words.join(", "));
  const [logo, setLogo] = useState(kit.logo_asset_id);
  const [heading, setHeading] = useState<Face | "auto">(kit.typefaces?.heading ?? "auto");
  const [text, setText] = useState<Face | "auto">(kit.typefaces?.text ?? "auto");
  const fields = save.error instanceof Refusal ? save.error.fields : {};
  const error = (field: string) => Object.entries(fields).find(([k]) => k.startsWith(field))?.[1];
  const send = () =>
    save.mutate({
      name: name.trim() || null,
      voice: voice.trim() || null,
      colors: list(colors),
      banned_words: list(banned),
      logo_asset_id: logo,
      // One typeface that is chosen is for all text.
      typefaces:
        heading === "auto" && text === "auto"
          ? null
          : {
              heading: heading === "auto" ? (text as Face) : heading,
              text: text === "auto" ? (heading as Face) : text,
            },
    });
  return (
    <Form
      className="grid gap-4"
      onSubmit={(e) => {
        e.preventDefault();
        send();
      }}
    >
      <TextField label="Brand name" value={name} onChange={setName} error={error("name")} isReadOnly={!may} />
      <TextField
        label="Voice"
        hint="How your ads sound, such as friendly and short."
        value={voice}
        onChange={setVoice}
        error={error("voice")}
        isReadOnly={!may}
      />
      <TextField
        label="Colors"
        hint="Main color first, such as #1b4332, #d8f3dc. Pictures use them exactly."
        value={colors}
        onChange={setColors}
        error={error("colors")}
        isReadOnly={!may}
      />
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <Select
          label="Typeface of headlines"
          options={faces}
          value={heading}
          onChange={(id) => setHeading(id as Face)}
          isDisabled={!may}
        />
        <Select
          label="Typeface of other text"
          options={faces}
          value={text}
          onChange={(id) => setText(id as Face)}
          isDisabled={!may}
        />
      </div>
      <TextField
        label="Banned words"
        hint="Separated by commas. They never appear in generated ads."
        value={banned}
        onChange={setBanned}
        error={error("banned_words")}
        isReadOnly={!may}
      />
      <Logo id={logo} onChange={setLogo} may={may} error={error("logo_asset_id")} />
      {save.error && Object.keys(fields).length === 0 ? (
        <p role="alert" className="text-sm text-bad">
          {save.error.message}
        </p>
      ) : null}
      {may ? (
        <div className="flex justify-end">
          <Button type="submit" look="primary" busy={save.isPending}>
            Save
          </Button>
        </div>
      ) : (
        <p className="text-xs text-muted">Admins and owners can change this.</p>
      )}
    </Form>
  );
}

function Logo(p: { id: string | null; onChange: (id: string | null) => void; may: boolean; error?: string }) {
  const send = useMutation({
    mutationFn: upload,
    onSuccess: (asset) => p.onChange(asset.id),
  });
  return (
    <div className="grid gap-2">
      <p className="text-sm font-medium text-ink">Logo</p>
      {p.id ? (
        <img
          src={picture({ url: `/v1/assets/${p.id}` })}
          alt="Logo"
          className="max-h-16 w-fit rounded border border-line"
        />
      ) : null}
      {p.may ? (
        <div className="flex gap-2">
          <FileTrigger
            acceptedFileTypes={["image/png", "image/jpeg", "image/webp", "image/gif"]}
            onSelect={(files) => files?.[0] && send.mutate(files[0])}
          >
            <Button busy={send.isPending}>Upload logo</Button>
          </FileTrigger>
          {p.id ? <Button onPress={() => p.onChange(null)}>Remove logo</Button> : null}
        </div>
      ) : null}
      {p.error ? <p className="text-xs text-bad">{p.error}</p> : null}
    </div>
  );
}
