import { t } from "../../text/settings";
import { Card, PageHeader } from "../../ui/display";
import { BrandKit } from "./brandkit";
import { Identifiers } from "./identifiers";
import { PlanCard } from "./plan";
import { WorkspaceForm } from "./workspaceform";
import { WorkspaceRules } from "./workspacerules";

export function WorkspaceSettings() {
  return (
    <>
      <PageHeader title={t.general.title} sub={t.general.sub} />
      <div className="grid gap-4">
        <Card title={t.general.workspace}>
          <WorkspaceForm />
        </Card>
        <Card title="Brand" sub="How generated ads look and sound.">
          <BrandKit />
        </Card>
        <PlanCard />
        <Card title={t.general.policies}>
          <WorkspaceRules />
        </Card>
        <Card title={t.general.api} sub={t.general.apiHint}>
          <Identifiers />
        </Card>
      </div>
    </>
  );
}
