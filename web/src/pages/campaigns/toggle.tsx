// The switch that a running campaign is paused and resumed with, where it stands.
import { useState } from "react";
import { Status } from "../../ui/display";
import { Switch } from "../../ui/fields";
import type { Action } from "./act";
import type { Campaign } from "./data";
import { LaunchDialog } from "./launch";

/** Launching may cost money, so a draft shows what stands in the way first. */
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
        aria-label={`${c.name} runs`}
        isSelected={on}
        isDisabled={!may || !can}
        onChange={() => {
          if (c.status === "draft") setLaunching(true);
          else act(c, on ? "pause" : "resume");
        }}
      />
      <Status value={c.status} />
      {launching ? <LaunchDialog campaign={c} onOpenChange={setLaunching} launch={() => act(c, "launch")} /> : null}
    </span>
  );
}
