import { Compass } from "lucide-react";
import { useTitle } from "../lib/title";
import { t } from "../text/shell";
import { ButtonLink } from "../ui/button";
import { Empty } from "../ui/feedback";

export function NotFound() {
  useTitle(t.pageNotFound);
  return (
    <Empty
      icon={<Compass aria-hidden="true" />}
      title={t.pageNotFound}
      action={<ButtonLink href="/">{t.toOverview}</ButtonLink>}
    >
      {t.pageNotFoundHint}
    </Empty>
  );
}
