import { useNavigate, useSearch } from "@tanstack/react-router";
import { Bot, Lock, UserPlus } from "lucide-react";
import { words } from "../../lib/format";
import { useMay, useSession } from "../../lib/session";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { Card, Facts, PageHeader } from "../../ui/display";
import { Empty, Failed, SkeletonRows } from "../../ui/feedback";
import { AddService } from "./addservice";
import { Invitations } from "./invitations";
import { Invite } from "./invite";
import { MemberTable } from "./membertable";
import { usePeople } from "./people";
import { roles } from "./roles";

export function Members() {
  const search = useSearch({ strict: false }) as { new?: unknown };
  const navigate = useNavigate();
  const open = (what?: "person" | "service") =>
    navigate({ to: ".", replace: true, search: ((old: object) => ({ ...old, new: what })) as never });
  const may = useMay("admin");
  return (
    <>
      <PageHeader title={t.members.title} sub={t.members.sub}>
        {may ? (
          <>
            <Button onPress={() => open("service")}>
              <Bot aria-hidden="true" />
              {t.members.addService}
            </Button>
            <Button look="primary" onPress={() => open("person")}>
              <UserPlus aria-hidden="true" />
              {t.members.invite}
            </Button>
          </>
        ) : null}
      </PageHeader>
      <div className="grid gap-4">
        {may ? <Lists /> : <Closed />}
        <Card title={t.members.roles}>
          <Facts items={roles.map((r) => [words(r.id), r.may])} />
        </Card>
      </div>
      {may ? <Invite isOpen={!!search.new && search.new !== "service"} close={() => open()} /> : null}
      {may ? <AddService isOpen={search.new === "service"} close={() => open()} /> : null}
    </>
  );
}

function Closed() {
  const { role } = useSession();
  return (
    <Card>
      <Empty icon={<Lock aria-hidden="true" />} title={t.members.youAre[role === "editor" ? "editor" : "viewer"]}>
        {t.members.youAreHint}
      </Empty>
    </Card>
  );
}

function Lists() {
  const people = usePeople();
  if (people.isPending) {
    return (
      <Card flush>
        <SkeletonRows rows={3} />
      </Card>
    );
  }
  if (people.error) {
    return (
      <Card>
        <Failed error={people.error} retry={people.refetch} />
      </Card>
    );
  }
  return (
    <>
      <Card flush>
        <MemberTable members={people.data.members} />
      </Card>
      {people.data.invitations.length > 0 ? <Invitations list={people.data.invitations} /> : null}
    </>
  );
}
