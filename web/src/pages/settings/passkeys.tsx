import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { Form } from "react-aria-components";
import { own } from "../../api/client";
import type { Ceremony, Passkey } from "../../api/console";
import { ago, day } from "../../lib/format";
import { useSession } from "../../lib/session";
import { common } from "../../text/common";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { Card } from "../../ui/display";
import { Failed, Note, SkeletonRows } from "../../ui/feedback";
import { TextField } from "../../ui/fields";
import { Actions, Confirm, Dialog } from "../../ui/overlay";
import { say } from "../../ui/toast";
import { hasPasskeys, makePasskey } from "../signin/passkey";
import { device } from "./device";
import { useProof } from "./prove";

export function PasskeysCard() {
  const { ways } = useSession();
  const [adding, setAdding] = useState(false);
  const list = useQuery({ queryKey: ["passkeys"], queryFn: () => own<Passkey[]>("GET", "/passkeys") });
  const can = hasPasskeys && ways.passkey;
  return (
    <Card
      title={t.passkeys.title}
      sub={t.passkeys.sub}
      flush
      action={
        can ? (
          <Button onPress={() => setAdding(true)}>
            <Plus aria-hidden="true" />
            {t.passkeys.add}
          </Button>
        ) : null
      }
    >
      {list.isPending ? (
        <SkeletonRows rows={1} />
      ) : list.error ? (
        <Failed error={list.error} retry={list.refetch} />
      ) : list.data.length > 0 ? (
        <ul className="divide-y divide-line border-t border-line">
          {list.data.map((p) => (
            <Row key={p.id} passkey={p} />
          ))}
        </ul>
      ) : (
        <p className="px-4 pb-4 text-sm text-muted">
          {can ? t.passkeys.empty : ways.passkey ? t.passkeys.unsupported : t.passkeys.needsName}
        </p>
      )}
      <AddPasskey isOpen={adding} close={() => setAdding(false)} />
    </Card>
  );
}

function Row({ passkey: p }: { passkey: Passkey }) {
  const client = useQueryClient();
  const { proved, dialog } = useProof();
  const [going, setGoing] = useState(false);
  return (
    <li className="flex items-center gap-3 px-4 py-2.5 text-sm">
      <KeyRound className="size-4 shrink-0 text-faint" aria-hidden="true" />
      <span className="min-w-0 grow">
        <span className="block truncate font-medium">{p.name}</span>
        <span className="block text-xs text-muted">
          {p.last_used_at
            ? t.passkeys.used(day(p.created_at), ago(p.last_used_at))
            : t.passkeys.unused(day(p.created_at))}
        </span>
      </span>
      <Button size="sm" look="quiet" aria-label={t.removeTitle(p.name)} onPress={() => setGoing(true)}>
        {t.remove}
      </Button>
      <Confirm
        title={t.removeTitle(p.name)}
        action={t.remove}
        danger
        isOpen={going}
        onOpenChange={setGoing}
        confirm={async () => {
          await proved(() => own("DELETE", `/passkeys/${p.id}`));
          await client.invalidateQueries({ queryKey: ["passkeys"] });
          client.invalidateQueries({ queryKey: ["session"] });
        }}
      >
        {t.passkeys.removeHint}
      </Confirm>
      {dialog}
    </li>
  );
}

function AddPasskey({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const client = useQueryClient();
  const { proved, dialog } = useProof();
  const [name, setName] = useState(() => device(navigator.userAgent));
  const add = useMutation({
    meta: { quiet: true },
    mutationFn: async () => {
      const ceremony = await proved(() => own<Ceremony>("POST", "/passkeys/begin"));
      const response = await makePasskey(ceremony);
      await own("POST", "/passkeys", { ticket: ceremony.ticket, name: name.trim(), response });
    },
    onSuccess: () => {
      say(t.passkeys.added);
      end();
      client.invalidateQueries({ queryKey: ["passkeys"] });
      client.invalidateQueries({ queryKey: ["session"] });
    },
  });
  const end = () => {
    add.reset();
    close();
  };
  return (
    <>
      <Dialog title={t.passkeys.add} isOpen={isOpen} onOpenChange={end}>
        <Form
          className="grid gap-4"
          onSubmit={(e) => {
            e.preventDefault();
            add.mutate();
          }}
        >
          <p className="text-sm text-muted">{t.passkeys.addHint}</p>
          {add.error ? <Note tone="bad">{add.error.message}</Note> : null}
          <TextField
            label={common.name}
            hint={t.passkeys.nameHint}
            autoFocus
            maxLength={100}
            value={name}
            onChange={setName}
          />
          <Actions>
            <Button onPress={end}>{common.cancel}</Button>
            <Button type="submit" look="primary" busy={add.isPending} isDisabled={!name.trim()}>
              {t.passkeys.continue}
            </Button>
          </Actions>
        </Form>
      </Dialog>
      {dialog}
    </>
  );
}
