// Importing a file: choose it, check how it is read, store it. The import stands
// on the server from the first step on, so one can come back to it.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { FileUp } from "lucide-react";
import { useState } from "react";
import { DropZone, FileTrigger, Text } from "react-aria-components";
import { type Refusal, take, v1 } from "../../api/client";
import { t } from "../../text/connections";
import { Button } from "../../ui/button";
import { Failed, Note, SkeletonRows } from "../../ui/feedback";
import { RadioGroup, TextField } from "../../ui/fields";
import { Actions, Dialog } from "../../ui/overlay";
import { saveAs } from "../analytics/download";
import { CheckImport } from "./importcheck";
import { ImportDone } from "./importdone";

export function ImportDialog({
  id,
  isOpen,
  onChange,
}: {
  /** The import that is open; "1" for a new one. */
  id: string;
  isOpen: boolean;
  onChange: (id: string) => void;
}) {
  const known = id.startsWith("imp_");
  const loaded = useQuery({
    queryKey: ["imports", "one", id],
    queryFn: async () => (await take(v1.GET("/v1/imports/{id}", { params: { path: { id } } }))).data,
    enabled: isOpen && known,
  });
  const step = !known ? 0 : loaded.data && !["ready", "needs_mapping"].includes(loaded.data.status) ? 2 : 1;
  return (
    <Dialog title={t.importFile} side isOpen={isOpen} onOpenChange={(open) => onChange(open ? "1" : "")}>
      {(close) => (
        <>
          <Steps at={step} />
          {!known ? (
            <ChooseFile onUploaded={onChange} />
          ) : loaded.error ? (
            <Failed error={loaded.error} retry={() => loaded.refetch()} />
          ) : !loaded.data ? (
            <SkeletonRows />
          ) : step === 1 ? (
            <CheckImport key={id} value={loaded.data} close={close} />
          ) : (
            <ImportDone value={loaded.data} close={close} again={() => onChange("1")} />
          )}
        </>
      )}
    </Dialog>
  );
}

function Steps({ at }: { at: number }) {
  return (
    <ol className="mb-5 flex gap-4 text-sm">
      {t.upload.steps.map((name, i) => (
        <li
          key={name}
          aria-current={i === at ? "step" : undefined}
          className={`flex items-center gap-1.5 ${i === at ? "font-medium text-ink" : "text-muted"}`}
        >
          <span
            className={`num grid size-5 place-items-center rounded-full text-2xs font-semibold ${i === at ? "bg-accent text-accent-ink" : "bg-sunken text-muted"}`}
          >
            {i + 1}
          </span>
          {name}
        </li>
      ))}
    </ol>
  );
}

const types: Record<string, string> = {
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  parquet: "application/vnd.apache.parquet",
};

function ChooseFile({ onUploaded }: { onUploaded: (id: string) => void }) {
  const client = useQueryClient();
  const [file, setFile] = useState<File | null>(null);
  const [source, setSource] = useState("");
  const [mode, setMode] = useState<"upsert" | "replace">("upsert");
  const upload = useMutation({
    meta: { quiet: true },
    mutationFn: async (f: File) => {
      const type = types[f.name.split(".").at(-1)?.toLowerCase() ?? ""] ?? "application/octet-stream";
      const query = { filename: f.name.slice(-200), mode, ...(source.trim() ? { source: source.trim() } : {}) };
      const request = {
        params: { query },
        body: f as never,
        bodySerializer: () => f,
        headers: { "Content-Type": type },
      };
      return (await take(v1.POST("/v1/imports", request as never))) as { data: { id: string } };
    },
    onSuccess: ({ data }) => {
      client.invalidateQueries({ queryKey: ["imports"] });
      onUploaded(data.id);
    },
  });
  const template = useMutation({
    mutationFn: async () =>
      saveAs(
        (await take(v1.GET("/v1/imports/template", { parseAs: "blob" }))) as unknown as Blob,
        "fanfare-import.csv",
      ),
  });
  return (
    <div className="grid gap-4">
      <p className="text-sm text-muted">{t.upload.hint}</p>
      <DropZone
        className="flex flex-col items-center gap-2 rounded-lg border border-dashed border-line-strong px-4 py-8 text-center outline-none data-[drop-target]:border-accent data-[drop-target]:bg-accent-soft data-[focus-visible]:ring-focus"
        onDrop={async (e) => {
          const dropped = e.items.find((i) => i.kind === "file");
          if (dropped?.kind === "file") setFile(await dropped.getFile());
        }}
      >
        <FileUp className="size-5 text-faint" aria-hidden="true" />
        <Text slot="label" className="text-sm">
          {file ? file.name : t.upload.drop}
        </Text>
        <FileTrigger
          acceptedFileTypes={[".csv", ".tsv", ".txt", ".parquet"]}
          onSelect={(list) => setFile(list?.[0] ?? null)}
        >
          <Button size="sm">{file ? t.upload.chooseOther : t.upload.choose}</Button>
        </FileTrigger>
      </DropZone>
      <TextField
        label={t.source}
        hint={t.upload.sourceHint}
        placeholder={t.own.exampleSource}
        value={source}
        onChange={setSource}
        maxLength={200}
      />
      <RadioGroup
        label={t.upload.existing}
        value={mode}
        onChange={(v) => setMode(v as typeof mode)}
        options={[
          { id: "upsert", label: t.upload.upsert, hint: t.upload.upsertHint },
          {
            id: "replace",
            label: t.upload.replace,
            hint: t.upload.replaceHint,
          },
        ]}
      />
      {upload.error ? <UploadFault error={upload.error as Refusal} /> : null}
      <Actions>
        <Button look="quiet" busy={template.isPending} onPress={() => template.mutate()}>
          {t.upload.template}
        </Button>
        <Button look="primary" isDisabled={!file} busy={upload.isPending} onPress={() => file && upload.mutate(file)}>
          {t.upload.submit}
        </Button>
      </Actions>
    </div>
  );
}

function UploadFault({ error }: { error: Refusal }) {
  return (
    <Note tone="bad" title={error.message}>
      {error.details.length > 0 ? error.details.map((d) => d.message).join(" ") : null}
    </Note>
  );
}
