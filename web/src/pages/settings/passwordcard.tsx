import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { own, Refusal } from "../../api/client";
import { useSession } from "../../lib/session";
import { common } from "../../text/common";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { Card } from "../../ui/display";
import { Note } from "../../ui/feedback";
import { Actions, Dialog } from "../../ui/overlay";
import { say } from "../../ui/toast";
import { NewPasswordField, PasswordField } from "../signin/password";
import { useProof } from "./prove";

export function PasswordCard() {
  const { user } = useSession();
  const [open, setOpen] = useState(false);
  return (
    <Card
      title={common.password}
      sub={user.password ? t.password.isSet : t.password.notSet}
      action={<Button onPress={() => setOpen(true)}>{user.password ? t.password.change : t.password.set}</Button>}
      flush
    >
      <div className="h-1" />
      <ChangePassword isOpen={open} close={() => setOpen(false)} />
    </Card>
  );
}

function ChangePassword({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const { user } = useSession();
  const client = useQueryClient();
  const { proved, dialog } = useProof();
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const end = () => {
    setCurrent("");
    setNext("");
    change.reset();
    close();
  };
  const change = useMutation({
    meta: { quiet: true },
    mutationFn: () => proved(() => own("POST", "/password", user.password ? { current, next } : { next })),
    onSuccess: () => {
      say(t.password.done);
      end();
      client.invalidateQueries({ queryKey: ["session"] });
      client.invalidateQueries({ queryKey: ["sessions"] });
    },
  });
  const f = change.error instanceof Refusal ? change.error.fields : {};
  return (
    <>
      <Dialog title={user.password ? t.password.change : t.password.set} isOpen={isOpen} onOpenChange={end}>
        <Form
          className="grid gap-4"
          onSubmit={(e) => {
            e.preventDefault();
            change.mutate();
          }}
        >
          {change.error && Object.keys(f).length === 0 ? <Note tone="bad">{change.error.message}</Note> : null}
          <input hidden autoComplete="username" value={user.email} readOnly />
          {user.password ? (
            <PasswordField
              label={t.password.current}
              autoFocus
              value={current}
              onChange={setCurrent}
              error={f.current}
            />
          ) : null}
          <NewPasswordField
            label={t.password.next}
            autoFocus={!user.password}
            value={next}
            onChange={setNext}
            error={f.next ?? f.password}
          />
          <Actions>
            <Button onPress={end}>{common.cancel}</Button>
            <Button type="submit" look="primary" busy={change.isPending} isDisabled={!next}>
              {common.save}
            </Button>
          </Actions>
        </Form>
      </Dialog>
      {dialog}
    </>
  );
}
