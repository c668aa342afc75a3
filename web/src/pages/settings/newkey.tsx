import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { own, type Refusal } from "../../api/client";
import type { MadeKey, NewKey as Wanted } from "../../api/console";
import { snippet } from "../../lib/snippet";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { Code, CopyButton } from "../../ui/copy";
import { Note } from "../../ui/feedback";
import { Actions, Dialog } from "../../ui/overlay";
import { KeyForm } from "./keyform";
import { useProof } from "./prove";

/** Makes a key and shows its secret once. */
export function NewKey({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const client = useQueryClient();
  const { proved, dialog } = useProof();
  const [made, setMade] = useState<MadeKey | null>(null);
  const make = useMutation({
    meta: { quiet: true },
    mutationFn: (key: Wanted) => proved(() => own<MadeKey>("POST", "/keys", key)),
    onSuccess: (m) => {
      setMade(m);
      close();
      client.invalidateQueries({ queryKey: ["keys"] });
    },
  });
  const end = () => {
    make.reset();
    close();
  };
  return (
    <>
      <Dialog title={t.keyForm.title} isOpen={isOpen} onOpenChange={end}>
        <KeyForm make={make.mutate} cancel={end} busy={make.isPending} error={make.error as Refusal | null} />
      </Dialog>
      {dialog}
      <Secret made={made} close={() => setMade(null)} />
    </>
  );
}

/** The only sight of a secret. It goes only by saying that it is stored. */
export function Secret({ made, close }: { made: MadeKey | null; close: () => void }) {
  return (
    <Dialog title={t.newKey.title} firm wide isOpen={!!made} onOpenChange={close}>
      {made ? (
        <div className="grid gap-4">
          <Note tone="warn">{t.newKey.hint}</Note>
          <div className="flex flex-wrap items-center gap-3 rounded-lg border border-line-strong bg-sunken px-4 py-3">
            <code className="min-w-0 grow font-mono text-lg font-medium break-all select-all">{made.secret}</code>
            <CopyButton text={made.secret} label={t.newKey.copy} />
          </div>
          <div>
            <h3 className="mb-1.5 text-sm font-medium">{t.newKey.tryIt}</h3>
            <Code text={snippet({ method: "GET", path: "/v1/me" }, "curl", made.secret)} label={t.newKey.curl} />
          </div>
          <Actions>
            <Button look="primary" onPress={close}>
              {t.newKey.done}
            </Button>
          </Actions>
        </div>
      ) : null}
    </Dialog>
  );
}
