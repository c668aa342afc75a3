import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { own, Refusal } from "../../api/client";
import type { Member } from "../../api/console";
import { common } from "../../text/common";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { Note } from "../../ui/feedback";
import { RadioGroup, TextField } from "../../ui/fields";
import { Actions, Dialog } from "../../ui/overlay";
import { say } from "../../ui/toast";
import { useRoleOptions } from "./roles";

/** Adds a user that is a program: its keys stay when people leave. */
export function AddService({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [role, setRole] = useState("viewer");
  const options = useRoleOptions();
  const add = useMutation({
    meta: { quiet: true },
    mutationFn: () => own<Member>("POST", "/members/service", { name: name.trim(), role }),
    onSuccess: (m) => {
      say(t.service.added(m.name));
      end();
      client.invalidateQueries({ queryKey: ["members"] });
    },
  });
  const end = () => {
    setName("");
    add.reset();
    close();
  };
  const f = add.error instanceof Refusal ? add.error.fields : {};
  return (
    <Dialog title={t.members.addService} isOpen={isOpen} onOpenChange={end}>
      <Form
        className="grid gap-4"
        onSubmit={(e) => {
          e.preventDefault();
          add.mutate();
        }}
      >
        <p className="text-sm text-muted">{t.service.hint}</p>
        {add.error && Object.keys(f).length === 0 ? <Note tone="bad">{add.error.message}</Note> : null}
        <TextField
          label={common.name}
          hint={t.service.nameHint}
          autoFocus
          isRequired
          autoComplete="off"
          value={name}
          onChange={setName}
          error={f.name}
        />
        <RadioGroup label={t.role} value={role} onChange={setRole} options={options} error={f.role} />
        <Actions>
          <Button onPress={end}>{common.cancel}</Button>
          <Button type="submit" look="primary" busy={add.isPending}>
            {t.members.addService}
          </Button>
        </Actions>
      </Form>
    </Dialog>
  );
}
