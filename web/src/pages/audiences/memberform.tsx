// People of a customer list, pasted or from a file. They are hashed before they
// are sent.

import { ShieldCheck, Upload } from "lucide-react";
import { useMemo, useState } from "react";
import { FileTrigger, Label, ProgressBar } from "react-aria-components";
import { count } from "../../lib/format";
import { t } from "../../text/audiences";
import { Button } from "../../ui/button";
import { TextField } from "../../ui/fields";
import { type Read, readMembers } from "./members";

export function MemberFields({ text, setText, read }: { text: string; setText: (text: string) => void; read: Read }) {
  return (
    <div className="grid gap-2">
      <p className="flex items-start gap-2 rounded-lg bg-good-soft px-3 py-2.5 text-sm text-good">
        <ShieldCheck className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
        <span>{t.members.privacy}</span>
      </p>
      <TextField label={t.members.field} hint={t.members.fieldHint} rows={7} mono value={text} onChange={setText} />
      <div className="flex flex-wrap items-center gap-3">
        <FileTrigger
          acceptedFileTypes={[".csv", ".txt", "text/csv", "text/plain"]}
          onSelect={async (files) => {
            const file = files?.[0];
            if (file) setText(await file.text());
          }}
        >
          <Button size="sm">
            <Upload aria-hidden="true" />
            {t.members.chooseFile}
          </Button>
        </FileTrigger>
        <p className="text-xs text-muted" aria-live="polite">
          {text.trim() ? told(read) : null}
        </p>
      </div>
    </div>
  );
}

function told(r: Read): string {
  const parts = [
    r.plain.length > 0 ? t.members.toHash(count(r.plain.length)) : "",
    r.hashes.length > 0 ? t.members.hashed(count(r.hashes.length)) : "",
    r.skipped > 0 ? t.members.skipped(r.skipped) : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

/** The text of the field and the members in it. */
export function useMembers() {
  const [text, setText] = useState("");
  const read = useMemo(() => readMembers(text), [text]);
  return { text, setText, read, total: read.plain.length + read.hashes.length };
}

export function Sending({ share }: { share: number }) {
  return (
    <ProgressBar value={share * 100} className="grid gap-1.5">
      {({ percentage, valueText }) => (
        <>
          <div className="flex justify-between text-sm">
            <Label>{share < 0.3 ? t.members.hashing : t.members.sending}</Label>
            <span className="num text-muted">{valueText}</span>
          </div>
          <div className="h-1.5 overflow-hidden rounded-full bg-sunken">
            <div className="h-full rounded-full bg-accent transition-[width]" style={{ width: `${percentage}%` }} />
          </div>
        </>
      )}
    </ProgressBar>
  );
}
