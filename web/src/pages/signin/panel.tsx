import type { ReactNode } from "react";
import { useTitle } from "../../lib/title";
import { Note } from "../../ui/feedback";
import type { Try } from "./way";

/** One thing to do, and its name. */
export function Panel({ title, sub, children }: { title: string; sub?: ReactNode; children: ReactNode }) {
  useTitle(title);
  return (
    <>
      <div className="mb-5 text-center">
        <h1 className="text-xl font-semibold break-words">{title}</h1>
        {sub ? <p className="mt-1 text-sm text-muted text-pretty">{sub}</p> : null}
      </div>
      <div className="card p-5">{children}</div>
    </>
  );
}

/** Fields that are sent together; what is wrong with none of them stands above. */
export function Ask({ attempt, children }: { attempt: Try<[]>; children: ReactNode }) {
  return (
    <form
      className="grid gap-4"
      noValidate
      onSubmit={(e) => {
        e.preventDefault();
        attempt.run();
      }}
    >
      {attempt.message ? <Note tone="bad">{attempt.message}</Note> : null}
      {children}
    </form>
  );
}
