import { parseDate } from "@internationalized/date";
import { CalendarDays, ChevronDown, ChevronLeft, ChevronRight } from "lucide-react";
import { useState } from "react";
import {
  Button as AriaButton,
  CalendarCell,
  CalendarGrid,
  CalendarGridBody,
  CalendarGridHeader,
  CalendarHeaderCell,
  DialogTrigger,
  Heading,
  RangeCalendar,
} from "react-aria-components";
import { day } from "../lib/format";
import { addDays, today, useRange } from "../lib/range";
import { useSession } from "../lib/session";
import { common } from "../text/common";
import { Button } from "./button";
import { Select } from "./fields";
import { Popover } from "./overlay";

const presets: [string, (today: string) => [string, string]][] = [
  [common.lastDays(7), (t) => [addDays(t, -7), addDays(t, -1)]],
  [common.lastDays(30), (t) => [addDays(t, -30), addDays(t, -1)]],
  [common.lastDays(90), (t) => [addDays(t, -90), addDays(t, -1)]],
  [common.thisMonth, (t) => [`${t.slice(0, 8)}01`, t]],
  [
    common.lastMonth,
    (t) => {
      const end = addDays(`${t.slice(0, 8)}01`, -1);
      return [`${end.slice(0, 8)}01`, end];
    },
  ],
  [common.thisYear, (t) => [`${t.slice(0, 4)}-01-01`, t]],
];

const cell =
  "grid size-8 place-items-center rounded-md text-sm outline-none data-[outside-month]:hidden data-[hovered]:bg-hover data-[selected]:rounded-none data-[selected]:bg-accent-soft data-[selection-start]:rounded-l-md data-[selection-end]:rounded-r-md data-[selection-start]:bg-accent data-[selection-start]:text-accent-ink data-[selection-end]:bg-accent data-[selection-end]:text-accent-ink data-[focus-visible]:ring-focus data-[disabled]:text-faint";

/** Chooses the period of a page and what to compare it with. */
export function RangePicker({
  comparable = true,
}: {
  /** Whether the page compares with another period. */ comparable?: boolean;
}) {
  const [range, set] = useRange();
  const zone = useSession().workspace.timezone;
  const now = today(zone);
  const [open, setOpen] = useState(false);
  const preset = presets.find(([, of]) => of(now).join() === [range.from, range.to].join())?.[0];
  const shown = preset ?? `${day(range.from)} – ${day(range.to)}`;
  const pick = (from: string, to: string) => {
    set({ from, to });
    setOpen(false);
  };
  return (
    <>
      <DialogTrigger isOpen={open} onOpenChange={setOpen}>
        <Button aria-label={common.periodIs(shown, day(range.from, true), day(range.to, true))}>
          <CalendarDays aria-hidden="true" />
          {shown}
          <ChevronDown className="size-3.5! text-faint" aria-hidden="true" />
        </Button>
        <Popover aria-label={common.period} placement="bottom end" className="flex flex-col sm:flex-row">
          <div className="flex flex-wrap gap-0.5 border-line p-2 max-sm:border-b sm:flex-col sm:border-r">
            {presets.map(([name, of]) => (
              <Button
                key={name}
                look="quiet"
                size="sm"
                className={`justify-start! ${name === preset ? "bg-accent-soft text-accent-text!" : ""}`}
                onPress={() => pick(...of(now))}
              >
                {name}
              </Button>
            ))}
          </div>
          <div className="p-3">
            <RangeCalendar
              aria-label={common.days}
              defaultValue={{ start: parseDate(range.from), end: parseDate(range.to) }}
              defaultFocusedValue={parseDate(range.to)}
              maxValue={parseDate(now)}
              onChange={(v) => pick(v.start.toString(), v.end.toString())}
            >
              <div className="mb-2 flex items-center justify-between">
                <AriaButton
                  slot="previous"
                  className="grid size-7 place-items-center rounded-md text-muted outline-none hover:bg-hover focus-visible:ring-focus"
                >
                  <ChevronLeft className="size-4" aria-hidden="true" />
                </AriaButton>
                <Heading className="text-sm font-medium" />
                <AriaButton
                  slot="next"
                  className="grid size-7 place-items-center rounded-md text-muted outline-none hover:bg-hover focus-visible:ring-focus"
                >
                  <ChevronRight className="size-4" aria-hidden="true" />
                </AriaButton>
              </div>
              <CalendarGrid className="num">
                <CalendarGridHeader>
                  {(name) => (
                    <CalendarHeaderCell className="size-8 text-xs font-normal text-faint">{name}</CalendarHeaderCell>
                  )}
                </CalendarGridHeader>
                <CalendarGridBody>{(date) => <CalendarCell date={date} className={cell} />}</CalendarGridBody>
              </CalendarGrid>
            </RangeCalendar>
            <p className="mt-2 text-xs text-faint">{common.daysIn(zone)}</p>
          </div>
        </Popover>
      </DialogTrigger>
      {comparable ? (
        <Select
          label={common.compareWith}
          hideLabel
          className="w-44"
          value={range.compare}
          onChange={(v) => set({ compare: v as typeof range.compare })}
          options={[
            { id: "previous_period", label: common.vsPeriod },
            { id: "previous_year", label: common.vsYear },
            { id: "none", label: common.noComparison },
          ]}
        />
      ) : null}
    </>
  );
}
