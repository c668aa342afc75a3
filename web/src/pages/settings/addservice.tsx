import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { own, Refusal } from "../../api/client";
import type { Member } from "../../api/console";
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
      say(`${m.name} is added. Make its key under API keys.`);
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
    <Dialog title="Add a service user" isOpen={isOpen} onOpenChange={end}>
      <Form
        className="grid gap-4"
        onSubmit={(e) => {
          e.preventDefault();
          add.mutate();
        }}
      >
        <p className="text-sm text-muted">
          A program with a place of its own. It cannot sign in, and its keys go on working when people leave.
        </p>
        {add.error && Object.keys(f).length === 0 ? <Note tone="bad">{add.error.message}</Note> : null}
        <TextField
          label="Name"
          hint="Such as “Nightly export”."
          autoFocus
          isRequired
          autoComplete="off"
          value={name}
          onChange={setName}
          error={f.name}
        />
        <RadioGroup label="Role" value={role} onChange={setRole} options={options} error={f.role} />
        <Actions>
          <Button onPress={end}>Cancel</Button>
          <Button type="submit" look="primary" busy={add.isPending}>
            Add service user
          </Button>
        </Actions>
      </Form>
    </Dialog>
  );
}
