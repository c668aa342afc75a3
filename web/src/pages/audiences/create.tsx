import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Form } from "react-aria-components";
import { Refusal, type Schemas } from "../../api/client";
import { t } from "../../text/audiences";
import { common } from "../../text/common";
import { Button } from "../../ui/button";
import { Note } from "../../ui/feedback";
import { RadioGroup, TextField } from "../../ui/fields";
import { Actions, Dialog } from "../../ui/overlay";
import { say } from "../../ui/toast";
import { LookalikeBuilder, noLookalike, noTargeting, TargetingBuilder } from "./builder";
import { useCreate } from "./data";
import { MemberFields, Sending, useMembers } from "./memberform";
import { sendMembers } from "./members";

type Kind = "targeting" | "customer_list" | "lookalike";

const kinds = [
  { id: "targeting", label: t.types.targeting, hint: t.kinds.targeting },
  { id: "customer_list", label: t.types.customer_list, hint: t.kinds.customer_list },
  { id: "lookalike", label: t.types.lookalike, hint: t.kinds.lookalike },
];

export function Create({ isOpen, onOpenChange }: { isOpen: boolean; onOpenChange: (open: boolean) => void }) {
  return (
    <Dialog side title={t.newAudience} isOpen={isOpen} onOpenChange={onOpenChange}>
      {(close) => <CreateForm close={close} />}
    </Dialog>
  );
}

function CreateForm({ close }: { close: () => void }) {
  const [kind, setKind] = useState<Kind>("targeting");
  const [name, setName] = useState("");
  const [targeting, setTargeting] = useState(noTargeting);
  const [lookalike, setLookalike] = useState(noLookalike);
  const members = useMembers();
  const [share, setShare] = useState<number | null>(null);
  const create = useCreate();
  const navigate = useNavigate();
  const client = useQueryClient();

  const save = async () => {
    const body: Record<Kind, Schemas["AudienceCreate"]> = {
      targeting: { name, type: "targeting", definition: targeting },
      customer_list: { name, type: "customer_list" },
      lookalike: { name, type: "lookalike", definition: lookalike },
    };
    const made = await create.mutateAsync(body[kind]).catch(() => null);
    if (!made) return;
    let told = t.created;
    if (kind === "customer_list" && members.total > 0) {
      setShare(0);
      // The list is there whatever becomes of its members; its page can add them again.
      told = await sendMembers(made.id, members.read, "add", setShare).then(
        (r) => t.createdWith(r.count),
        (e: Error) => t.createdWithout(e.message),
      );
      // The answer to its creation knew of no members.
      client.invalidateQueries({ queryKey: ["audiences"] });
    }
    say(told);
    navigate({ to: `/audiences/${made.id}` });
  };

  const f = create.error instanceof Refusal ? create.error.fields : {};
  return (
    <Form
      className="grid gap-5"
      onSubmit={(e) => {
        e.preventDefault();
        save();
      }}
    >
      {create.error ? <Note tone="bad">{create.error.message}</Note> : null}
      <RadioGroup label={t.type} options={kinds} value={kind} onChange={(k) => setKind(k as Kind)} />
      <TextField label={common.name} value={name} onChange={setName} error={f.name} isRequired />
      {kind === "targeting" ? <TargetingBuilder value={targeting} onChange={setTargeting} errors={f} /> : null}
      {kind === "lookalike" ? <LookalikeBuilder value={lookalike} onChange={setLookalike} errors={f} /> : null}
      {kind === "customer_list" ? <MemberFields {...members} /> : null}
      {share === null ? null : <Sending share={share} />}
      <Actions>
        <Button onPress={close}>{common.cancel}</Button>
        <Button
          type="submit"
          look="primary"
          busy={create.isPending || share !== null}
          isDisabled={!name.trim() || (kind === "lookalike" && !lookalike.seed_audience_id)}
        >
          {t.create}
        </Button>
      </Actions>
    </Form>
  );
}
