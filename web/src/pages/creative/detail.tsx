import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { Archive, ArchiveRestore, ChevronLeft, ChevronRight, Pencil } from "lucide-react";
import { useState } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { useMay } from "../../lib/session";
import { useView } from "../../lib/view";
import { t } from "../../text/creative";
import { Button, TextLink } from "../../ui/button";
import { Badge, Card, PageHeader, Status } from "../../ui/display";
import { Empty, Failed, Note, SkeletonRows } from "../../ui/feedback";
import { ShowCall, tab } from "../../ui/showcall";
import { CopyLines } from "./copy";
import {
  type Creative,
  creativeQuery,
  named,
  useArchive,
  useRegenerate,
  useRestore,
  type Variant,
  variantsQuery,
} from "./data";
import { Edit } from "./edit";
import { Approval, Origin, UsedFacts, UsedIn } from "./facts";
import { Frame } from "./frames";
import { Performance } from "./performance";
import { Progress } from "./progress";
import { Variants } from "./variants";

const back = <TextLink href="/creative">{t.title}</TextLink>;

export function CreativeDetail() {
  const { id = "" } = useParams({ strict: false });
  const { data: c, error, refetch } = useQuery(creativeQuery(id));
  if (error) {
    return (
      <>
        <PageHeader title={t.title} back={back} />
        <Failed error={error} retry={refetch} />
      </>
    );
  }
  if (!c) return <SkeletonRows />;
  return <Loaded creative={c} />;
}

/** The channels that a creative has something for, those it was made for first. */
function channelsOf(c: Creative): string[] {
  const list = [...new Set([...c.channels, ...Object.keys(c.content.by_channel)])];
  if (list.length > 0) return list;
  return [c.type === "email" ? "email" : c.content.media.length > 0 ? "social" : "other"];
}

function Loaded({ creative: c }: { creative: Creative }) {
  const [view, set] = useView();
  const channels = channelsOf(c);
  const channel = channels.find((x) => x === view("channel")) ?? channels[0] ?? "other";
  const { data: variants } = useQuery({ ...variantsQuery(c.id), enabled: c.status !== "generating" });
  const shown = variants?.find((v) => v.id === view("variant")) ?? variants?.find((v) => v.id === c.primary_variant_id);
  const working = c.status === "generating" || (c.status === "failed" && c.variant_count === 0);
  return (
    <>
      <Head creative={c} />
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="grid min-w-0 gap-5">
          {c.status === "archived" ? <Note>{t.detail.archived}</Note> : null}
          <Progress creative={c} />
          {working ? null : (
            <>
              <Preview
                creative={c}
                variant={shown}
                channels={channels}
                channel={channel}
                setChannel={(v) => set({ channel: v })}
              />
              {c.variant_count > 0 ? (
                <Variants
                  creative={c}
                  channel={channel}
                  shown={shown?.id}
                  show={(v) => set({ variant: v === c.primary_variant_id ? "" : v })}
                />
              ) : null}
              <Performance id={c.id} />
            </>
          )}
        </div>
        <div className="grid min-w-0 gap-5">
          {working ? null : <Approval creative={c} />}
          {working ? null : <UsedIn id={c.id} />}
          <UsedFacts creative={c} />
          <Origin creative={c} />
        </div>
      </div>
    </>
  );
}

function Head({ creative: c }: { creative: Creative }) {
  const may = useMay("editor");
  const [view, set] = useView();
  const archive = useArchive();
  const restore = useRestore();
  const editable = may && c.status !== "archived" && c.status !== "generating";
  return (
    <PageHeader
      title={c.name}
      back={back}
      badge={<Status value={c.status} />}
      sub={[named(c.type), ...c.channels.map(named)].join(" · ")}
    >
      <ShowCall call={{ method: "GET", path: `/v1/creative/${c.id}` }} />
      {may && c.status === "archived" ? (
        <Button onPress={() => restore.mutate(c.id)} busy={restore.isPending}>
          <ArchiveRestore aria-hidden="true" />
          {t.restore}
        </Button>
      ) : null}
      {may && c.status !== "archived" && c.status !== "generating" ? (
        <Button onPress={() => archive.mutate(c.id)} busy={archive.isPending}>
          <Archive aria-hidden="true" />
          {t.archive}
        </Button>
      ) : null}
      {editable ? (
        <Button look="primary" onPress={() => set({ edit: "1" })}>
          <Pencil aria-hidden="true" />
          {t.edit}
        </Button>
      ) : null}
      <Edit creative={c} isOpen={editable && view("edit") === "1"} onOpenChange={(o) => set({ edit: o ? "1" : "" })} />
    </PageHeader>
  );
}

function Preview({
  creative: c,
  variant,
  channels,
  channel,
  setChannel,
}: {
  creative: Creative;
  /** The primary one, or one that was asked for; the creative itself until they are there. */
  variant?: Variant;
  channels: string[];
  channel: string;
  setChannel: (v: string) => void;
}) {
  const [turn, setTurn] = useState(0);
  const may = useMay("editor");
  const another = useRegenerate(variant);
  const content = variant?.content ?? c.content;
  const policy = variant?.policy ?? c.policy;
  const copy = content.by_channel[channel];
  const turns = Math.max(copy?.headlines.length ?? 0, copy?.descriptions.length ?? 0, 1);
  return (
    <Card
      title={t.detail.preview}
      sub={variant && !variant.is_primary ? variant.name : undefined}
      action={
        policy.status === "pass" ? (
          <Badge tone="good">{t.detail.policyPassed}</Badge>
        ) : (
          <Badge tone={policy.status === "block" ? "bad" : "warn"}>{t.issues(policy.findings.length)}</Badge>
        )
      }
    >
      <Tabs
        selectedKey={channel}
        onSelectionChange={(k) => {
          setTurn(0);
          setChannel(String(k));
        }}
      >
        <TabList aria-label={t.channel} className="-mx-4 flex overflow-x-auto border-b border-line px-4">
          {channels.map((x) => (
            <Tab key={x} id={x} className={tab}>
              {named(x)}
            </Tab>
          ))}
        </TabList>
        <TabPanel id={channel} className="outline-none">
          <div className="-mx-4 bg-sunken px-4 py-6">
            <Frame channel={channel} content={content} turn={turn} />
            {turns > 1 ? <Turns turn={turn} turns={turns} set={setTurn} /> : null}
          </div>
          <div className="pt-4">
            {copy ? (
              <CopyLines
                channel={channel}
                copy={copy}
                policy={policy}
                lang={content.language}
                isBusy={another.isPending}
                regenerate={
                  may && c.status === "ready" && c.generation && variant ? (f) => another.mutate(f) : undefined
                }
              />
            ) : (
              <Empty title={t.detail.noCopy}>{t.detail.noCopyHint}</Empty>
            )}
          </div>
        </TabPanel>
      </Tabs>
    </Card>
  );
}

/** Platforms turn the lines of an ad; so can the viewer. */
function Turns({ turn, turns, set }: { turn: number; turns: number; set: (n: number) => void }) {
  return (
    <div className="mt-3 flex items-center justify-center gap-2 no-print">
      <Button
        icon
        size="sm"
        look="quiet"
        aria-label={t.detail.previous}
        onPress={() => set((turn + turns - 1) % turns)}
      >
        <ChevronLeft aria-hidden="true" />
      </Button>
      <span className="num text-xs text-muted" aria-live="polite">
        {t.detail.combination(turn + 1, turns)}
      </span>
      <Button icon size="sm" look="quiet" aria-label={t.detail.next} onPress={() => set((turn + 1) % turns)}>
        <ChevronRight aria-hidden="true" />
      </Button>
    </div>
  );
}
