import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Lock, Plus, Sparkles } from "lucide-react";
import { useState } from "react";
import { own } from "../../api/client";
import type { Provider } from "../../api/console";
import { useMay } from "../../lib/session";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { Card, PageHeader } from "../../ui/display";
import { Empty, Failed, SkeletonRows } from "../../ui/feedback";
import { ModelBudget } from "./modelbudget";
import { ModelDialog } from "./modeldialog";
import { ModelList } from "./modellist";

export const providersQuery = { queryKey: ["providers"], queryFn: () => own<Provider[]>("GET", "/providers") };

export function Models() {
  const search = useSearch({ strict: false }) as { new?: unknown };
  const navigate = useNavigate();
  const set = (open: boolean) =>
    navigate({ to: ".", replace: true, search: ((old: object) => ({ ...old, new: open ? 1 : undefined })) as never });
  const [edited, setEdited] = useState<Provider | null>(null);
  const may = useMay("admin");
  return (
    <>
      <PageHeader title={t.models.title} sub={t.models.sub}>
        {may ? (
          <Button look="primary" onPress={() => set(true)}>
            <Plus aria-hidden="true" />
            {t.models.add}
          </Button>
        ) : null}
      </PageHeader>
      <div className="grid gap-4">
        <Card title={t.models.title} flush>
          {may ? <Listed add={() => set(true)} edit={setEdited} /> : <Closed />}
        </Card>
        <ModelBudget />
      </div>
      <ModelDialog isOpen={!!search.new && may} close={() => set(false)} />
      <ModelDialog was={edited ?? undefined} isOpen={!!edited} close={() => setEdited(null)} />
    </>
  );
}

function Closed() {
  return (
    <Empty icon={<Lock aria-hidden="true" />} title={t.models.closed}>
      {t.models.closedHint}
    </Empty>
  );
}

function Listed({ add, edit }: { add: () => void; edit: (p: Provider) => void }) {
  const list = useQuery(providersQuery);
  if (list.isPending) return <SkeletonRows rows={2} />;
  if (list.error) return <Failed error={list.error} retry={list.refetch} />;
  if (list.data.length === 0) {
    return (
      <Empty
        icon={<Sparkles aria-hidden="true" />}
        title={t.models.empty}
        action={<Button onPress={add}>{t.models.add}</Button>}
      >
        {t.models.emptyHint}
      </Empty>
    );
  }
  return <ModelList list={list.data} edit={edit} />;
}
