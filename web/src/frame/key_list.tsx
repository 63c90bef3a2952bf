// The list of keys, and the switch for single letters.
import { useState } from 'preact/hooks';
import { Dialog, Kbd, Segments } from '../parts/basics';
import { letters_on, set_letters } from './keys';
import { set_theme, theme, type Theme } from './theme';

const list: [string[], string][] = [
    [['g', 'o'], 'Overview'], [['g', 'h'], 'Hubs'], [['g', 'e'], 'Events'], [['g', 's'], 'Send'], [['g', 'p'], 'Processors'], [['g', 'l'], 'Lag'],
    [['g', 'd'], 'Dead letters'], [['g', 'c'], 'Connections'], [['g', 'k'], 'Keys'],
    [['/'], 'Find hubs, groups, members, a partition'], [['?'], 'This list'], [['j', 'k'], 'Next, previous row'], [['Enter'], 'Open'], [['Esc'], 'Close'],
    [['n', 'N'], 'Next, previous problem'], [['[', ']'], 'Previous, next group'], [['1', '2', '3'], 'Picture, grid, table'],
    [['space'], 'Pause or go on live'], [['w'], 'Why is this partition here?'], [['y'], 'Copy the address'], [['t'], 'Dark, light, system'],
];

export function KeyList({ close }: { close(): void }) {
    const [on, set_on] = useState(letters_on()), [chosen, choose] = useState<Theme>(theme());
    return <Dialog title="Keys" close={close} wide>
        <dl class="keylist">{list.map(([keys, what]) => <div><dt>{keys.map(key => <Kbd>{key}</Kbd>)}</dt><dd>{what}</dd></div>)}</dl>
        <div class="row-actions">
            <label class="tick"><input type="checkbox" checked={on} onChange={event => { set_letters(event.currentTarget.checked); set_on(event.currentTarget.checked); }} /> Single letters work</label>
            <span class="sp" />
            <Segments label="Theme" options={[['system', 'System'], ['dark', 'Dark'], ['light', 'Light']] as const} value={chosen} choose={value => { set_theme(value); choose(value); }} />
        </div>
    </Dialog>;
}
