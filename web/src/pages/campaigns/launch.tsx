// What stands in the way of a campaign, before it is launched and after.
import { useQuery } from "@tanstack/react-query";
import { CircleAlert, CircleCheck, TriangleAlert } from "lucide-react";
import { take, v1 } from "../../api/client";
import { ago } from "../../lib/format";
import { Button, TextLink } from "../../ui/button";
import { Failed, Skeleton } from "../../ui/feedback";
import { Actions, Dialog } from "../../ui/overlay";
import type { Campaign } from "./data";

type Issue = Campaign["delivery"]["issues"][number];

// The server says which campaigns are blocked, not which issue blocks them. These
// always do; a connection's trouble blocks only where no other connection works.
const blocking = new Set<Issue["code"]>(["no_connection", "no_creative_ready", "budget_exhausted"]);

const rooms: [string, string][] = [
  ["aud_", "/audiences/"],
  ["crv_", "/creative/"],
  ["con_", "/connections/"],
];

/** Where the record lives that an issue is about. */
function place(id: string | null): string | null {
  const room = rooms.find(([prefix]) => id?.startsWith(prefix));
  return room ? `${room[1]}${id}` : null;
}

/** A check-list: what is missing, why it matters and what to do. */
export function Issues({ issues, edit }: { issues: Issue[]; edit?: () => void }) {
  return (
    <ul className="divide-y divide-line">
      {issues.map((i) => {
        const stops = blocking.has(i.code);
        const to = place(i.resource_id);
        return (
          <li key={i.code + i.resource_id} className="flex items-start gap-2.5 py-2.5 text-sm first:pt-0 last:pb-0">
            {stops ? (
              <CircleAlert className="mt-0.5 size-4 shrink-0 text-bad" aria-hidden="true" />
            ) : (
              <TriangleAlert className="mt-0.5 size-4 shrink-0 text-warn" aria-hidden="true" />
            )}
            <div className="min-w-0 grow">
              <p>
                <span className="sr-only">{stops ? "Blocks: " : "Limits: "}</span>
                {i.message}
              </p>
              {i.remediation ? <p className="text-xs text-muted">{i.remediation}</p> : null}
              <p className="text-xs text-faint">
                {stops ? "Blocks delivery" : "Limits delivery"}, since {ago(i.since)}
              </p>
            </div>
            {to ? (
              <TextLink href={to} className="shrink-0">
                Open
              </TextLink>
            ) : edit && i.field ? (
              <Button size="sm" onPress={edit}>
                Fix
              </Button>
            ) : null}
          </li>
        );
      })}
    </ul>
  );
}

/** Asks the server what would come of a launch, and launches. */
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
      ).data.delivery.issues,
    staleTime: 0,
  });
  const issues = check.data ?? [];
  const blocked = issues.some((i) => blocking.has(i.code));
  return (
    <Dialog title={`Launch ${campaign.name}`} isOpen onOpenChange={onOpenChange}>
      {(close) => (
        <>
          {check.isPending ? <Skeleton className="h-16 w-full" /> : null}
          {check.isError ? <Failed error={check.error} retry={() => check.refetch()} /> : null}
          {check.data && issues.length === 0 ? (
            <p className="flex items-center gap-2 text-sm">
              <CircleCheck className="size-4 text-good" aria-hidden="true" />
              Nothing stands in the way. The campaign delivers {startsLater(campaign)}.
            </p>
          ) : null}
          {issues.length > 0 ? (
            <>
              <p className="mb-3 text-sm text-muted">
                {blocked
                  ? "It can be launched, but reaches nobody until what blocks it is settled."
                  : "It can be launched and will deliver, with limits."}
              </p>
              <Issues issues={issues} />
            </>
          ) : null}
          <Actions>
            <Button onPress={close}>Cancel</Button>
            <Button
              look="primary"
              isDisabled={!check.data}
              onPress={() => {
                launch();
                close();
              }}
            >
              {issues.length > 0 ? "Launch anyway" : "Launch"}
            </Button>
          </Actions>
        </>
      )}
    </Dialog>
  );
}

function startsLater(c: Campaign): string {
  const start = c.schedule.start_at;
  return start && Date.parse(start) > Date.now() ? `from its start, ${ago(start)}` : "at once";
}
