import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import { own } from "../../api/client";
import type { Member, Role, Sent } from "../../api/console";
import { ago, none, words } from "../../lib/format";
import { reaches, useSession } from "../../lib/session";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { Badge } from "../../ui/display";
import { Select } from "../../ui/fields";
import { Confirm, Menu, MenuItem, MenuTrigger } from "../../ui/overlay";
import { DataTable, type TableColumn } from "../../ui/table";
import { say } from "../../ui/toast";
import type { People } from "./people";
import { useProof } from "./prove";
import { useRoleOptions } from "./roles";
import { SentLink } from "./sentlink";

export function MemberTable({ members }: { members: Member[] }) {
  const { user, role, mail } = useSession();
  const { proved, dialog } = useProof();
  const client = useQueryClient();
  const [leaving, setLeaving] = useState<Member | null>(null);
  const [sent, setSent] = useState<Sent | null>(null);
  const options = useRoleOptions();
  const refresh = () => client.invalidateQueries({ queryKey: ["members"] });
  const give = useSetRole(proved);
  const reset = useMutation({
    mutationFn: (m: Member) => proved(() => own<Sent>("POST", `/members/${m.id}/reset`)),
    onSuccess: (s, m) => (s.link ? setSent(s) : say(t.members.resetSent(m.email))),
  });
  const mayTouch = (m: Member) => m.id !== user.id && reaches(role, m.role);
  const columns: TableColumn<Member>[] = [
    {
      id: "name",
      name: t.members.member,
      cell: (m) => (
        <span className="block min-w-0">
          <span className="flex min-w-0 items-center gap-2">
            <span className="truncate font-medium">{m.name || m.email}</span>
            {m.id === user.id ? <Badge>{t.you}</Badge> : null}
            {m.service ? <Badge tone="info">{t.members.service}</Badge> : null}
          </span>
          {m.service ? null : <span className="block truncate text-xs text-muted">{m.email}</span>}
        </span>
      ),
    },
    {
      id: "role",
      name: t.role,
      width: 140,
      cell: (m) =>
        mayTouch(m) ? (
          <Select
            label={t.members.roleOf(m.name || m.email)}
            hideLabel
            className="w-28"
            value={m.role}
            onChange={(to) => to !== m.role && give.mutate({ member: m, to: to as Role })}
            options={options}
          />
        ) : (
          words(m.role)
        ),
    },
    { id: "seen", name: t.members.lastActive, wide: true, width: 150, cell: (m) => lastSeen(m) },
    {
      id: "menu",
      name: <span className="sr-only">{t.actions}</span>,
      label: t.actions,
      width: 60,
      cell: (m) =>
        mayTouch(m) ? (
          <MenuTrigger>
            <Button look="quiet" size="sm" icon aria-label={t.actionsFor(m.name || m.email)}>
              <Ellipsis aria-hidden="true" />
            </Button>
            <Menu label={t.actionsFor(m.name || m.email)}>
              {m.service ? null : (
                <MenuItem onAction={() => reset.mutate(m)}>
                  {mail ? t.members.sendReset : t.members.createReset}
                </MenuItem>
              )}
              <MenuItem danger onAction={() => setLeaving(m)}>
                {t.remove}
              </MenuItem>
            </Menu>
          </MenuTrigger>
        ) : null,
    },
  ];
  return (
    <>
      <DataTable label={t.members.title} columns={columns} rows={members} rowKey={(m) => m.id} empty={null} />
      {dialog}
      <SentLink title={t.members.resetTitle} sent={sent} close={() => setSent(null)}>
        {t.members.resetHint}
      </SentLink>
      <Confirm
        title={t.removeTitle(leaving?.name || leaving?.email || "")}
        action={t.remove}
        danger
        isOpen={!!leaving}
        onOpenChange={() => setLeaving(null)}
        confirm={async () => {
          await own("DELETE", `/members/${leaving?.id}`);
          say(t.removed(leaving?.name || leaving?.email || ""));
          await refresh();
        }}
      >
        {t.members.removeHint}
      </Confirm>
    </>
  );
}

/** Gives a role at once and lets it be taken back. */
function useSetRole(proved: <T>(action: () => Promise<T>) => Promise<T>) {
  const client = useQueryClient();
  const show = (id: string, role: Role) =>
    client.setQueryData<People>(
      ["members"],
      (p) => p && { ...p, members: p.members.map((m) => (m.id === id ? { ...m, role } : m)) },
    );
  const give = useMutation({
    mutationFn: ({ member, to }: { member: Member; to: Role; back?: boolean }) =>
      proved(() => own("PATCH", `/members/${member.id}`, { role: to })),
    onMutate: ({ member, to }) => show(member.id, to),
    onError: (_e, { member }) => show(member.id, member.role),
    onSuccess: (_r, { member, to, back }) => {
      const undo = () => give.mutate({ member: { ...member, role: to }, to: member.role, back: true });
      say(t.members.newRole[to](member.name || member.email), back ? undefined : undo);
      return client.invalidateQueries({ queryKey: ["members"] });
    },
  });
  return give;
}

function lastSeen(m: Member) {
  if (m.service) return <span className="text-muted">{t.members.keyOnly}</span>;
  if (m.last_seen_at) return ago(m.last_seen_at);
  return <span className="text-muted">{m.can_sign_in ? none : t.members.noSignIn}</span>;
}
