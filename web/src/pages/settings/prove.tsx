// Some changes want a fresh proof of who asks. The server says so; then one
// proves it here and the change is made after all.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Form } from "react-aria-components";
import { own, Refusal } from "../../api/client";
import type { Ceremony } from "../../api/console";
import { useSession } from "../../lib/session";
import { common } from "../../text/common";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { Note } from "../../ui/feedback";
import { TextField } from "../../ui/fields";
import { Actions, Dialog } from "../../ui/overlay";
import { hasPasskeys, signWith } from "../signin/passkey";
import { PasswordField } from "../signin/password";

interface Waiting {
  again: () => void;
  giveUp: () => void;
}

/**
 * Gives a way to run actions that may want a proof, and the dialog that asks
 * for it. Whoever closes the dialog gets the server's refusal.
 */
export function useProof(): { proved: <T>(action: () => Promise<T>) => Promise<T>; dialog: ReactNode } {
  const [waiting, setWaiting] = useState<Waiting | null>(null);
  const proved = async <T,>(action: () => Promise<T>): Promise<T> => {
    try {
      return await action();
    } catch (refused) {
      if (!(refused instanceof Refusal && refused.says("proof_required"))) throw refused;
      return new Promise<T>((resolve, reject) => {
        setWaiting({ again: () => action().then(resolve, reject), giveUp: () => reject(refused) });
      });
    }
  };
  const end = (then: (w: Waiting) => void) => {
    if (waiting) then(waiting);
    setWaiting(null);
  };
  const dialog = (
    <Dialog title={t.prove.title} isOpen={!!waiting} onOpenChange={() => end((w) => w.giveUp())}>
      <Prove done={() => end((w) => w.again())} cancel={() => end((w) => w.giveUp())} />
    </Dialog>
  );
  return { proved, dialog };
}

function Prove({ done, cancel }: { done: () => void; cancel: () => void }) {
  const { user, ways } = useSession();
  const client = useQueryClient();
  const prove = useMutation({
    meta: { quiet: true },
    mutationFn: (how: () => Promise<unknown>) => how(),
    onSuccess: () => {
      client.invalidateQueries({ queryKey: ["session"] });
      done();
    },
  });
  const passkey = user.passkeys > 0 && hasPasskeys;
  if (!passkey && !user.password && !user.totp) {
    return (
      <>
        <p className="text-sm text-muted">{ways.oidc ? t.prove.sso : t.prove.noWay}</p>
        <Actions>
          <Button onPress={cancel}>{common.cancel}</Button>
          {ways.oidc ? (
            <Button look="primary" onPress={() => location.assign("/console/api/oidc/start")}>
              {t.prove.again}
            </Button>
          ) : null}
        </Actions>
      </>
    );
  }
  return (
    <div className="grid gap-4">
      <p className="text-sm text-muted">{t.prove.valid}</p>
      {prove.error ? <Note tone="bad">{prove.error.message}</Note> : null}
      {passkey ? (
        <Button look="primary" busy={prove.isPending} onPress={() => prove.mutate(byPasskey)}>
          <KeyRound aria-hidden="true" />
          {t.prove.passkey}
        </Button>
      ) : null}
      {user.password || user.totp ? (
        <ByHand
          password={user.password}
          totp={user.totp}
          first={!passkey}
          busy={prove.isPending}
          send={(proof) => prove.mutate(() => own("POST", "/session/prove", proof))}
          cancel={cancel}
        />
      ) : null}
    </div>
  );
}

async function byPasskey() {
  const ceremony = await own<Ceremony>("POST", "/session/prove/passkey/begin");
  const response = await signWith(ceremony);
  await own("POST", "/session/prove/passkey", { ticket: ceremony.ticket, response });
}

function ByHand(p: {
  password: boolean;
  totp: boolean;
  first: boolean;
  busy: boolean;
  send: (proof: { password: string } | { code: string }) => void;
  cancel: () => void;
}) {
  const [byCode, setByCode] = useState(!p.password);
  const [value, setValue] = useState("");
  return (
    <Form
      className="grid gap-4"
      onSubmit={(e) => {
        e.preventDefault();
        p.send(byCode ? { code: value } : { password: value });
      }}
    >
      {byCode ? (
        <TextField
          label={t.prove.code}
          hint={t.prove.codeHint}
          mono
          autoFocus={p.first}
          autoComplete="one-time-code"
          value={value}
          onChange={setValue}
        />
      ) : (
        <PasswordField label={common.password} autoFocus={p.first} value={value} onChange={setValue} />
      )}
      <Actions>
        {p.password && p.totp ? (
          <Button
            look="quiet"
            className="mr-auto -ml-3"
            onPress={() => {
              setByCode(!byCode);
              setValue("");
            }}
          >
            {byCode ? t.prove.usePassword : t.prove.useCode}
          </Button>
        ) : null}
        <Button onPress={p.cancel}>{common.cancel}</Button>
        <Button type="submit" look={p.first ? "primary" : "plain"} busy={p.busy} isDisabled={!value}>
          {t.prove.confirm}
        </Button>
      </Actions>
    </Form>
  );
}
