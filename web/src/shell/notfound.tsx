import { Compass } from "lucide-react";
import { useTitle } from "../lib/title";
import { ButtonLink } from "../ui/button";
import { Empty } from "../ui/feedback";

export function NotFound() {
  useTitle("Page not found");
  return (
    <Empty
      icon={<Compass aria-hidden="true" />}
      title="Page not found"
      action={<ButtonLink href="/">Go to overview</ButtonLink>}
    >
      Check the address. The page may also belong to another workspace.
    </Empty>
  );
}
