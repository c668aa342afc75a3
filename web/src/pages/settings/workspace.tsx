import { Card, PageHeader } from "../../ui/display";
import { BrandKit } from "./brandkit";
import { Identifiers } from "./identifiers";
import { PlanCard } from "./plan";
import { WorkspaceForm } from "./workspaceform";
import { WorkspaceRules } from "./workspacerules";

export function WorkspaceSettings() {
  return (
    <>
      <PageHeader title="General" sub="What holds for everybody in this workspace." />
      <div className="grid gap-4">
        <Card title="Workspace">
          <WorkspaceForm />
        </Card>
        <Card title="Brand" sub="How generated ads look and sound.">
          <BrandKit />
        </Card>
        <PlanCard />
        <Card title="Rules">
          <WorkspaceRules />
        </Card>
        <Card title="For your programs" sub="Support and scripts ask for these.">
          <Identifiers />
        </Card>
      </div>
    </>
  );
}
