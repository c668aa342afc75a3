// The pages before one is in: sign-in, first set-up, one-time links, resets.

import { type ReactNode, useEffect, useState } from "react";
import { own } from "../../api/client";
import type { Session } from "../../api/console";
import { next } from "../../lib/next";
import mark from "../../mark.svg";
import { common } from "../../text/common";
import { t } from "../../text/signin";
import { Failed } from "../../ui/feedback";
import { Spinner } from "../../ui/spinner";
import { FollowLink } from "./link";
import { AskReset } from "./reset";
import { SecondStep } from "./second";
import { SetUp } from "./setup";
import { SignIn } from "./signin";

export function Door() {
  const [session, setSession] = useState<Session | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [ticket, setTicket] = useState("");
  const load = () => {
    setError(null);
    own<Session>("GET", "/session").then(setSession, setError);
  };
  useEffect(load, []);
  useEffect(() => {
    if (session?.state === "setup" && location.pathname === "/sign-in") location.replace(`/setup${location.search}`);
    if (session?.state === "signed_in" && location.pathname === "/sign-in") location.replace(next());
  }, [session]);
  return (
    <main className="grid min-h-dvh grid-rows-[1fr_auto] justify-items-center px-4">
      <div className="w-full max-w-sm py-12 sm:pt-[14vh]">
        <img src={mark} alt="Fanfare" className="mx-auto mb-6 size-9" />
        {error ? (
          <Failed error={error} retry={load} />
        ) : session === null ? (
          <p role="status" aria-label={common.loading} className="grid place-items-center py-16 text-faint">
            <Spinner className="size-5" />
          </p>
        ) : ticket ? (
          <SecondStep ticket={ticket} back={() => setTicket("")} />
        ) : (
          page(session, setTicket)
        )}
      </div>
      <footer className="flex gap-4 py-4 text-xs text-faint">
        <a href="/docs" className="rounded-sm outline-none hover:text-ink focus-visible:ring-focus">
          {common.documentation}
        </a>
        {session ? <span>{t.product(session.build)}</span> : null}
      </footer>
    </main>
  );
}

function page(session: Session, second: (ticket: string) => void): ReactNode {
  switch (location.pathname) {
    case "/setup":
      return <SetUp session={session} />;
    case "/link":
      return <FollowLink session={session} second={second} />;
    case "/reset":
      return <AskReset mail={session.mail} />;
    default:
      return session.state === "signed_out" ? <SignIn ways={session.ways} second={second} /> : null;
  }
}
