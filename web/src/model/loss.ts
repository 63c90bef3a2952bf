// Whether events are lost so soon that somebody should look. Loss counts from the hub's retention, so a hub that keeps an hour
// is always less than an hour away from it: half of what it keeps has to be used up as well.

const soon_s = 3600;

export const loss_is_soon = (loss_s: number | null, retention_ms: number | null | undefined): boolean =>
    loss_s !== null && loss_s < Math.min(soon_s, (retention_ms ?? Infinity) / 2000);
