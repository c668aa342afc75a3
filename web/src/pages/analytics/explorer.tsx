// Any metrics by any dimensions. The query stands in the URL and is the body
// that programs send, so a link, a copy as code and the page show the same.

import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { Refusal } from "../../api/client";
import { catalogueQuery } from "../../lib/catalogue";
import { t } from "../../text/analytics";
import { ButtonLink } from "../../ui/button";
import { PageHeader } from "../../ui/display";
import { Failed, Note, SkeletonRows } from "../../ui/feedback";
import { ShowCall, tab } from "../../ui/showcall";
import { say } from "../../ui/toast";
import { Builder } from "./builder";
import { Download } from "./download";
import { BodyEditor } from "./editor";
import { drill, linkTo, nameIn, type Query, type Row, readQuery, starters, titleOf } from "./query";
import { Results } from "./results";
import { SavedQueries } from "./saved";
import { ask } from "./values";

interface Search {
  q?: unknown;
  /** The metric of the chart. */
  show?: string;
}

/** How long to wait for the next change before asking. */
const pause = 300;

function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pause);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

function useAnswer(query: Query) {
  // Only what differs in content is another query.
  const body = useSettled(JSON.stringify(query));
  return useInfiniteQuery({
    queryKey: ["analytics", "query", body],
    queryFn: ({ pageParam, signal }) => ask(JSON.parse(body) as Query, signal, pageParam),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    enabled: (JSON.parse(body) as Query).metrics.length > 0,
  });
}

export function Explorer() {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const catalogue = useQuery(catalogueQuery);
  const query = readQuery(search.q);
  const answer = useAnswer(query);
  const refusal = answer.error instanceof Refusal ? answer.error : null;
  const set = (q: Query, replace = true) =>
    navigate({ to: ".", replace, search: ((old: Search) => ({ ...old, q: JSON.parse(JSON.stringify(q)) })) as never });
  const lookAt = (row: Row) => {
    const shown = answer.data?.pages[0];
    if (!shown) return;
    const names = [...(row.dimensions.date ? ["date"] : []), ...(shown.asked.dimensions ?? [])];
    if (names.length === 0) return;
    set(drill(shown.asked, row, shown.meta), false);
    say(t.only(names.map((d) => nameIn(row, d)).join(", ")), () => set(query));
  };
  return (
    <>
      <PageHeader title={t.title} sub={t.sub}>
        <ShowCall call={{ method: "POST", path: "/v1/analytics/query", body: query }} />
        <Download query={query} catalogue={catalogue.data} />
        <SavedQueries query={query} suggestion={titleOf(query, catalogue.data)} />
      </PageHeader>
      <Starters query={query} />
      <div className="grid items-start gap-4 lg:grid-cols-[19.5rem_minmax(0,1fr)] print:block!">
        <section className="card no-print" aria-labelledby="query-title">
          <h2 id="query-title" className="sr-only">
            {t.query}
          </h2>
          <Tabs>
            <TabList aria-label={t.query} className="flex border-b border-line px-2 pt-1">
              <Tab id="build" className={tab}>
                {t.builder}
              </Tab>
              <Tab id="json" className={tab}>
                {t.json}
              </Tab>
            </TabList>
            <TabPanel id="build" className="outline-none">
              {catalogue.data ? (
                <Builder query={query} onChange={set} catalogue={catalogue.data} details={refusal?.details ?? []} />
              ) : catalogue.error ? (
                <Failed error={catalogue.error} retry={catalogue.refetch} />
              ) : (
                <SkeletonRows />
              )}
            </TabPanel>
            <TabPanel id="json" className="outline-none">
              <BodyEditor query={query} onChange={set} />
            </TabPanel>
          </Tabs>
        </section>
        <div className="min-w-0">
          {query.metrics.length === 0 ? (
            <Note>{t.chooseMetric}</Note>
          ) : answer.error ? (
            <Refused error={answer.error} retry={() => answer.refetch()} />
          ) : (
            <Results
              catalogue={catalogue.data}
              answer={answer}
              show={search.show}
              onMetric={(show) =>
                navigate({ to: ".", replace: true, search: ((old: Search) => ({ ...old, show })) as never })
              }
              onDrill={lookAt}
              onChange={set}
            />
          )}
        </div>
      </div>
    </>
  );
}

/** What the server says to a query that it does not answer; the fields say it too. */
function Refused({ error, retry }: { error: Error; retry: () => void }) {
  if (!(error instanceof Refusal) || error.status !== 422) return <Failed error={error} retry={retry} />;
  return (
    <Note tone="bad" title={error.message}>
      <ul className="list-disc pl-4">
        {error.details.map((d) => (
          <li key={`${d.field}${d.message}`}>{d.message}</li>
        ))}
      </ul>
    </Note>
  );
}

/** Queries to begin from. */
function Starters({ query }: { query: Query }) {
  const here = JSON.stringify(query);
  return (
    <nav aria-label={t.templates} className="mb-4 flex flex-wrap gap-1.5 no-print">
      {starters.map((s) => {
        const on = JSON.stringify(s.query) === here;
        return (
          <ButtonLink
            key={s.name}
            href={linkTo(s.query)}
            size="sm"
            aria-current={on ? "true" : undefined}
            className={on ? "border-accent! bg-accent-soft! text-accent-text!" : "text-muted!"}
          >
            {s.name}
          </ButtonLink>
        );
      })}
    </nav>
  );
}
