import { instant } from "../../lib/format";
import { useSession } from "../../lib/session";
import { t } from "../../text/settings";
import { CopyButton } from "../../ui/copy";

/** What programs and support ask for. */
export function Identifiers() {
  const { workspace, user, build } = useSession();
  const items: [string, string][] = [
    [t.general.apiUrl, `${location.origin}/v1`],
    [t.general.workspaceId, workspace.id],
    [t.general.userId, user.id],
  ];
  return (
    <>
      <dl className="divide-y divide-line text-sm">
        {items.map(([name, value]) => (
          <div key={name} className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2 first:pt-0">
            <dt className="w-28 text-muted">{name}</dt>
            <dd className="flex min-w-0 grow items-center justify-between gap-3">
              <code className="min-w-0 font-mono text-xs break-all">{value}</code>
              <CopyButton text={value} />
            </dd>
          </div>
        ))}
      </dl>
      <p className="mt-2 text-xs text-muted">{t.general.created(instant(workspace.created_at), build)}</p>
    </>
  );
}
