import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { own, Refusal } from "../../api/client";
import { useSession } from "../../lib/session";
import { common } from "../../text/common";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { Code } from "../../ui/copy";
import { Badge, Card } from "../../ui/display";
import { Note } from "../../ui/feedback";
import { TextField } from "../../ui/fields";
import { Actions, Confirm, Dialog } from "../../ui/overlay";
import { useProof } from "./prove";
import { Qr } from "./qr";

interface Seed {
  secret: string;
  uri: string;
}

/** A second step at sign-in by password: a code of an app. */
export function TwoFactorCard() {
  const { user } = useSession();
  const client = useQueryClient();
  const { proved, dialog } = useProof();
  const [seed, setSeed] = useState<Seed | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  const [off, setOff] = useState(false);
  const refresh = () => client.invalidateQueries({ queryKey: ["session"] });
  const begin = useMutation({
    mutationFn: () => proved(() => own<Seed>("POST", "/totp/begin")),
    onSuccess: setSeed,
  });
  return (
    <Card
      title={
        <span className="flex items-center gap-2">
          {t.twoFactor.title}{" "}
          {user.totp ? <Badge tone="good">{t.twoFactor.on}</Badge> : <Badge>{t.twoFactor.off}</Badge>}
        </span>
      }
      sub={t.twoFactor.sub}
      flush
      action={
        user.totp ? (
          <Button onPress={() => setOff(true)}>{t.twoFactor.turnOff}</Button>
        ) : (
          <Button busy={begin.isPending} onPress={() => begin.mutate()}>
            {t.twoFactor.turnOn}
          </Button>
        )
      }
    >
      <div className="h-1" />
      <Dialog title={t.twoFactor.onTitle} isOpen={!!seed} onOpenChange={() => setSeed(null)}>
        {seed ? (
          <Enrol
            seed={seed}
            proved={proved}
            cancel={() => setSeed(null)}
            done={(recovery) => {
              setSeed(null);
              setCodes(recovery);
              refresh();
            }}
          />
        ) : null}
      </Dialog>
      <Recovery codes={codes} close={() => setCodes(null)} />
      <Confirm
        title={t.twoFactor.offTitle}
        action={t.twoFactor.turnOff}
        danger
        isOpen={off}
        onOpenChange={setOff}
        confirm={async () => {
          await proved(() => own("DELETE", "/totp"));
          await refresh();
        }}
      >
        {t.twoFactor.offHint}
      </Confirm>
      {dialog}
    </Card>
  );
}

function Enrol(p: {
  seed: Seed;
  proved: <T>(action: () => Promise<T>) => Promise<T>;
  cancel: () => void;
  done: (recovery: string[]) => void;
}) {
  const [code, setCode] = useState("");
  const confirm = useMutation({
    meta: { quiet: true },
    mutationFn: () => p.proved(() => own<{ recovery_codes: string[] }>("POST", "/totp", { code })),
    onSuccess: (r) => p.done(r.recovery_codes),
  });
  const f = confirm.error instanceof Refusal ? confirm.error.fields : {};
  return (
    <Form
      className="grid gap-4"
      onSubmit={(e) => {
        e.preventDefault();
        confirm.mutate();
      }}
    >
      <div className="grid gap-4 sm:grid-cols-[auto_1fr]">
        <Qr text={p.seed.uri} label={t.twoFactor.qr} />
        <div className="grid content-start gap-2 text-sm">
          <p>{t.twoFactor.scan}</p>
          <p className="text-muted">{t.twoFactor.manual}</p>
          <code className="rounded-md border border-line bg-sunken px-2.5 py-1.5 font-mono text-xs break-all select-all">
            {p.seed.secret}
          </code>
        </div>
      </div>
      {confirm.error && Object.keys(f).length === 0 ? <Note tone="bad">{confirm.error.message}</Note> : null}
      <TextField
        label={t.twoFactor.code}
        mono
        autoFocus
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={7}
        value={code}
        onChange={setCode}
        error={f.code}
      />
      <Actions>
        <Button onPress={p.cancel}>{common.cancel}</Button>
        <Button type="submit" look="primary" busy={confirm.isPending} isDisabled={!code}>
          {t.twoFactor.turnOn}
        </Button>
      </Actions>
    </Form>
  );
}

function Recovery({ codes, close }: { codes: string[] | null; close: () => void }) {
  return (
    <Dialog title={t.twoFactor.keepTitle} firm isOpen={!!codes} onOpenChange={close}>
      <div className="grid gap-4">
        <Note tone="warn">{t.twoFactor.keep}</Note>
        <Code text={(codes ?? []).join("\n")} label={t.twoFactor.codes} />
        <Actions>
          <Button look="primary" onPress={close}>
            {t.twoFactor.done}
          </Button>
        </Actions>
      </div>
    </Dialog>
  );
}
