import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { own, Refusal } from "../../api/client";
import type { Sent } from "../../api/console";
import { useSession } from "../../lib/session";
import { common } from "../../text/common";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { Note } from "../../ui/feedback";
import { RadioGroup, TextField } from "../../ui/fields";
import { Actions, Dialog } from "../../ui/overlay";
import { say } from "../../ui/toast";
import { useRoleOptions } from "./roles";
import { SentLink } from "./sentlink";

/** Invites somebody by e-mail, or makes a link to pass on. */
export function Invite({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const { mail } = useSession();
  const client = useQueryClient();
  const [email, setEmail] = useState("");
  const [role, setRole] = useState("editor");
  const [sent, setSent] = useState<Sent | null>(null);
  const options = useRoleOptions();
  const invite = useMutation({
    meta: { quiet: true },
    mutationFn: () => own<Sent>("POST", "/members", { email: email.trim(), role }),
    onSuccess: (s) => {
      if (s.link) setSent(s);
      else say(t.invite.sent(email));
      end();
      client.invalidateQueries({ queryKey: ["members"] });
    },
  });
  const end = () => {
    setEmail("");
    invite.reset();
    close();
  };
  const f = invite.error instanceof Refusal ? invite.error.fields : {};
  return (
    <>
      <Dialog title={t.members.invite} isOpen={isOpen} onOpenChange={end}>
        <Form
          className="grid gap-4"
          onSubmit={(e) => {
            e.preventDefault();
            invite.mutate();
          }}
        >
          {invite.error && Object.keys(f).length === 0 ? <Note tone="bad">{invite.error.message}</Note> : null}
          <TextField
            label={common.email}
            type="email"
            autoFocus
            isRequired
            autoComplete="off"
            hint={mail ? t.invite.hint : t.invite.hintLink}
            value={email}
            onChange={setEmail}
            error={f.email}
          />
          <RadioGroup label={t.role} value={role} onChange={setRole} options={options} error={f.role} />
          <Actions>
            <Button onPress={end}>{common.cancel}</Button>
            <Button type="submit" look="primary" busy={invite.isPending}>
              {mail ? t.invite.send : t.invite.createLink}
            </Button>
          </Actions>
        </Form>
      </Dialog>
      <SentLink title={t.invite.linkTitle} sent={sent} close={() => setSent(null)}>
        {t.invite.linkHint}
      </SentLink>
    </>
  );
}
