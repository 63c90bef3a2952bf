// A chart over time, drawn by uPlot on a canvas; legend and notes are the page's own.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { hour_minute } from '../formats';
import { use_redraw } from '../model/use';

export interface Line { values: (number | null)[]; colour: string; width?: number; dash?: number[]; fill?: boolean }

export interface ChartProps {
    t: number[];  // ms since 1970
    from: number; to: number;
    lines: Line[]; height: number; width: number;
    ticks: { value: number; text: string; colour?: string }[];  // along the left side
    low: number; high: number;
    place?: (value: number) => number;  // maps a value to what is drawn, for logarithmic axes
    marks?: { at: number; text: string; above?: boolean }[];  // above: the text ends before it, and no line leads down
    label: string;
    bound?: { value: number; colour: string; text: string; label: string };
}

const css = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name.replace(/^var\((.*)\)$/, '$1')).trim();
const font = '11px Inter, system-ui, sans-serif';

function text_hooks(props: ChartProps): uPlot.Plugin {
    return { hooks: { draw: [plot => {
        const pen = plot.ctx, ratio = devicePixelRatio || 1, { left, top, width, height } = plot.bbox;
        pen.save();
        pen.font = font.replace('11px', `${11 * ratio}px`);
        let taken = Infinity;  // marks come newest first; a text that would lie over another is left out
        for (const mark of props.marks ?? []) {
            const x = plot.valToPos(mark.at / 1000, 'x', true);
            if (x < left || x > left + width) continue;
            pen.strokeStyle = pen.fillStyle = css('--muted');
            if (mark.above) {
                pen.textAlign = 'right';
                const begin = x - 10 * ratio - pen.measureText(mark.text).width;
                if (begin > left && x < taken) { pen.fillText(mark.text, x - 10 * ratio, top + height * 0.42); taken = begin; }
                continue;
            }
            pen.setLineDash([2 * ratio, 3 * ratio]);
            pen.beginPath(); pen.moveTo(x, top + height * 0.35); pen.lineTo(x, top + height * 0.82); pen.stroke();
            pen.setLineDash([]);
            pen.textAlign = x > left + width * 0.8 ? 'right' : x < left + width * 0.2 ? 'left' : 'center';
            const room = pen.measureText(mark.text).width, start = pen.textAlign === 'right' ? x - room : pen.textAlign === 'left' ? x : x - room / 2;
            if (start + room < taken) { pen.fillText(mark.text, x, top + height * 0.9); taken = start - 8; }
        }
        if (props.bound) {
            const y = plot.valToPos(props.bound.value, 'y', true);
            pen.strokeStyle = pen.fillStyle = css(props.bound.colour);
            pen.setLineDash([4 * ratio, 3 * ratio]);
            pen.beginPath(); pen.moveTo(left, y); pen.lineTo(left + width, y); pen.stroke();
            pen.textAlign = 'left';
            pen.fillText(props.bound.text, left + 8 * ratio, y + 15 * ratio);
            pen.textAlign = 'right';
            pen.fillText(props.bound.label, left - 8 * ratio, y + 4 * ratio);
        }
        pen.restore();
    }] } };
}

function options(props: ChartProps): uPlot.Options {
    const grid = { stroke: css('--line'), width: 1 }, map = props.place ?? ((value: number) => value);
    const span = (props.to - props.from) / 1000, splits = [0, 0.25, 0.5, 0.75, 1].map(part => props.from / 1000 + part * span);
    return {
        width: props.width, height: props.height, legend: { show: false }, cursor: { show: false }, padding: [8, 14, 0, 0],
        scales: { x: { time: true, range: [props.from / 1000, props.to / 1000] }, y: { range: [map(props.low), map(props.high)] } },
        axes: [
            { stroke: css('--faint'), font, grid: { show: false }, ticks: { show: false }, size: 24, gap: 6, splits: () => splits, values: () => splits.map((at, i) => i === 4 ? 'now' : hour_minute(at * 1000)), border: { show: false } },
            { stroke: css('--faint'), font, grid, ticks: { show: false }, size: 46, gap: 8, splits: () => props.ticks.map(tick => map(tick.value)), values: () => props.ticks.map(tick => tick.text) },
        ],
        series: [{}, ...props.lines.map(line => ({
            stroke: css(line.colour), width: line.width ?? 1.5, points: { show: false }, spanGaps: false,
            ...(line.dash ? { dash: line.dash } : {}), ...(line.fill ? { fill: `${css(line.colour)}22` } : {}),
        }))],
        plugins: [text_hooks(props)],
    };
}

// A drawing holds for so long: a tick of the feed changes no more than a pixel of it.
export const chart_step = (time: number): number => Math.floor(time / 10_000);

export function Chart(props: ChartProps) {
    const box = useRef<HTMLDivElement>(null), redraw = use_redraw();
    useEffect(() => {
        addEventListener('themechange', redraw);
        return () => removeEventListener('themechange', redraw);
    }, []);
    const key = `${props.t.at(-1)} ${props.t.length} ${chart_step(props.from)} ${chart_step(props.to)} ${props.width} ${props.height} ${props.high} ${document.documentElement.dataset['theme']} ${props.marks?.map(mark => mark.text).join()}`;
    useEffect(() => {
        if (props.width < 60) return undefined;
        const map = props.place ?? ((value: number) => value);
        const plot = new uPlot(options(props), [props.t.map(at => at / 1000), ...props.lines.map(line => line.values.map(value => value === null ? null : map(value)))], box.current!);
        return () => plot.destroy();
    }, [key]);
    return <div ref={box} class="chart" role="img" aria-label={props.label} />;
}

export function Sparkline({ values }: { values: (number | null)[] }) {
    const known = values.map(value => value ?? 0), most = Math.max(...known, 1e-9);
    if (known.length < 2) return <span class="faint">–</span>;
    const path = known.map((value, i) => `${(i / (known.length - 1) * 120).toFixed(1)},${(20 - value / most * 17).toFixed(1)}`).join('L');
    return <svg class="spark" width={120} height={22} viewBox="0 0 120 22" preserveAspectRatio="none" aria-hidden="true"><path d={`M${path}`} /></svg>;
}
