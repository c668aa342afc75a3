import type { ReactNode } from "react";
import type { Sent } from "../../api/console";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { Code } from "../../ui/copy";
import { Actions, Dialog } from "../../ui/overlay";

/** A link to hand over, where the server sends no e-mail. It is shown once. */
export function SentLink(p: { title: string; sent: Sent | null; close: () => void; children: ReactNode }) {
  return (
    <Dialog title={p.title} firm isOpen={!!p.sent?.link} onOpenChange={p.close}>
      <p className="mb-3 text-sm text-muted">
        {p.children} {t.link.notSent}
      </p>
      <Code text={p.sent?.link ?? ""} label={t.link.link} />
      <Actions>
        <Button look="primary" onPress={p.close}>
          {t.link.done}
        </Button>
      </Actions>
    </Dialog>
  );
}
