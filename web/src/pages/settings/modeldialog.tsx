import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { own, Refusal } from "../../api/client";
import type { Provider } from "../../api/console";
import { words } from "../../lib/format";
import { common } from "../../text/common";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { Note } from "../../ui/feedback";
import { Checkbox, Select, TextField } from "../../ui/fields";
import { Actions, Dialog } from "../../ui/overlay";
import { say } from "../../ui/toast";

/** The platforms whose models can be used; one of them draws nothing. */
export const kinds = [
  { id: "openai", label: words("openai"), model: "gpt-5.4", image: "gpt-image-2" },
  { id: "anthropic", label: words("anthropic"), model: "claude-sonnet-5-5", image: null },
  { id: "gemini", label: words("gemini"), model: "gemini-3-pro", image: "gemini-3-pro-image" },
];

interface Props {
  was?: Provider;
  isOpen: boolean;
  close: () => void;
}

/** Sets a model up, or changes how one is used. */
export function ModelDialog({ was, isOpen, close }: Props) {
  return (
    <Dialog title={was ? t.models.editTitle : t.models.add} isOpen={isOpen} onOpenChange={close}>
      <ModelForm was={was} close={close} />
    </Dialog>
  );
}

function ModelForm({ was, close }: Omit<Props, "isOpen">) {
  const client = useQueryClient();
  const [kind, setKind] = useState(was?.kind ?? "openai");
  const [model, setModel] = useState(was?.settings.model ?? "");
  const [image, setImage] = useState(was?.settings.image_model ?? "");
  const [first, setFirst] = useState(was?.settings.default ?? true);
  const [key, setKey] = useState("");
  const known = kinds.find((k) => k.id === kind);
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: () =>
      own("PUT", `/providers/${kind}`, {
        model: model.trim(),
        image_model: known?.image ? image.trim() : "",
        default: first,
        api_key: key.trim(),
      }),
    onSuccess: () => {
      say(t.models.saved(known?.label ?? kind));
      close();
      return client.invalidateQueries({ queryKey: ["providers"] });
    },
  });
  const f = save.error instanceof Refusal ? save.error.fields : {};
  const unplaced = save.error && !f.model && !f.image_model && !f.api_key ? (f.provider ?? save.error.message) : "";
  return (
    <Form
      className="grid gap-4"
      onSubmit={(e) => {
        e.preventDefault();
        save.mutate();
      }}
    >
      {unplaced ? <Note tone="bad">{unplaced}</Note> : null}
      <Select label={t.models.provider} value={kind} onChange={setKind} options={kinds} isDisabled={!!was} />
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <TextField
          label={t.models.textModel}
          placeholder={known?.model}
          mono
          isRequired
          autoComplete="off"
          value={model}
          onChange={setModel}
          error={f.model}
        />
        <TextField
          label={t.models.imageModel}
          placeholder={known?.image ?? ""}
          hint={known?.image ? t.models.imageHint : t.models.noImages}
          mono
          autoComplete="off"
          isDisabled={!known?.image}
          value={known?.image ? image : ""}
          onChange={setImage}
          error={f.image_model}
        />
      </div>
      <TextField
        label={t.models.key}
        hint={was ? t.models.keyAgain : t.models.keyHint}
        type="password"
        isRequired
        autoComplete="off"
        value={key}
        onChange={setKey}
        error={f.api_key}
      />
      <Checkbox isSelected={first} onChange={setFirst}>
        {t.models.useByDefault}
      </Checkbox>
      <Actions>
        <Button onPress={close}>{common.cancel}</Button>
        <Button type="submit" look="primary" busy={save.isPending} isDisabled={!model.trim() || !key.trim()}>
          {common.save}
        </Button>
      </Actions>
    </Form>
  );
}
