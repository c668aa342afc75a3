// Draws a chart with ECharts. Everything is drawn on a canvas, the tooltip too,
// because the page's policy admits no styles inside markup.
import { BarChart, LineChart, PieChart } from "echarts/charts";
import { AriaComponent, GridComponent, LegendComponent, TooltipComponent } from "echarts/components";
import { type EChartsCoreOption, init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { useEffect, useRef } from "react";
import { day, figure, shortCount } from "../lib/format";
import type { ChartData, Series } from "./chart";

use([BarChart, LineChart, PieChart, GridComponent, TooltipComponent, LegendComponent, AriaComponent, CanvasRenderer]);

const palettes = {
  light: [
    "#5451d0",
    "#0b8a8f",
    "#d9822b",
    "#c2418b",
    "#3b82c4",
    "#6f9e2f",
    "#8a6fd1",
    "#b0563a",
    "#4d7c6f",
    "#a38a1f",
    "#7a7a86",
    "#2f5f9e",
  ],
  dark: [
    "#8f8cf5",
    "#3fbfc2",
    "#f0a65a",
    "#ea79b8",
    "#6db1ee",
    "#a3cc5f",
    "#b9a3f2",
    "#de8b70",
    "#82b8a9",
    "#d6c05a",
    "#a7a7b3",
    "#7fa9de",
  ],
};

function option(d: ChartData, dark: boolean): EChartsCoreOption {
  const css = getComputedStyle(document.documentElement);
  const v = (name: string) => css.getPropertyValue(`--${name}`).trim();
  const font = { fontFamily: "Inter Variable, system-ui, sans-serif", fontSize: 11, color: v("muted") };
  const named = (c: string) => (d.dates ? day(c) : c);
  const shared = {
    animationDuration: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 250,
    color: palettes[dark ? "dark" : "light"],
    textStyle: font,
    aria: { enabled: true, decal: { show: d.kind !== "line" && d.kind !== "area" && d.series.length > 1 } },
    tooltip: {
      renderMode: "richText",
      confine: true,
      backgroundColor: v("surface"),
      borderColor: v("line-strong"),
      textStyle: { ...font, fontSize: 12, color: v("ink") },
    },
  };
  if (d.kind === "donut") return { ...shared, ...donut(d, font, v("surface")) };
  const across = d.kind === "hbar";
  const names = {
    type: "category",
    data: d.categories.map(named),
    inverse: across,
    boundaryGap: d.kind === "bar" || across,
    axisLine: { lineStyle: { color: v("line-strong") } },
    axisTick: { show: false },
    axisLabel: { ...font, hideOverlap: true, ...(across ? { width: 130, overflow: "truncate" } : {}) },
  };
  const scale = (right: boolean) => {
    const s = d.series.find((x) => !!x.right === right);
    return {
      type: "value",
      splitNumber: 4,
      splitLine: { show: !right, lineStyle: { color: v("line") } },
      axisLabel: {
        ...font,
        hideOverlap: true,
        formatter: (n: number) => (s ? figure(n, s.format, d.currency, true) : shortCount(n)),
      },
    };
  };
  const values = d.series.some((s) => s.right) ? [scale(false), scale(true)] : [scale(false)];
  const legend = d.series.length > 1;
  return {
    ...shared,
    grid: { left: 8, right: 12, top: legend ? 34 : 14, bottom: 4, containLabel: true },
    legend: legend
      ? { top: 0, left: 0, type: "scroll", itemWidth: 14, itemHeight: 8, icon: "roundRect", textStyle: font }
      : undefined,
    tooltip: {
      ...shared.tooltip,
      trigger: "axis",
      axisPointer: { type: d.kind === "bar" || across ? "shadow" : "line", lineStyle: { color: v("line-strong") } },
      formatter: (points: { dataIndex: number }[]) => told(d, points[0]?.dataIndex ?? 0, named),
    },
    xAxis: across ? values : names,
    yAxis: across ? names : values,
    series: d.series.map((s, i) => drawn(d, s, i, v("faint"), shared.color)),
  };
}

function told(d: ChartData, i: number, named: (c: string) => string): string {
  const lines = d.series.map((s) => `${s.name}: ${figure(s.values[i], s.format, d.currency)}`);
  return [named(d.categories[i] ?? ""), ...lines].join("\n");
}

function drawn(d: ChartData, s: Series, i: number, faint: string, palette: string[]) {
  const own = s.color === undefined ? undefined : palette[s.color % palette.length];
  const color = own ?? (s.before ? faint : undefined);
  const bar = d.kind === "bar" || d.kind === "hbar";
  return {
    name: s.name,
    type: bar ? "bar" : "line",
    data: s.values,
    yAxisIndex: s.right ? 1 : 0,
    stack: d.stacked ? "all" : undefined,
    barMaxWidth: 26,
    itemStyle: bar
      ? { borderRadius: d.kind === "hbar" ? [0, 3, 3, 0] : [3, 3, 0, 0], ...(color ? { color } : {}) }
      : color
        ? { color }
        : {},
    lineStyle: s.before
      ? { type: "dashed", width: 1.5, color, ...(own ? { opacity: 0.6 } : {}) }
      : { width: 2, ...(color ? { color } : {}) },
    areaStyle:
      !bar && !s.before && (d.kind === "area" || (d.series.length <= 2 && i === 0)) ? { opacity: 0.09 } : undefined,
    showSymbol: !bar && s.values.length === 1,
    symbolSize: 5,
    connectNulls: false,
  };
}

function donut(d: ChartData, font: object, ground: string) {
  const s = d.series[0];
  const total = s?.values.reduce<number>((n, x) => n + (x ?? 0), 0) ?? 0;
  return {
    tooltip: undefined,
    legend: {
      orient: "vertical",
      right: 0,
      top: "middle",
      type: "scroll",
      icon: "circle",
      itemWidth: 8,
      textStyle: font,
    },
    series: [
      {
        type: "pie",
        radius: ["58%", "84%"],
        center: ["32%", "50%"],
        itemStyle: { borderColor: ground, borderWidth: 2 },
        label: { show: false },
        data: d.categories.map((c, i) => {
          const n = s?.values[i] ?? 0;
          const share = total > 0 ? Math.round((n / total) * 100) : 0;
          return { name: `${c}  ${share} %`, value: n };
        }),
      },
    ],
  };
}

export default function Plot({
  title,
  data,
  onPick,
}: {
  title: string;
  data: ChartData;
  onPick?: (category: number, series: number) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const pick = useRef(onPick);
  pick.current = onPick;
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    const chart = init(el, undefined, { renderer: "canvas" });
    const draw = () => chart.setOption(option(data, document.documentElement.dataset.theme === "dark"), true);
    draw();
    chart.on("click", (e) => pick.current?.(e.dataIndex, e.seriesIndex ?? 0));
    const size = new ResizeObserver(() => chart.resize());
    size.observe(el);
    const theme = new MutationObserver(draw);
    theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      size.disconnect();
      theme.disconnect();
      chart.dispose();
    };
  }, [data]);
  return <div ref={box} role="img" aria-label={title} className="h-full w-full" />;
}
