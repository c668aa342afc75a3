// Why a connection needs attention, in the console's words. The server's own
// text is for developers: it names fields and requests.
import { instant } from "../../lib/format";
import { t } from "../../text/connections";
import type { Connection } from "./queries";

type Reason = NonNullable<Connection["status_reason"]>;

/** What is wrong and how to fix it. Reasons of the platforms keep the server's text, which names accounts and codes. */
export function explain(c: Connection, reason: Reason): { message: string; fix: string | null } {
  const r = t.reasons;
  switch (reason.code) {
    case "choose_accounts":
      return { message: r.choose(c.accounts.length), fix: r.chooseFix };
    case "credentials_expiring":
      return {
        message: r.expiring,
        fix: c.credentials_expire_at ? r.expiringFix(instant(c.credentials_expire_at)) : null,
      };
    case "account_changed":
      return { message: r.changed, fix: r.changedFix };
    case "account_not_listed":
      return { message: r.unlisted, fix: r.unlistedFix };
    case "data_lost":
      return { message: t.lost.title, fix: null };
    case "access_kept":
      return { message: r.kept, fix: r.keptFix };
    case "access_in_use":
      return { message: r.inUse, fix: null };
    default:
      // A remedy that names a request is for programs; on this page it is Reconnect.
      return {
        message: reason.message,
        fix: reason.remediation?.includes("/v1/") ? t.access.endedHint : reason.remediation,
      };
  }
}
