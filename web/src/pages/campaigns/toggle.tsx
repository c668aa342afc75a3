// The switch that pauses and resumes a campaign, and its state.

import { useState } from "react";
import { t } from "../../text/campaigns";
import { Status } from "../../ui/display";
import { Switch } from "../../ui/fields";
import type { Action } from "./act";
import type { Campaign } from "./data";
import { describe, issuesOf } from "./issues";
import { LaunchDialog } from "./launch";

/** An active campaign shows whether it delivers: "active" says only that it was launched. */
function State({ campaign: c }: { campaign: Campaign }) {
  const [first] = issuesOf(c);
  if (c.status !== "active" || c.delivery.status === "delivering") return <Status value={c.status} />;
  return (
    <span title={first ? describe(first, c).title : undefined}>
      <Status value={c.delivery.status} />
    </span>
  );
}

/** Launching may cost money, so a draft shows its delivery issues first. */
export function Toggle({
  campaign: c,
  may,
  act,
}: {
  campaign: Campaign;
  may: boolean;
  act: (c: Campaign, action: Action) => void;
}) {
  const [launching, setLaunching] = useState(false);
  const on = c.status === "active";
  const can = c.status === "draft" || on || c.status === "paused";
  return (
    <span className="flex items-center gap-2.5">
      <Switch
        aria-label={t.list.running(c.name)}
        isSelected={on}
        isDisabled={!may || !can}
        onChange={() => {
          if (c.status === "draft") setLaunching(true);
          else act(c, on ? "pause" : "resume");
        }}
      />
      <State campaign={c} />
      {launching ? <LaunchDialog campaign={c} onOpenChange={setLaunching} launch={() => act(c, "launch")} /> : null}
    </span>
  );
}
