import { t } from "../../text/settings";
import { Card, PageHeader } from "../../ui/display";
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
