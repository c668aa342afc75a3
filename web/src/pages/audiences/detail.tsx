import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { Archive, ArchiveRestore, Pencil, UserPlus } from "lucide-react";
import { useState } from "react";
import { Form } from "react-aria-components";
import { Refusal } from "../../api/client";
import { ago, count, instant, percent, words } from "../../lib/format";
import { useRange } from "../../lib/range";
import { useMay } from "../../lib/session";
import { useView } from "../../lib/view";
import { t } from "../../text/audiences";
import { common } from "../../text/common";
import { Button, TextLink } from "../../ui/button";
import { Bar, Card, Facts, PageHeader, Status } from "../../ui/display";
import { Failed, Note, SkeletonRows } from "../../ui/feedback";
import { TextField } from "../../ui/fields";
import { Actions, Dialog } from "../../ui/overlay";
import { ShowCall } from "../../ui/showcall";
import { say } from "../../ui/toast";
import { platformName } from "../connections/glyph";
import { LookalikeBuilder, TargetingBuilder, useNamed } from "./builder";
import {
  type Audience,
  audienceQuery,
  type Lookalike,
  membersQuery,
  type Targeting,
  typeNames,
  useArchive,
  usePatch,
  useRestore,
} from "./data";
import { Insights } from "./insights";
import { MemberFields, Sending, useMembers } from "./memberform";
import { sendMembers } from "./members";
import { sentence } from "./sentence";
import { Size } from "./size";

const back = <TextLink href="/audiences">{t.title}</TextLink>;

export function AudienceDetail() {
  const { id = "" } = useParams({ strict: false });
  const { data: a, error, refetch } = useQuery(audienceQuery(id));
  if (error) {
    return (
      <>
        <PageHeader title={t.audience} back={back} />
        <Failed error={error} retry={refetch} />
      </>
    );
  }
  if (!a) return <SkeletonRows />;
  return (
    <>
      <Head audience={a} />
      <div className="grid gap-6">
        {a.status === "archived" ? <Note>{t.detail.archivedHint}</Note> : null}
        <div className="grid gap-5 lg:grid-cols-3">
          <HowMany audience={a} />
          <Who audience={a} />
        </div>
        <Insights id={a.id} />
      </div>
    </>
  );
}

function Head({ audience: a }: { audience: Audience }) {
  const may = useMay("editor");
  const [view, set] = useView();
  const [range] = useRange();
  const archive = useArchive();
  const restore = useRestore();
  const editable = may && a.status !== "archived";
  return (
    <PageHeader title={a.name} back={back} badge={<Status value={a.status} />} sub={a.description || typeNames[a.type]}>
      <ShowCall
        call={{
          method: "GET",
          path: `/v1/audiences/${a.id}/insights`,
          query: { start_date: range.from, end_date: range.to, baseline: view("baseline") || undefined },
        }}
      />
      {may && a.status === "archived" ? (
        <Button onPress={() => restore.mutate(a.id)} busy={restore.isPending}>
          <ArchiveRestore aria-hidden="true" />
          {t.detail.restore}
        </Button>
      ) : null}
      {editable ? (
        <>
          <Button onPress={() => archive.mutate(a.id)} busy={archive.isPending}>
            <Archive aria-hidden="true" />
            {t.detail.archive}
          </Button>
          <Button look="primary" onPress={() => set({ edit: "1" })}>
            <Pencil aria-hidden="true" />
            {t.detail.edit}
          </Button>
        </>
      ) : null}
      <Dialog
        side
        title={t.detail.editTitle}
        isOpen={editable && view("edit") === "1"}
        onOpenChange={(o) => set({ edit: o ? "1" : "" })}
      >
        {(close) => <EditForm audience={a} close={close} />}
      </Dialog>
    </PageHeader>
  );
}

const methods: Record<string, string> = t.detail.methods;

function HowMany({ audience: a }: { audience: Audience }) {
  const list = a.type === "customer_list";
  return (
    <Card title={t.size}>
      <p className="text-2xl font-semibold">
        <Size size={a.size} />
      </p>
      <p className="mt-0.5 text-xs text-muted">
        {a.size ? `${methods[a.size.method] ?? words(a.size.method)}, ${ago(a.size.as_of)}` : t.detail.noSize}
      </p>
      {a.size_by_connection.length > 0 ? (
        <ul className="mt-4 grid gap-2 text-sm">
          {a.size_by_connection.map((s) => (
            <li key={s.connection_id} className="flex justify-between gap-4">
              <TextLink href={`/connections/${s.connection_id}`}>{platformName(s.platform)}</TextLink>
              <span className="num">{t.detail.matched(count(s.matched))}</span>
            </li>
          ))}
        </ul>
      ) : null}
      {list ? <Members audience={a} /> : null}
    </Card>
  );
}

function Members({ audience: a }: { audience: Audience }) {
  const may = useMay("editor") && a.status !== "archived";
  const { data } = useQuery(membersQuery(a.id));
  const [way, setWay] = useState<"add" | "remove" | null>(null);
  const short = data ? data.minimum - data.count : 0;
  return (
    <div className="mt-4 grid gap-3">
      {data && short > 0 ? (
        <div className="grid gap-1.5">
          <Bar share={data.count / data.minimum} label={t.detail.needed} tone="warn" />
          <p className="text-xs text-muted">
            {t.detail.need(count(data.minimum), count(short), percent(data.count / data.minimum, 0))}
          </p>
        </div>
      ) : null}
      {may ? (
        <div className="flex flex-wrap gap-2">
          <Button size="sm" onPress={() => setWay("add")}>
            <UserPlus aria-hidden="true" />
            {t.members.add}
          </Button>
          <Button size="sm" look="quiet" onPress={() => setWay("remove")}>
            {t.members.remove}
          </Button>
        </div>
      ) : null}
      <Dialog
        title={way === "remove" ? t.members.remove : t.members.add}
        isOpen={way !== null}
        onOpenChange={(o) => !o && setWay(null)}
      >
        {(close) => <MemberForm id={a.id} way={way ?? "add"} close={close} />}
      </Dialog>
    </div>
  );
}

function MemberForm({ id, way, close }: { id: string; way: "add" | "remove"; close: () => void }) {
  const members = useMembers();
  const client = useQueryClient();
  const [share, setShare] = useState<number | null>(null);
  const [fault, setFault] = useState("");
  const send = async () => {
    setFault("");
    setShare(0);
    try {
      const r = await sendMembers(id, members.read, way, setShare);
      say(t.members[way === "add" ? "added" : "removed"](r.changed, count(r.count)));
      close();
    } catch (e) {
      setFault((e as Error).message);
    } finally {
      setShare(null);
      client.invalidateQueries({ queryKey: ["audiences"] });
    }
  };
  return (
    <Form
      className="grid gap-4"
      onSubmit={(e) => {
        e.preventDefault();
        send();
      }}
    >
      {fault ? <Note tone="bad">{fault}</Note> : null}
      <MemberFields {...members} />
      {share === null ? null : <Sending share={share} />}
      <Actions>
        <Button onPress={close}>{common.cancel}</Button>
        <Button
          type="submit"
          look={way === "remove" ? "danger" : "primary"}
          busy={share !== null}
          isDisabled={members.total === 0}
        >
          {members.total > 0 ? t.members[way === "add" ? "addCount" : "removeCount"](members.total) : t.members[way]}
        </Button>
      </Actions>
    </Form>
  );
}

function Who({ audience: a }: { audience: Audience }) {
  const named = useNamed();
  return (
    <Card title={t.detail.definition} className="lg:col-span-2">
      <p className="mb-4 text-base text-pretty">{sentence(a, named)}</p>
      <Facts
        items={[
          [t.type, typeNames[a.type]],
          ...a.external_refs.map(
            (r) =>
              [
                platformName(r.platform),
                <code key={r.external_id} className="font-mono text-xs break-all">
                  {r.external_id}
                </code>,
              ] as [string, React.ReactNode],
          ),
          ...(a.tags.length > 0 ? ([[t.tags, a.tags.join(", ")]] as [string, string][]) : []),
          [t.detail.createdBy, `${a.created_by.name ?? words(a.created_by.type)}, ${instant(a.created_at)}`],
          [t.detail.updated, instant(a.updated_at)],
          [
            t.detail.id,
            <code key="id" className="font-mono text-xs">
              {a.id}
            </code>,
          ],
        ]}
      />
    </Card>
  );
}

function EditForm({ audience: a, close }: { audience: Audience; close: () => void }) {
  const [name, setName] = useState(a.name);
  const [description, setDescription] = useState(a.description ?? "");
  const [tags, setTags] = useState(a.tags.join(", "));
  const [definition, setDefinition] = useState(a.definition);
  const patch = usePatch(a.id);
  const f = patch.error instanceof Refusal ? patch.error.fields : {};
  const defined = a.type === "targeting" || a.type === "lookalike";
  const list = tags
    .split(",")
    .map((tag) => tag.trim())
    .filter(Boolean);
  const save = () =>
    patch.mutate(
      { name, description: description || null, tags: list, ...(defined ? { definition } : {}) },
      {
        onSuccess: () => {
          say(t.detail.saved);
          close();
        },
      },
    );
  return (
    <Form
      className="grid gap-5"
      onSubmit={(e) => {
        e.preventDefault();
        save();
      }}
    >
      {patch.error ? <Note tone="bad">{patch.error.message}</Note> : null}
      <TextField label={common.name} value={name} onChange={setName} error={f.name} isRequired />
      <TextField
        label={t.detail.description}
        rows={2}
        value={description}
        onChange={setDescription}
        error={f.description}
      />
      {a.type === "targeting" ? (
        <TargetingBuilder value={definition as Targeting} onChange={setDefinition} errors={f} self={a.id} />
      ) : null}
      {a.type === "lookalike" ? (
        <LookalikeBuilder value={definition as Lookalike} onChange={setDefinition} errors={f} self={a.id} />
      ) : null}
      {a.type === "platform" ? <Note>{t.detail.platformHint}</Note> : null}
      <TextField
        label={t.tags}
        hint={t.detail.tagsHint}
        value={tags}
        onChange={setTags}
        error={Object.entries(f).find(([k]) => k.startsWith("tags"))?.[1]}
      />
      <Actions>
        <Button onPress={close}>{common.cancel}</Button>
        <Button type="submit" look="primary" busy={patch.isPending}>
          {common.save}
        </Button>
      </Actions>
    </Form>
  );
}
