// Where everything in the picture lies, from its width and what it shows. Pure.

export interface Layout {
    width: number; height: number; row: number; top: number;
    compact: boolean; tight: boolean;
    rate_right: number; lag_right: number; bar_left: number; bar_right: number;
    owner_left: number; owner_right: number; checkpoint: number;
    blocks: { top: number; height: number }[];
}

const checkpoint_text = 104, figures_text = 186;  // room for the columns at the right
const head = 30, foot = 4, block_min = 58, line_min = 24;

export function layout(width: number, window_height: number, partitions: number, owners: number, coarse: boolean): Layout {
    const compact = width < 1000, tight = width < 760;
    const row = coarse ? 40 : window_height <= 820 ? 23 : 26;
    const wide = Math.min(1, Math.max(0, (width - 1000) / 180));
    const lag_right = tight ? 106 : compact ? 168 : 196, bar_left = lag_right + 14;
    // What is left over goes to the bars and the cables, not to empty columns; where room is short, they give some.
    const fixed = tight ? { bar: 118, left: 76, block: 164, right: 48 } : compact ? { bar: 150, left: 96, block: 176, right: 60 }
        : { bar: 150 + 66 * wide, left: 112 + 38 * wide, block: 190 + 14 * wide, right: 60 + 50 * wide };
    const used = bar_left + fixed.bar + fixed.left + fixed.block + fixed.right + checkpoint_text + (compact ? 0 : figures_text);
    const spare = Math.max(-70, Math.min(width, 1700) - used) * (compact ? 1 : 0.9);
    const bar_right = bar_left + fixed.bar + (compact || spare > 0 ? spare * 0.35 : 0);
    const owner_left = bar_right + fixed.left + (compact || spare > 0 ? spare * 0.3 : 0);
    const owner_right = owner_left + fixed.block + (compact || spare > 0 ? spare * 0.15 : 0);
    const checkpoint = owner_right + fixed.right + (compact || spare > 0 ? spare * 0.2 : 0);
    const gap = owners > 6 ? 6 : owners > 3 ? 14 : 22;
    const many = owners > 8;
    const room = Math.max(partitions * row, owners * (many ? line_min : block_min) + gap * (owners - 1));
    const each = owners ? (room - gap * (owners - 1)) / owners : 0;
    return {
        width, height: head + room + foot, row, top: head, compact, tight,
        rate_right: compact ? 78 : 96, lag_right, bar_left, bar_right, owner_left, owner_right, checkpoint,
        blocks: Array.from({ length: owners }, (_, i) => ({ top: head + i * (each + gap), height: each })),
    };
}

export const row_middle = (place: Layout, partition: number): number => place.top + partition * place.row + place.row / 2;

// The heights at which `ports` cables enter a block, evenly spread around its middle.
export function port(block: { top: number; height: number }, index: number, ports: number): number {
    const room = Math.max(0, Math.min(block.height - 20, (ports - 1) * 16));
    return block.top + block.height / 2 + (ports > 1 ? (index / (ports - 1) - 0.5) * room : 0);
}

export function cable(x1: number, y1: number, x2: number, y2: number): string {
    const bend = (x2 - x1) * 0.52;
    return `M${x1} ${y1.toFixed(1)}C${x1 + bend} ${y1.toFixed(1)} ${x2 - bend} ${y2.toFixed(1)} ${x2} ${y2.toFixed(1)}`;
}
