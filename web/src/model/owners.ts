// Which colour, pattern and letter an owner has: by order of joining, kept for as long as the page knows the id.

export interface Mark { slot: number; colour: number; letters: string; pattern: 'plain' | 'diagonal' | 'dots' }

const colours = 12;

export function mark_of(slot: number): Mark {
    const round = Math.floor(slot / colours), letter = String.fromCharCode(65 + slot % colours);
    return {
        slot,
        colour: slot % colours + 1,
        letters: round === 0 ? letter : (round <= 26 ? String.fromCharCode(64 + round) : String(round)) + letter,
        pattern: round === 1 ? 'diagonal' : round === 2 ? 'dots' : 'plain',
    };
}

export class OwnerMarks {
    private slots = new Map<string, number>();

    // `members` in order of joining, then other ids that are still shown. A new id takes the lowest slot that none of them has.
    update(members: readonly string[], others: readonly (string | null)[]): void {
        const shown = new Set<string>(members);
        for (const id of others) if (id !== null) shown.add(id);
        for (const id of [...this.slots.keys()]) if (!shown.has(id)) this.slots.delete(id);
        const used = new Set(this.slots.values());
        for (const id of shown) {
            if (this.slots.has(id)) continue;
            let slot = 0;
            while (used.has(slot)) ++slot;
            used.add(slot);
            this.slots.set(id, slot);
        }
    }

    of(id: string | null): Mark | null {
        const slot = id === null ? undefined : this.slots.get(id);
        return slot === undefined ? null : mark_of(slot);
    }
}
