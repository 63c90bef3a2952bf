// The dashboard's start: theme, links, keys, frame.
import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './style/tokens.css';
import './style/frame.css';
import './style/picture.css';
import './style/pages.css';
import { App } from './frame/app';
import { listen_to_keys } from './frame/keys';
import { apply_theme, watch_system_theme } from './frame/theme';
import { catch_links } from './route';

apply_theme();
watch_system_theme();
catch_links();
listen_to_keys();
const root = document.getElementById('app')!;
root.replaceChildren();  // what index.html shows until now
render(<App />, root);
