import type { ReactNode } from "react";
import type { LoggedRequest } from "../../api/console";
import { instant, none } from "../../lib/format";
import { t } from "../../text/settings";
import { TextLink } from "../../ui/button";
import { CopyButton } from "../../ui/copy";
import { Facts } from "../../ui/display";
import { Dialog } from "../../ui/overlay";
import { StatusCode, took } from "./requesttable";

/** Everything that is known of one call. */
export function RequestDetail({ of: r, close }: { of: LoggedRequest | undefined; close: () => void }) {
  return (
    <Dialog title={t.requests.request} isOpen={!!r} onOpenChange={close}>
      {r ? <Facts items={facts(r)} /> : null}
    </Dialog>
  );
}

function facts(r: LoggedRequest): [ReactNode, ReactNode][] {
  const mono = (text: string) => <span className="font-mono text-xs break-all">{text || none}</span>;
  const items: [ReactNode, ReactNode][] = [
    [t.requests.request, mono(`${r.method} ${r.path}`)],
    [t.requests.operation, mono(r.operation)],
    [t.status, <StatusCode key="status" of={r} />],
    [t.requests.duration, took(r.took)],
    [t.when, instant(r.at)],
    [t.requests.key, r.key ? `${r.key.name}, …${r.key.last4}` : none],
    [t.ipAddress, mono(r.ip)],
    [t.requests.userAgent, mono(r.user_agent)],
    [
      t.requests.requestId,
      <span key="id" className="flex flex-wrap items-center gap-2">
        {mono(r.id)}
        <CopyButton text={r.id} />
      </span>,
    ],
  ];
  if (r.code) {
    items.splice(3, 0, [
      t.requests.errorCode,
      <span key="code">
        {mono(r.code)}{" "}
        <TextLink href={`/docs/errors#${r.code}`} target="_blank" className="text-sm">
          {t.requests.meaning}
        </TextLink>
      </span>,
    ]);
  }
  return items;
}
