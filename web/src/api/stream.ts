// Cuts a text/event-stream into its events. Pure: fed with text as it arrives.

export interface StreamEvent { event: string; data: string; id: string | null }

const line_bytes_max = 64 * 1024 * 1024;  // a snapshot of the largest hub is far below

export class StreamParser {
    private rest = '';
    private event = '';
    private data: string[] = [];
    private id: string | null = null;

    // Returns the events that are complete now, in order.
    push(text: string): StreamEvent[] {
        this.rest += text;
        if (this.rest.length > line_bytes_max) throw new Error('a line of the live feed is too long');
        const found: StreamEvent[] = [];
        for (;;) {
            const end = this.rest.indexOf('\n');
            if (end < 0) return found;
            const line = this.rest.slice(0, end).replace(/\r$/, '');
            this.rest = this.rest.slice(end + 1);
            const complete = this.line(line);
            if (complete) found.push(complete);
        }
    }

    private line(line: string): StreamEvent | null {
        if (line === '') {
            const complete = this.data.length ? { event: this.event || 'message', data: this.data.join('\n'), id: this.id } : null;
            this.event = '';
            this.data = [];
            return complete;
        }
        if (line.startsWith(':')) return null;
        const at = line.indexOf(':'), field = at < 0 ? line : line.slice(0, at);
        const value = at < 0 ? '' : line.slice(at + 1).replace(/^ /, '');
        if (field === 'event') this.event = value;
        else if (field === 'data') this.data.push(value);
        else if (field === 'id') this.id = value;
        return null;
    }
}
