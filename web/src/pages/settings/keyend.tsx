// How keys end: replaced by another, or for good.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { own } from "../../api/client";
import type { Key, MadeKey } from "../../api/console";
import { common } from "../../text/common";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { Note } from "../../ui/feedback";
import { RadioGroup, TextField } from "../../ui/fields";
import { Actions, Dialog } from "../../ui/overlay";
import { say } from "../../ui/toast";
import { Secret } from "./newkey";
import { useProof } from "./prove";

interface Props {
  target: Key | null;
  close: () => void;
}

const overlaps = [
  { id: "0", label: t.rotate.now, hint: t.rotate.nowHint },
  { id: "3600", label: t.rotate.hour },
  { id: "86400", label: t.rotate.day, hint: t.rotate.dayHint },
  { id: "604800", label: t.rotate.week },
];

/** Makes a key that takes the place of another, and shows its secret once. */
export function RotateKey({ target, close }: Props) {
  const client = useQueryClient();
  const { proved, dialog } = useProof();
  const [made, setMade] = useState<MadeKey | null>(null);
  const [overlap, setOverlap] = useState("");
  const chosen = overlap || (target?.exposed ? "0" : "86400");
  const rotate = useMutation({
    meta: { quiet: true },
    mutationFn: (id: string) =>
      proved(() => own<MadeKey>("POST", `/keys/${id}/rotate`, { overlap_seconds: Number(chosen) })),
    onSuccess: (m) => {
      setMade(m);
      end();
      client.invalidateQueries({ queryKey: ["keys"] });
    },
  });
  const end = () => {
    rotate.reset();
    setOverlap("");
    close();
  };
  return (
    <>
      <Dialog title={t.rotate.title(target?.name ?? "")} isOpen={!!target} onOpenChange={end}>
        <div className="grid gap-4">
          <p className="text-sm text-muted">{t.rotate.hint}</p>
          {rotate.error ? <Note tone="bad">{rotate.error.message}</Note> : null}
          <RadioGroup label={t.rotate.ends} value={chosen} onChange={setOverlap} options={overlaps} />
          <Actions>
            <Button onPress={end}>{common.cancel}</Button>
            <Button look="primary" busy={rotate.isPending} onPress={() => target && rotate.mutate(target.id)}>
              {t.rotate.action}
            </Button>
          </Actions>
        </div>
      </Dialog>
      {dialog}
      <Secret made={made} close={() => setMade(null)} />
    </>
  );
}

/** Ends a key at once. Its name has to be typed, because whatever uses it stops. */
export function RevokeKey({ target, close }: Props) {
  const client = useQueryClient();
  const { proved, dialog } = useProof();
  const [typed, setTyped] = useState("");
  const revoke = useMutation({
    meta: { quiet: true },
    mutationFn: (key: Key) => proved(() => own("DELETE", `/keys/${key.id}`)),
    onSuccess: (_, key) => {
      say(t.revoke.done(key.name));
      end();
      client.invalidateQueries({ queryKey: ["keys"] });
    },
  });
  const end = () => {
    revoke.reset();
    setTyped("");
    close();
  };
  return (
    <>
      <Dialog title={t.revoke.title(target?.name ?? "")} isOpen={!!target} onOpenChange={end}>
        <Form
          className="grid gap-4"
          onSubmit={(e) => {
            e.preventDefault();
            if (target && typed === target.name) revoke.mutate(target);
          }}
        >
          <p className="text-sm text-muted">{t.revoke.hint}</p>
          {revoke.error ? <Note tone="bad">{revoke.error.message}</Note> : null}
          <TextField
            label={t.revoke.confirm(target?.name ?? "")}
            autoFocus
            autoComplete="off"
            value={typed}
            onChange={setTyped}
          />
          <Actions>
            <Button onPress={end}>{common.cancel}</Button>
            <Button type="submit" look="danger" isDisabled={typed !== target?.name} busy={revoke.isPending}>
              {t.revoke.action}
            </Button>
          </Actions>
        </Form>
      </Dialog>
      {dialog}
    </>
  );
}
