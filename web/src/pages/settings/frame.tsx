// The settings: what there is on the left, one page on the right.

import { Outlet, useLocation } from "@tanstack/react-router";
import { Suspense } from "react";
import { Link } from "react-aria-components";
import { reaches, useSession } from "../../lib/session";
import { settingsGroups } from "../../shell/nav";
import { t } from "../../text/settings";
import { SkeletonRows } from "../../ui/feedback";

export function SettingsFrame() {
  const path = useLocation({ select: (l) => l.pathname });
  const role = useSession().role;
  return (
    <div className="lg:grid lg:grid-cols-[11rem_minmax(0,1fr)] lg:gap-10 print:block!">
      <nav
        aria-label={t.title}
        className="mb-5 flex gap-x-5 gap-y-1 overflow-x-auto no-print max-lg:border-b max-lg:border-line max-lg:pb-2 lg:sticky lg:top-6 lg:flex-col lg:self-start"
      >
        {settingsGroups.map((g) => (
          <div key={g.title} className="flex gap-0.5 lg:mb-3 lg:flex-col">
            <p className="px-2 pb-1 text-xs font-medium text-faint max-lg:hidden">{g.title}</p>
            {g.places
              .filter((p) => reaches(role, p.least ?? "viewer"))
              .map((p) => (
                <Link
                  key={p.to}
                  href={p.to}
                  aria-current={path === p.to ? "page" : undefined}
                  className={`rounded-md px-2 py-1 text-sm whitespace-nowrap outline-none focus-visible:ring-focus ${path === p.to ? "bg-sunken font-medium text-ink" : "text-muted hover:bg-hover hover:text-ink"}`}
                >
                  {p.name}
                </Link>
              ))}
          </div>
        ))}
      </nav>
      <div className="min-w-0 max-w-4xl">
        <Suspense fallback={<SkeletonRows />}>
          <Outlet />
        </Suspense>
      </div>
    </div>
  );
}
