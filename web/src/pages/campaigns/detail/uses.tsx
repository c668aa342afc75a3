// The creatives and audiences of a campaign.

import { useQueries } from "@tanstack/react-query";
import { ImageOff, Palette } from "lucide-react";
import { Link } from "react-aria-components";
import { shortCount } from "../../../lib/format";
import { t } from "../../../text/campaigns";
import { Button } from "../../../ui/button";
import { Card, Status } from "../../../ui/display";
import { Empty, Skeleton } from "../../../ui/feedback";
import { audienceQuery } from "../../audiences/data";
import { type Creative, creativeQuery, named, picture } from "../../creative/data";
import type { Campaign } from "../data";

export function Creatives({ campaign: c, edit }: { campaign: Campaign; edit?: () => void }) {
  const found = useQueries({ queries: c.creative_ids.map(creativeQuery) });
  return (
    <Card title={t.detail.creatives} action={edit ? <Change edit={edit} /> : undefined}>
      {found.length === 0 ? (
        <Empty icon={<Palette aria-hidden="true" />} title={t.detail.noCreatives}>
          {t.detail.noCreativesHint}
        </Empty>
      ) : (
        <ul className="grid grid-cols-2 gap-3 sm:grid-cols-3 xl:grid-cols-4">
          {found.map(({ data, error }, i) => (
            <li key={c.creative_ids[i]} className="min-w-0">
              {data ? (
                <Thumbnail creative={data} />
              ) : error ? (
                <p className="text-sm text-muted">{error.message}</p>
              ) : (
                <Skeleton className="h-32 w-full" />
              )}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function Thumbnail({ creative }: { creative: Creative }) {
  const image = creative.content.media.find((m) => m.mime_type.startsWith("image/"));
  return (
    <Link
      href={`/creative/${creative.id}`}
      className="block overflow-hidden rounded-lg border border-line outline-none hover:border-line-strong focus-visible:ring-focus"
    >
      <div className="grid aspect-[16/10] place-items-center overflow-hidden bg-sunken">
        {image ? (
          <img src={picture(image)} alt={image.alt_text ?? ""} loading="lazy" className="size-full object-cover" />
        ) : creative.content.headline ? (
          <p className="line-clamp-3 px-3 text-center text-sm font-medium text-balance">{creative.content.headline}</p>
        ) : (
          <ImageOff className="size-5 text-faint" aria-hidden="true" />
        )}
      </div>
      <div className="p-2.5">
        <p className="truncate text-sm font-medium">{creative.name}</p>
        <p className="mt-1 flex items-center justify-between gap-2 text-xs text-muted">
          {named(creative.type)}
          <Status value={creative.status} />
        </p>
      </div>
    </Link>
  );
}

export function Audiences({ campaign: c, edit }: { campaign: Campaign; edit?: () => void }) {
  return (
    <Card title={t.detail.audiences} action={edit ? <Change edit={edit} /> : undefined} flush>
      {c.audience_ids.length + c.excluded_audience_ids.length === 0 ? (
        <p className="px-4 pb-4 text-sm text-muted">{t.detail.noAudiences}</p>
      ) : (
        <>
          <AudienceRows ids={c.audience_ids} />
          {c.excluded_audience_ids.length > 0 ? (
            <>
              <h3 className="border-t border-line px-4 pt-2.5 text-xs font-medium text-muted">{t.detail.excluded}</h3>
              <AudienceRows ids={c.excluded_audience_ids} />
            </>
          ) : null}
        </>
      )}
    </Card>
  );
}

function AudienceRows({ ids }: { ids: string[] }) {
  const found = useQueries({ queries: ids.map(audienceQuery) });
  return (
    <ul className="divide-y divide-line">
      {found.map(({ data, error }, i) => (
        <li key={ids[i]} className="flex items-center justify-between gap-3 px-4 py-2.5 text-sm">
          {data ? (
            <>
              <Link
                href={`/audiences/${data.id}`}
                className="min-w-0 truncate rounded-sm py-0.5 outline-none hover:underline focus-visible:ring-focus"
              >
                {data.name}
              </Link>
              <span className="flex shrink-0 items-center gap-2">
                <span className="num text-xs text-muted">{data.size ? shortCount(data.size.estimate) : ""}</span>
                <Status value={data.status} />
              </span>
            </>
          ) : error ? (
            <span className="text-muted">{error.message}</span>
          ) : (
            <Skeleton className="h-4 w-40" />
          )}
        </li>
      ))}
    </ul>
  );
}

function Change({ edit }: { edit: () => void }) {
  return (
    <Button size="sm" look="quiet" onPress={edit}>
      {t.detail.change}
    </Button>
  );
}
