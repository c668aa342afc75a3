import { PageHeader } from "../../ui/display";
import { PasskeysCard } from "./passkeys";
import { PasswordCard } from "./passwordcard";
import { SessionsCard } from "./sessions";
import { TwoFactorCard } from "./twofactor";

export function Security() {
  return (
    <>
      <PageHeader title="Security" sub="How you sign in, and where you are signed in." />
      <div className="grid gap-4">
        <PasskeysCard />
        <PasswordCard />
        <TwoFactorCard />
        <SessionsCard />
      </div>
    </>
  );
}
