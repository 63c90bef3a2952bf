// Shows one home from /api/home/NUMBER, as often as there are new aggregates. What comes from the
// server is set as text or as an attribute, never as markup.
'use strict';

const POLL_MS = 2000, POLL_MIN_MS = 1000, POLL_HIDDEN_MS = 5000, RECENT_MS = 120000, HOUR_MS = 3600000;
const NIGHT_ENDS = 6.5, NIGHT_BEGINS = 19, MORNING_BEGINS = 4, MORNING_ENDS = 11;
const SIGNS = {
  'door': 'M6 21V3h11v18M3.5 21h17M14 12v1.5',
  'motion': 'M12 6.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4M12 9v6m0 0-3 6m3-6 3 6M8 12l4-3 4 3',
  'window': 'M4 3h16v18H4zM12 3v18M4 12h16',
  'glass': 'M4 3h16v18H4zM9 3l3 7-4 4 5 7',
  'carbon monoxide': 'M5 17a4 4 0 0 1 1-7.9A6 6 0 0 1 17.5 8 4.5 4.5 0 0 1 18 17z',
};
const part = (id) => document.getElementById(id);

function svg(tag, attributes, text) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}
function html(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

const two = (number) => String(number).padStart(2, '0');
const clock = (ms) => { const at = new Date(ms); return two(at.getHours()) + ':' + two(at.getMinutes()); };
const clockWithSeconds = (ms) => clock(ms) + ':' + two(new Date(ms).getSeconds());
const commas = (number) => Number(number).toLocaleString('en-US');
const dateText = (ms) => { const part = (name, form) => new Date(ms).toLocaleDateString('en-GB', { [name]: form });
  return part('weekday', 'long') + ', ' + part('day', 'numeric') + ' ' + part('month', 'long'); };
const midnight = (now) => { const day = new Date(now); day.setHours(0, 0, 0, 0); return day.getTime(); };
const hourOf = (ms, dayStart) => (ms - dayStart) / HOUR_MS;

// --- what is the matter

// The aggregates are old, or there are none: something between sensor and page stands still.
const isOld = (data) => data.now - data.as_of > Math.max(15000, 3 * data.window_ms);

const span = (minutes) => minutes < 90 ? minutes + ' min' : Math.round(minutes / 60) + ' h';

// A door or window that opened and closed is one happening.
function pairs(happenings) {
  const rows = [], open = new Map();
  for (const what of happenings) {
    const opened = open.get(what.place);
    open.delete(what.place);
    if (opened && what.state === 'closed') { opened.closed = what.at; continue; }
    const row = { ...what };
    rows.push(row);
    if (what.state === 'open') open.set(what.place, row);
  }
  return rows;
}

// What happened, in words.
function words(what) {
  const place = what.place, inside = place.toLowerCase();
  if (what.closed) {
    const minutes = Math.round((what.closed - what.at) / 60000);
    return minutes < 2 ? place + ' opened and closed' : place + ' was open for ' + span(minutes);
  }
  switch (what.kind + ' ' + what.state) {
    case 'door open': case 'window open': return place + ' opened';
    case 'door closed': case 'window closed': return place + ' closed';
    case 'motion motion': return 'Motion, ' + inside;
    case 'glass broken': return 'Glass broke, ' + inside;
    case 'carbon monoxide alarm': return 'Carbon monoxide, ' + inside;
    default: return place + ': ' + what.state;
  }
}

// Two or three words for the middle of the ring, whether it is bad, and whether it is old news.
function verdict(data) {
  const old = isOld(data);
  if (data.incident) {
    const title = data.incident.state === 'broken' ? 'Glass broke' : 'Bad air';
    return { title, sub: data.incident.place.toLowerCase() + ', ' + clock(data.incident.at), bad: true, old };
  }
  if (!data.as_of) return { title: 'No news', sub: 'yet', old };
  if (old) return { title: 'No news', sub: 'since ' + clock(data.as_of), old };
  const last = data.happenings[data.happenings.length - 1];
  if (last && data.now - last.at < RECENT_MS) {
    return { title: last.kind === 'motion' ? 'Someone is up' : 'Someone is here',
             sub: last.place.toLowerCase() + ', ' + clock(last.at) };
  }
  return { title: 'All quiet', sub: last ? 'since ' + clock(last.at) : 'no motion yet' };
}

function stateOf(sensor, data) {
  if (!sensor.known) return '–';
  const recent = data.now - sensor.changed < RECENT_MS;
  switch (sensor.kind) {
    case 'motion':
      if (sensor.changed && recent) return 'motion, ' + clock(sensor.changed);
      return sensor.changed ? 'still since ' + clock(sensor.changed) : 'still';
    case 'glass': return sensor.state === 'broken' ? 'broken, ' + clock(sensor.changed) : 'whole';
    case 'carbon monoxide': return sensor.state === 'alarm' ? 'alarm, ' + clock(sensor.changed) : 'air is good';
    default: return sensor.state === 'open' && sensor.changed ? 'open, ' + clock(sensor.changed) : sensor.state;
  }
}

// Counts of the ten-minute buckets of this day, by bucket of the day.
function ofDay(counts, data, dayStart) {
  const first = Math.round(dayStart / data.bucket_ms), day = new Array(144).fill(0);
  counts.forEach((count, i) => {
    const bucket = data.first_bucket + i - first;
    if (bucket >= 0 && bucket < day.length) day[bucket] += count;
  });
  return day;
}

// --- the ring: noon on top, one stroke for ten minutes

function drawRing(data, dayStart, say) {
  const ring = part('ring'), centre = 220, inner = centre * 0.7, outer = centre * 0.92;
  const point = (hour, radius) => {
    const angle = hour / 24 * 2 * Math.PI + Math.PI / 2;
    return [centre + Math.cos(angle) * radius, centre + Math.sin(angle) * radius];
  };
  const middle = (inner + outer) / 2 + 2, width = outer - inner + 16;
  const [ax, ay] = point(NIGHT_BEGINS, middle), [bx, by] = point(NIGHT_ENDS, middle);
  const strokes = new Array(144).fill(0);
  for (const sensor of data.sensors) ofDay(sensor.counts, data, dayStart).forEach((count, i) => { strokes[i] += count; });
  const most = Math.max(4, ...strokes), now = hourOf(data.now, dayStart);
  const incident = data.incident ? Math.floor(hourOf(data.incident.at, dayStart) * 6) : -1;

  const drawn = [
    svg('circle', { cx: centre, cy: centre, r: middle, class: 's-day', 'stroke-width': width }),
    svg('path', { d: `M${ax} ${ay}A${middle} ${middle} 0 0 1 ${bx} ${by}`, class: 's-night', 'stroke-width': width }),
  ];
  strokes.forEach((count, i) => {
    const length = count ? 6 + Math.min(1, count / most) * (outer - inner - 6) : 2.5;
    const [x1, y1] = point(i / 6 + 0.08, inner), [x2, y2] = point(i / 6 + 0.08, inner + length);
    const isBad = incident >= 0 && i >= incident && count > 0;
    const colour = isBad ? 's-clay' : i / 6 > now ? 's-hair' : count ? 's-leaf' : 's-leaf-2';
    drawn.push(svg('path', { d: `M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}`,
                             class: colour, 'stroke-width': 4.6, 'stroke-linecap': 'round' }));
  });
  const [nx, ny] = point(now, inner - 10);
  drawn.push(svg('circle', { cx: nx, cy: ny, r: 5, class: say.bad ? 'f-clay' : 'f-leaf' }));
  for (const [hour, label] of [[0, 'midnight'], [6, '6'], [12, 'noon'], [18, '18']]) {
    const [x, y] = point(hour, centre * (hour % 12 ? 0.6 : 0.59));
    drawn.push(svg('text', { x, y: y + 4, 'text-anchor': 'middle', class: 'hour' }, label));
  }
  const bad = say.bad ? ' bad' : '';
  drawn.push(svg('text', { x: centre, y: centre - 2, 'text-anchor': 'middle', class: 'big' + bad }, say.title));
  drawn.push(svg('text', { x: centre, y: centre + 25, 'text-anchor': 'middle', class: 'sub' + bad }, say.sub));
  ring.replaceChildren(...drawn);
  ring.setAttribute('aria-label', say.title + ', ' + say.sub);
}

// --- sensors with their day as a strip

function strip(sensor, data, dayStart, isBad) {
  const box = svg('svg', { class: 'strip', viewBox: '0 0 288 16', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  const x = (hour) => hour / 24 * 288, now = Math.min(24, hourOf(data.now, dayStart));
  box.append(svg('rect', { width: 288, height: 16, class: 'f-day' }),
             svg('rect', { width: x(NIGHT_ENDS), height: 16, class: 'f-night' }),
             svg('rect', { x: x(NIGHT_BEGINS), width: 288 - x(NIGHT_BEGINS), height: 16, class: 'f-night' }));
  ofDay(sensor.counts, data, dayStart).forEach((count, i) => {
    if (count) box.append(svg('rect', { x: i * 2, width: 1.6, height: 16, class: 'f-leaf' }));
  });
  box.append(svg('rect', { x: x(now), y: -1, width: 0.8, height: 18, class: 'f-now' }));
  if (isBad) box.append(svg('rect', { x: x(hourOf(sensor.changed, dayStart)) - 2, y: -1, width: 5, height: 18, rx: 2, class: 'f-clay' }));
  return box;
}

function drawSensors(data, dayStart) {
  const concerns = (sensor) => data.incident && sensor.changed >= data.incident.at &&
    (sensor.state === 'broken' || sensor.state === 'alarm' || sensor.state === 'open' || sensor.state === 'motion');
  const order = [...data.sensors];
  // What broke comes first.
  if (data.incident) order.sort((a, b) => (b.place === data.incident.place) - (a.place === data.incident.place));
  const rows = order.map((sensor) => {
    const isBad = Boolean(concerns(sensor)), row = html('div', isBad ? 'sensor bad' : 'sensor');
    const sign = svg('svg', { class: 'sign', viewBox: '0 0 24 24', fill: 'none', 'stroke-width': 1.6,
                              'stroke-linecap': 'round', 'stroke-linejoin': 'round', 'aria-hidden': 'true' });
    sign.append(svg('path', { d: SIGNS[sensor.kind] || '' }));
    const times = ofDay(sensor.counts, data, dayStart).reduce((sum, count) => sum + count, 0);
    const day = html('span', 'strip-words', '');
    day.title = `${sensor.place}: ${commas(times)} times today` + (sensor.changed ? ', last ' + clock(sensor.changed) : '');
    row.setAttribute('role', 'group');
    row.setAttribute('aria-label', day.title);
    row.title = day.title;
    row.append(sign, html('span', 'place', sensor.place), html('span', 'state', stateOf(sensor, data)),
               strip(sensor, data, dayStart, isBad));
    return row;
  });
  const axis = html('div', 'axis'), hours = html('span');
  axis.setAttribute('aria-hidden', 'true');
  for (const hour of ['0', '6', '12', '18', '24']) hours.append(html('span', '', hour));
  axis.append(hours);
  part('sensors').replaceChildren(...rows, axis);
}

// --- the rest

// By when there was motion in each room this morning, to ten minutes. None if that is not so.
function upBy(data, dayStart) {
  const rooms = data.sensors.filter((sensor) => sensor.kind === 'motion')
    .map((sensor) => ofDay(sensor.counts, data, dayStart).findIndex((count, i) => count > 0 && i >= MORNING_BEGINS * 6));
  const last = Math.max(...rooms);
  if (!rooms.length || rooms.includes(-1) || last >= MORNING_ENDS * 6) return '';
  return `${Math.floor((last + 1) / 6)}:${two((last + 1) % 6 * 10)}`;
}

// Some words about the day.
function sentence(data, dayStart) {
  const door = data.sensors.find((sensor) => sensor.place === 'Front door');
  const all = data.sensors.map((sensor) => ofDay(sensor.counts, data, dayStart));
  const total = all.flat().reduce((sum, count) => sum + count, 0);
  if (total === 0) return 'Nothing has happened today.';
  // A door is counted when it opens and when it closes.
  const opened = door ? Math.ceil(ofDay(door.counts, data, dayStart).reduce((sum, count) => sum + count, 0) / 2) : 0;
  const time = upBy(data, dayStart), up = time ? `Everyone was up by ${time}. ` : '';
  if (!opened) return up + 'The front door stayed closed today.';
  return up + `The front door opened ${opened === 1 ? 'once' : commas(opened) + ' times'} today, last at ${clock(door.changed)}.`;
}

function line(tag, what, withSeconds) {
  const row = html(tag, tag === 'li' ? '' : 'happening');
  const time = html('time', '', withSeconds ? clockWithSeconds(what.at) : clock(what.at));
  time.dateTime = new Date(what.at).toISOString();
  row.append(time, html('span', '', words(what)));
  return row;
}

function drawHappenings(data, dayStart) {
  const after = data.incident ? data.happenings.filter((what) => what.at >= data.incident.at) : [];
  const before = pairs(data.happenings.filter((what) => what.at >= dayStart && !after.includes(what))).reverse().slice(0, 8);
  part('alert').hidden = !data.incident;
  part('order').replaceChildren(...after.slice(0, 8).map((what) => line('li', what, true)));
  part('before').textContent = data.incident ? 'Before that' : 'Today';
  part('happenings').replaceChildren(...before.map((what) => line('div', what, false)));
  if (!before.length) part('happenings').append(html('p', 'happening', 'Nothing yet.'));
}

function show(data) {
  const dayStart = midnight(data.now), say = verdict(data);
  document.body.classList.toggle('old', Boolean(say.old));
  part('problem').hidden = true;
  part('home').hidden = false;
  part('date').textContent = dateText(data.now);
  drawRing(data, dayStart, say);
  drawSensors(data, dayStart);
  drawHappenings(data, dayStart);
  part('say').textContent = data.incident ? '' : sentence(data, dayStart);
  part('say').hidden = Boolean(data.incident);
  const age = Math.max(0, Math.round((data.now - data.as_of) / 1000));
  part('fresh').textContent = !data.as_of ? 'No aggregate of this home has come yet.'
    : say.old ? 'The last news is of ' + clockWithSeconds(data.as_of) + '.' : `Up to date, ${age} s ago`;
}

function showProblem(text) {
  part('home').hidden = true;
  part('problem').hidden = false;
  part('problem').textContent = text;
}

// --- asking

function numberInAddress() {
  const found = location.pathname.match(/^\/home\/(.*)$/);
  try { return decodeURIComponent(found ? found[1] : '').slice(0, 20); } catch { return '?'; }
}
const wanted = numberInAddress();
let timer = 0, last = null, lastGood = 0;

async function poll() {
  clearTimeout(timer);
  try {
    const answer = await fetch('/api/home/' + encodeURIComponent(wanted), { signal: AbortSignal.timeout(10000) });
    const data = await answer.json();
    if (answer.status === 404) {
      const number = wanted.replaceAll(',', '');
      const name = /^\d+$/.test(number) ? commas(number) : '“' + wanted + '”';
      return showProblem(`There is no home ${name}. Numbers go from 0 to ${commas(data.homes - 1)}.`);
    }
    if (!answer.ok) throw new Error(data.error);
    lastGood = Date.now();
    last = data;
    show(data);
  } catch (error) {
    if (!last) {
      showProblem('No answer from the server. Trying again.');
    } else {
      // What is known grows old: after a while it is "No news", never "All quiet".
      show({ ...last, now: last.now + Date.now() - lastGood });
      part('fresh').textContent = 'No answer since ' + clockWithSeconds(lastGood) + '. Trying again.';
    }
  }
  const often = last ? Math.min(POLL_MS, Math.max(POLL_MIN_MS, last.window_ms)) : POLL_MS;
  timer = setTimeout(poll, document.hidden ? POLL_HIDDEN_MS : often);
}

part('find').addEventListener('submit', (event) => {
  event.preventDefault();
  const text = part('number').value.trim();
  if (text) location.assign('/home/' + encodeURIComponent(text.replaceAll(',', '')));
});
document.addEventListener('visibilitychange', () => { if (!document.hidden) poll(); });
if (matchMedia('(min-width: 900px)').matches) part('number').placeholder = 'Find a home by number';
part('name').textContent = /^\d+$/.test(wanted) ? 'Home ' + commas(wanted) : 'Home';
document.title = part('name').textContent;
if (wanted) poll(); else showProblem('Which home is yours? Type its number above.');
