import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import { own } from "../../api/client";
import type { Member, Role, Sent } from "../../api/console";
import { ago, none, words } from "../../lib/format";
import { reaches, useSession } from "../../lib/session";
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
  const { user, role } = useSession();
  const { proved, dialog } = useProof();
  const client = useQueryClient();
  const [leaving, setLeaving] = useState<Member | null>(null);
  const [sent, setSent] = useState<Sent | null>(null);
  const options = useRoleOptions();
  const refresh = () => client.invalidateQueries({ queryKey: ["members"] });
  const give = useSetRole(proved);
  const reset = useMutation({
    mutationFn: (m: Member) => proved(() => own<Sent>("POST", `/members/${m.id}/reset`)),
    onSuccess: (s, m) => (s.link ? setSent(s) : say(`A link is on its way to ${m.email}.`)),
  });
  const mayTouch = (m: Member) => m.id !== user.id && reaches(role, m.role);
  const columns: TableColumn<Member>[] = [
    {
      id: "name",
      name: "Member",
      cell: (m) => (
        <span className="block min-w-0">
          <span className="flex min-w-0 items-center gap-2">
            <span className="truncate font-medium">{m.name || m.email}</span>
            {m.id === user.id ? <Badge>You</Badge> : null}
            {m.service ? <Badge tone="info">Service</Badge> : null}
          </span>
          {m.service ? null : <span className="block truncate text-xs text-muted">{m.email}</span>}
        </span>
      ),
    },
    {
      id: "role",
      name: "Role",
      width: 140,
      cell: (m) =>
        mayTouch(m) ? (
          <Select
            label={`Role of ${m.name || m.email}`}
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
    { id: "seen", name: "Last seen", wide: true, width: 150, cell: (m) => lastSeen(m) },
    {
      id: "menu",
      name: <span className="sr-only">Actions</span>,
      label: "Actions",
      width: 60,
      cell: (m) =>
        mayTouch(m) ? (
          <MenuTrigger>
            <Button look="quiet" size="sm" icon aria-label={`Actions for ${m.name || m.email}`}>
              <Ellipsis aria-hidden="true" />
            </Button>
            <Menu label={`Actions for ${m.name || m.email}`}>
              {m.service ? null : <MenuItem onAction={() => reset.mutate(m)}>Reset link</MenuItem>}
              <MenuItem danger onAction={() => setLeaving(m)}>
                Remove
              </MenuItem>
            </Menu>
          </MenuTrigger>
        ) : null,
    },
  ];
  return (
    <>
      <DataTable label="Members" columns={columns} rows={members} rowKey={(m) => m.id} empty={null} />
      {dialog}
      <SentLink title="Reset link" sent={sent} close={() => setSent(null)}>
        Whoever opens it chooses a new password. It works once, for an hour.
      </SentLink>
      <Confirm
        title={`Remove ${leaving?.name || leaving?.email}`}
        action="Remove"
        danger
        isOpen={!!leaving}
        onOpenChange={() => setLeaving(null)}
        confirm={async () => {
          await own("DELETE", `/members/${leaving?.id}`);
          say(`${leaving?.name || leaving?.email} is removed.`);
          await refresh();
        }}
      >
        Their sessions here end and their keys stop working at once. What they made stays.
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
      say(`${member.name || member.email} is ${words(to).toLowerCase()} now.`, back ? undefined : undo);
      return client.invalidateQueries({ queryKey: ["members"] });
    },
  });
  return give;
}

function lastSeen(m: Member) {
  if (m.service) return <span className="text-muted">Only by key</span>;
  if (m.last_seen_at) return ago(m.last_seen_at);
  return <span className="text-muted">{m.can_sign_in ? none : "Has no way in yet"}</span>;
}
