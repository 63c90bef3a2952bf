// Hooks that redraw a component when a model changes, or while something counts.
import { useEffect, useReducer } from 'preact/hooks';
import type { GroupModel } from './group';

export function use_redraw(): () => void {
    const [, redraw] = useReducer((n: number) => n + 1, 0);
    return redraw as unknown as () => void;
}

export function use_model(model: GroupModel): void {
    const redraw = use_redraw();
    useEffect(() => model.listen(redraw), [model]);
}

// Redraws every `ms` while `on`.
export function use_interval(ms: number, on = true): void {
    const redraw = use_redraw();
    useEffect(() => {
        if (!on) return undefined;
        const timer = setInterval(redraw, ms);
        return () => clearInterval(timer);
    }, [ms, on]);
}
