import type { ReactNode } from "react";
import type { LoggedRequest } from "../../api/console";
import { instant, none } from "../../lib/format";
import { TextLink } from "../../ui/button";
import { CopyButton } from "../../ui/copy";
import { Facts } from "../../ui/display";
import { Dialog } from "../../ui/overlay";
import { StatusCode, took } from "./requesttable";

/** Everything that is known of one call. */
export function RequestDetail({ of: r, close }: { of: LoggedRequest | undefined; close: () => void }) {
  return (
    <Dialog title="Request" isOpen={!!r} onOpenChange={close}>
      {r ? <Facts items={facts(r)} /> : null}
    </Dialog>
  );
}

function facts(r: LoggedRequest): [ReactNode, ReactNode][] {
  const mono = (text: string) => <span className="font-mono text-xs break-all">{text || none}</span>;
  const items: [ReactNode, ReactNode][] = [
    ["Call", mono(`${r.method} ${r.path}`)],
    ["Operation", mono(r.operation)],
    ["Status", <StatusCode key="status" of={r} />],
    ["Took", took(r.took)],
    ["When", instant(r.at)],
    ["Key", r.key ? `${r.key.name}, …${r.key.last4}` : none],
    ["From", mono(r.ip)],
    ["User agent", mono(r.user_agent)],
    [
      "Request id",
      <span key="id" className="flex flex-wrap items-center gap-2">
        {mono(r.id)}
        <CopyButton text={r.id} />
      </span>,
    ],
  ];
  if (r.code) {
    items.splice(3, 0, [
      "Error",
      <span key="code">
        {mono(r.code)}{" "}
        <TextLink href={`/docs/errors#${r.code}`} target="_blank" className="text-sm">
          What it means
        </TextLink>
      </span>,
    ]);
  }
  return items;
}
