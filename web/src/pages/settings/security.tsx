import { t } from "../../text/settings";
import { PageHeader } from "../../ui/display";
import { PasskeysCard } from "./passkeys";
import { PasswordCard } from "./passwordcard";
import { SessionsCard } from "./sessions";
import { TwoFactorCard } from "./twofactor";

export function Security() {
  return (
    <>
      <PageHeader title={t.security.title} sub={t.security.sub} />
      <div className="grid gap-4">
        <PasskeysCard />
        <PasswordCard />
        <TwoFactorCard />
        <SessionsCard />
      </div>
    </>
  );
}
