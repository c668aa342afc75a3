import { Compass } from "lucide-react";
import { ButtonLink } from "../ui/button";
import { Empty } from "../ui/feedback";

export function NotFound() {
  return (
    <Empty
      icon={<Compass aria-hidden="true" />}
      title="There is no such page"
      action={<ButtonLink href="/">Go to the overview</ButtonLink>}
    >
      The address may be mistyped, or belong to another workspace.
    </Empty>
  );
}
