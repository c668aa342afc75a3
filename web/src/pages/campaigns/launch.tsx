// What keeps a campaign from delivering, before it is launched and after.

import { useQuery } from "@tanstack/react-query";
import { CircleAlert, CircleCheck, TriangleAlert } from "lucide-react";
import { take, v1 } from "../../api/client";
import { ago, instant } from "../../lib/format";
import { t } from "../../text/campaigns";
import { common } from "../../text/common";
import { Button, TextLink } from "../../ui/button";
import { Failed, Skeleton } from "../../ui/feedback";
import { Actions, Dialog } from "../../ui/overlay";
import type { Campaign } from "./data";
import { describe, issuesOf } from "./issues";

/** A list of delivery issues: what is wrong, how to fix it and where. */
export function Issues({ campaign, edit }: { campaign: Campaign; edit?: () => void }) {
  return (
    <ul className="divide-y divide-line">
      {issuesOf(campaign).map((i) => {
        const { title, fix, blocks, place } = describe(i, campaign);
        return (
          <li
            key={i.code + i.resource_id}
            className="flex flex-wrap items-start gap-2.5 py-2.5 text-sm first:pt-0 last:pb-0"
          >
            {blocks ? (
              <CircleAlert className="mt-0.5 size-4 shrink-0 text-bad" aria-hidden="true" />
            ) : (
              <TriangleAlert className="mt-0.5 size-4 shrink-0 text-warn" aria-hidden="true" />
            )}
            <div className="min-w-0 flex-1 basis-52">
              <p>
                <span className="sr-only">{blocks ? `${t.delivery.blocks}: ` : `${t.delivery.limits}: `}</span>
                {title}
              </p>
              {fix ? <p className="text-xs text-muted">{fix}</p> : null}
              <p className="text-xs text-faint">
                {(blocks ? t.delivery.blocksSince : t.delivery.limitsSince)(ago(i.since))}
              </p>
            </div>
            {place ? (
              <TextLink href={place.to} className="shrink-0 max-sm:ml-6.5">
                {place.label}
              </TextLink>
            ) : edit && i.field ? (
              <Button size="sm" onPress={edit}>
                {t.delivery.fix}
              </Button>
            ) : null}
          </li>
        );
      })}
    </ul>
  );
}

/** Asks the server which delivery issues the campaign has, shows them and launches. */
export function LaunchDialog({
  campaign,
  onOpenChange,
  launch,
}: {
  campaign: Campaign;
  onOpenChange: (open: boolean) => void;
  launch: () => void;
}) {
  const check = useQuery({
    queryKey: ["campaigns", campaign.id, "check", campaign.version],
    queryFn: async () =>
      (
        await take(
          v1.POST("/v1/campaigns/{id}/launch", {
            params: { path: { id: campaign.id } },
            body: { validate_only: true },
          }),
        )
      ).data,
    staleTime: 0,
  });
  const checked = check.data;
  const issues = checked ? issuesOf(checked) : [];
  const blocked = checked && issues.some((i) => describe(i, checked).blocks);
  return (
    <Dialog title={t.delivery.launchTitle(campaign.name)} isOpen onOpenChange={onOpenChange}>
      {(close) => (
        <>
          {check.isPending ? <Skeleton className="h-16 w-full" /> : null}
          {check.isError ? <Failed error={check.error} retry={() => check.refetch()} /> : null}
          {checked && issues.length === 0 ? (
            <p className="flex items-center gap-2 text-sm">
              <CircleCheck className="size-4 text-good" aria-hidden="true" />
              {t.delivery.ready(startsLater(campaign))}
            </p>
          ) : null}
          {checked && issues.length > 0 ? (
            <>
              <p className="mb-3 text-sm text-muted">{blocked ? t.delivery.blocked : t.delivery.limited}</p>
              <Issues campaign={checked} />
            </>
          ) : null}
          <Actions>
            <Button onPress={close}>{common.cancel}</Button>
            <Button
              look="primary"
              isDisabled={!checked}
              onPress={() => {
                launch();
                close();
              }}
            >
              {issues.length > 0 ? t.delivery.launchAnyway : t.launch}
            </Button>
          </Actions>
        </>
      )}
    </Dialog>
  );
}

function startsLater(c: Campaign): string {
  const start = c.schedule.start_at;
  if (!start || Date.parse(start) <= Date.now()) return t.delivery.readyAtLaunch;
  return `${instant(start, c.schedule.timezone)}, ${ago(start)}`;
}
