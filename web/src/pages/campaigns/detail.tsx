// One campaign: what it is asked to do, whether it does it, and how well.

import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { Archive, ArchiveRestore, CircleCheck, Copy, Ellipsis, Pause, Pencil, Play, Rocket } from "lucide-react";
import { useState } from "react";
import { take, v1 } from "../../api/client";
import { words } from "../../lib/format";
import { useMay } from "../../lib/session";
import { t } from "../../text/campaigns";
import { Button, TextLink } from "../../ui/button";
import { Card, PageHeader, Status } from "../../ui/display";
import { Failed, SkeletonRows } from "../../ui/feedback";
import { Menu, MenuItem, MenuTrigger } from "../../ui/overlay";
import { ShowCall } from "../../ui/showcall";
import { say } from "../../ui/toast";
import { type Action, useAct } from "./act";
import { type Campaign, campaignQuery, useRefresh } from "./data";
import { Details, Links, Schedule } from "./detail/about";
import { Activity } from "./detail/activity";
import { Budget } from "./detail/budget";
import { Performance } from "./detail/performance";
import { Audiences, Creatives } from "./detail/uses";
import { EditDialog } from "./edit";
import { Issues, LaunchDialog } from "./launch";

export function CampaignDetail() {
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const campaign = useQuery(campaignQuery(id));
  if (campaign.isPending) return <SkeletonRows />;
  if (campaign.isError) {
    return (
      <>
        <PageHeader title={t.campaign} back={<Back />} />
        <Failed error={campaign.error} retry={() => campaign.refetch()} />
      </>
    );
  }
  return <Loaded key={id} campaign={campaign.data} />;
}

const Back = () => <TextLink href="/campaigns">{t.title}</TextLink>;

function Loaded({ campaign: c }: { campaign: Campaign }) {
  const may = useMay("editor");
  const [editing, setEditing] = useState(false);
  const edit = may && c.allowed_actions.includes("update") ? () => setEditing(true) : undefined;
  return (
    <>
      <PageHeader
        title={c.name}
        back={<Back />}
        badge={
          <>
            <Status value={c.status} />
            {said(c) ? <Status value={c.delivery.status} /> : null}
          </>
        }
        sub={c.description ?? undefined}
      >
        <ShowCall call={{ method: "GET", path: `/v1/campaigns/${c.id}` }} />
        {may ? <Controls campaign={c} edit={edit} /> : null}
      </PageHeader>
      <div className="grid gap-4 xl:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="grid min-w-0 content-start gap-5">
          <DeliveryCard campaign={c} edit={edit} />
          <Performance campaign={c} />
          <Creatives campaign={c} edit={edit} />
          <Activity campaign={c} />
        </div>
        <div className="grid min-w-0 content-start gap-4 md:max-xl:grid-cols-2">
          <Budget campaign={c} />
          <Schedule campaign={c} />
          <Audiences campaign={c} edit={edit} />
          <Links campaign={c} />
          <Details campaign={c} />
        </div>
      </div>
      <EditDialog campaign={c} isOpen={editing} onOpenChange={setEditing} />
    </>
  );
}

/** Whether delivery tells more than the status does. */
const said = (c: Campaign) => c.status === "active";

function DeliveryCard({ campaign: c, edit }: { campaign: Campaign; edit?: () => void }) {
  const { issues, status } = c.delivery;
  if (issues.length === 0) {
    if (c.status !== "draft") return null;
    return (
      <Card title={t.delivery.before}>
        <p className="flex items-center gap-2 text-sm">
          <CircleCheck className="size-4 text-good" aria-hidden="true" />
          {t.delivery.none}
        </p>
      </Card>
    );
  }
  return (
    <Card
      title={c.status === "draft" ? t.delivery.before : t.delivery.title}
      sub={c.status === "draft" ? t.delivery.issues : t.delivery.statusAndIssues(words(status))}
    >
      <Issues campaign={c} edit={edit} />
    </Card>
  );
}

const buttons: { id: Action; label: string; icon: typeof Pause; main?: boolean }[] = [
  { id: "launch", label: t.launch, icon: Rocket, main: true },
  { id: "resume", label: t.resume, icon: Play, main: true },
  { id: "pause", label: t.pause, icon: Pause },
  { id: "restore", label: t.restore, icon: ArchiveRestore, main: true },
];

function Controls({ campaign: c, edit }: { campaign: Campaign; edit?: () => void }) {
  const act = useAct();
  const navigate = useNavigate();
  const refresh = useRefresh();
  const [launching, setLaunching] = useState(false);
  const duplicate = useMutation({
    mutationFn: async () =>
      (await take(v1.POST("/v1/campaigns/{id}/duplicate", { params: { path: { id: c.id } } }))).data,
    onSuccess: (copy) => {
      refresh();
      say(t.draftCreated(copy.name));
      navigate({ to: `/campaigns/${copy.id}` });
    },
  });
  const can = (action: string) => c.allowed_actions.includes(action as "launch");
  return (
    <>
      {edit ? (
        <Button onPress={edit}>
          <Pencil aria-hidden="true" />
          {t.edit}
        </Button>
      ) : null}
      {buttons
        .filter((b) => can(b.id))
        .map(({ id, label, icon: Icon, main }) => (
          <Button
            key={id}
            look={main ? "primary" : "plain"}
            onPress={() => (id === "launch" ? setLaunching(true) : act(c, id))}
          >
            <Icon aria-hidden="true" />
            {label}
          </Button>
        ))}
      <MenuTrigger>
        <Button icon aria-label={t.more}>
          <Ellipsis aria-hidden="true" />
        </Button>
        <Menu label={t.more}>
          {can("duplicate") ? (
            <MenuItem onAction={() => duplicate.mutate()}>
              <Copy aria-hidden="true" />
              {t.duplicate}
            </MenuItem>
          ) : null}
          {can("archive") ? (
            <MenuItem onAction={() => act(c, "archive")}>
              <Archive aria-hidden="true" />
              {t.archive}
            </MenuItem>
          ) : null}
        </Menu>
      </MenuTrigger>
      {launching ? <LaunchDialog campaign={c} onOpenChange={setLaunching} launch={() => act(c, "launch")} /> : null}
    </>
  );
}
