'use strict';
// The page of a run: it asks /troupe/v1, listens to its events, and draws what has changed.
const $ = id => document.getElementById(id);
const page = { run: null, now: null, steps: [], validations: [], events: [], shown: null, step: null, frozen: false,
  chosen: null, marked: null, drawn: null, ahead: 0, heard: 0, isBeginning: false };
const FAULTS = new Set(['recovery-begins', 'failed', 'checkpoint-failed', 'standby-lost']);
const CLASSES = ['weights', 'gradients', 'optimizer', 'activations', 'boundary', 'snapshots', 'copies'].map((name, index) => [name, '--m' + (index + 1)]);

async function ask(path) {
  const answer = await fetch('/troupe/v1/' + path);
  const object = await answer.json();
  if (!answer.ok) {
    throw Object.assign(new Error(object.problem), { isAbsent: answer.status === 404 });
  }
  return object;
}

// Nothing is touched that stays as it is.
function text(element, words) {
  if (element.textContent !== words) {
    element.textContent = words;
  }
}

function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === 'class') {
      element.className = value;
    } else {
      element.setAttribute(key, value);
    }
  }
  element.append(...children);
  return element;
}

const percent = part => (100 * part).toFixed(part < 0.0995 ? 1 : 0) + ' %';
const count = number => Math.round(number).toLocaleString('en');
const duration = seconds => seconds >= 100 ? seconds.toFixed(0) + ' s' : seconds >= 1 ? seconds.toPrecision(3) + ' s' : (1e3 * seconds).toPrecision(3) + ' ms';

function size(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  for (; bytes >= 1024 && unit < units.length - 1; unit++) {
    bytes /= 1024;
  }
  return (unit === 0 ? bytes : bytes.toFixed(1)) + ' ' + units[unit];
}

function figures(pairs) {
  const list = $('figures');
  pairs.forEach(([name, words], index) => {
    if (!list.children[index]) {
      list.append(make('div', {}, make('dt'), make('dd')));
    }
    text(list.children[index].children[0], name);
    text(list.children[index].children[1], words);
  });
  while (list.children.length > pairs.length) {
    list.lastChild.remove();
  }
}

function header() {
  const { run, now } = page;
  if (!run || !now) {
    return;
  }
  text($('name'), run.name);
  document.title = run.name + ' · Troupe';
  const world = run.layout;
  text($('plan'), `${run.plan.name} P${run.plan.pipeline} V${run.plan.virtual_stages} M${run.plan.microbatches}`
    + (world.tensor > 1 ? ` T${world.tensor}` : '') + (world.data > 1 ? ` D${world.data}` : '') + ` · ${run.engine}`);
  text($('health'), now.state.toUpperCase() + (now.epoch ? ' epoch ' + now.epoch : ''));
  $('health').className = 'chip ' + now.health;
  const shown = [['step', `${count(now.steps_done)} of ${count(run.steps)}`]];
  if (now.seconds !== undefined) {
    shown.push(['loss', now.loss.toPrecision(5)], ['tokens/s', count(now.tokens_per_second)], ['last step', duration(now.seconds)]);
  }
  if (now.traced) {
    shown.push([`step ${now.traced.step}`, `measured ${Drawing.milliseconds(now.traced.ns)}, planned ${Drawing.milliseconds(now.traced.planned_ns)}`]);
  }
  if (now.goodput !== undefined) {
    shown.push(['goodput', percent(now.goodput)]);
  }
  figures(shown);
  text($('sentences'), now.sentences.join('\n'));
  $('sentences').className = now.health;
  freshness();
}

function freshness() {
  const { now } = page;
  if (!now) {
    return;
  }
  const isLive = !['done', 'stopped', 'failed', 'lost'].includes(now.state);
  const silent = (performance.now() - page.heard) / 1e3;
  const age = (Date.now() + page.ahead - (now.last_step_ms || now.time_ms)) / 1e3;
  text($('fresh'), silent > 5
    ? `no word from the server for ${silent.toFixed(0)} s`
    : isLive ? `live, last step ${age < 1 ? 'just now' : age.toFixed(0) + ' s ago'}` : 'over since ' + new Date(now.last_step_ms || now.time_ms).toLocaleString());
}

async function show(number) {
  try {
    page.step = unfolded(await ask(`steps/${number}?form=drawing`));
    page.shown = number;
    page.chosen = page.marked = null;
    drawStep();
  } catch (problem) {
    text($('step-text'), problem.message);
  }
}

// A step as it is drawn, from rows of numbers; its messages are asked for once somebody points at an action.
function unfolded(step) {
  step.messages = null;
  for (const rank of step.ranks) {
    const { actions, times_ns: times } = rank;
    rank.actions = actions.map((action, index) => {
      const [, kind, microbatch] = /([A-Z_]+)(\d*)$/.exec(action);
      return { action, kind, microbatch, start_ns: times[4 * index], end_ns: times[4 * index + 1], planned_start_ns: times[4 * index + 2],
        planned_end_ns: times[4 * index + 3] };
    });
    rank.gaps = rank.gaps.map(([place, inside, start_ns, ns, ...parts]) => ({ action: actions[place], inside: inside === 1, start_ns, ns,
      parts: parts.map(([cause, length, root, action]) => ({ cause: step.causes[cause], ns: length, rank: root, action })) }));
  }
  return step;
}

async function messages(step) {
  step.asked = step.asked || ask(`steps/${step.step}?form=messages`);
  step.messages = (await step.asked).messages;
}

function drawStep() {
  const begun = performance.now();
  const { step } = page;
  if (!step) {
    return;
  }
  document.body.dataset.traced = 'true'; // its sections are shown before they are drawn: what is hidden has no width
  const late = step.end_ns / Math.max(1, step.planned_ns + step.begin_ns) - 1;
  text($('step-text'), `step ${step.step}: measured ${Drawing.milliseconds(step.end_ns)}, planned ${Drawing.milliseconds(step.planned_ns)} (${late < 0 ? '' : '+'}${(100 * late).toFixed(1)} %)`
    + (step.tags.length ? ' · ' + step.tags.join(', ') : ''));
  if ($('timeline').clientWidth > 0) {
    page.drawn = Drawing.timeline($('timeline'), step, page.chosen, page.marked);
  }
  const shares = step.ranks.map(Drawing.shares);
  bars(shares);
  narrow(shares);
  causes();
  document.body.dataset.redrawMs = (performance.now() - begun).toFixed(1);
  document.body.dataset.step = step.step;
}

function bars(shares) {
  const sum = new Map();
  shares.flat().forEach(part => {
    const all = sum.get(part.name) || { ...part, ns: 0 };
    all.ns += part.ns;
    sum.set(part.name, all);
  });
  const order = [...sum.values()].sort((one, other) => (one.cause ? 1 : 0) - (other.cause ? 1 : 0));
  const rows = shares.map((parts, index) => ['rank ' + page.step.ranks[index].rank, parts]).concat([['all', order]]);
  const list = $('bars');
  rows.forEach(([name, parts], index) => {
    if (!list.children[index]) {
      list.append(make('div', { class: 'row' }, make('span', { class: 'number' }), make('canvas', { role: 'img' }), make('span', { class: 'number' })));
    }
    const row = list.children[index];
    row.classList.toggle('sum', index === rows.length - 1);
    const whole = parts.reduce((all, part) => all + part.ns, 0) || 1;
    const words = parts.map(part => `${part.name} ${percent(part.ns / whole)}`).join(', ');
    text(row.children[0], name);
    if (row.title !== words) {
      row.title = words;
      row.children[1].setAttribute('aria-label', words);
    }
    text(row.children[2], percent(parts.filter(part => !part.cause).reduce((all, part) => all + part.ns, 0) / whole) + ' computing');
  });
  while (list.children.length > rows.length) {
    list.lastChild.remove();
  }
  const { clientWidth, clientHeight } = list.children[0].children[1]; // those of all: the browser lays the page out once
  rows.forEach(([, parts], index) => Drawing.bar(list.children[index].children[1], parts, clientWidth, clientHeight));
  legend(order);
}

function legend(parts) {
  const names = parts.map(part => part.name).join();
  if ($('legend').dataset.names === names) {
    return;
  }
  $('legend').dataset.names = names;
  $('legend').replaceChildren(...parts.map(part => make('span', {}, make('canvas'), part.name)));
  parts.forEach((part, index) => Drawing.bar($('legend').children[index].firstChild, [{ ...part, ns: 1 }]));
}

// What a phone shows in place of the drawing.
function narrow(shares) {
  if ($('ranks-list').clientWidth === 0) {
    return;
  }
  $('ranks-list').replaceChildren(...shares.map((parts, index) => {
    const whole = parts.reduce((all, part) => all + part.ns, 0) || 1;
    return make('li', {}, make('b', {}, 'rank ' + page.step.ranks[index].rank), ' ',
      parts.filter(part => part.ns > 0.005 * whole).map(part => `${part.name} ${percent(part.ns / whole)}`).join(' · '), make('canvas'));
  }));
  shares.forEach((parts, index) => Drawing.bar($('ranks-list').children[index].querySelector('canvas'), parts));
}

function causes() {
  const { step } = page;
  const roots = new Map();
  const last = step.ranks.reduce((latest, rank) => end(rank) > end(latest) ? rank : latest);
  for (const rank of step.ranks) {
    for (const gap of rank.gaps) {
      for (const part of gap.parts) {
        const key = `rank ${part.rank}${part.action ? ', ' + part.action : ''}`;
        const ofCause = roots.get(part.cause) || new Map();
        ofCause.set(key, (ofCause.get(key) || 0) + part.ns);
        roots.set(part.cause, ofCause);
      }
    }
  }
  const whole = step.end_ns * step.ranks.length;
  const rows = Drawing.CAUSES.filter(cause => step.idle_ns[cause]).sort((one, other) => step.idle_ns[other] - step.idle_ns[one]);
  $('causes').tBodies[0].replaceChildren(...rows.map(cause => {
    const [most] = [...(roots.get(cause) || new Map())].sort((one, other) => other[1] - one[1]);
    return make('tr', {}, make('td', {}, cause), make('td', { class: 'right' }, Drawing.milliseconds(step.idle_ns[cause])),
      make('td', { class: 'right' }, percent(step.idle_ns[cause] / whole)),
      make('td', { class: 'right' }, last.idle_ns[cause] ? Drawing.milliseconds(last.idle_ns[cause]) : '-'), make('td', {}, most && cause !== 'plan' ? most[0] : ''));
  }));
}

const end = rank => rank.actions.length ? rank.actions[rank.actions.length - 1].end_ns : 0;

function describe(item) {
  const { step } = page;
  if (item.gap) {
    return `rank ${item.rank.rank} waits ${Drawing.milliseconds(item.gap.ns)} ${item.gap.action ? 'for ' + item.gap.action : 'for the end'}: `
      + item.gap.parts.map(part => `${Drawing.milliseconds(part.ns)} ${part.cause}${part.cause === 'plan' ? '' : ` (rank ${part.rank}${part.action ? ', ' + part.action : ''})`}`).join(', ');
  }
  const action = item.action;
  if (!step.messages) {
    messages(step).then(() => page.step === step && page.chosen === item && choose(item), () => {});
  }
  const kind = action.kind === 'F' ? 'SEND_F' : 'SEND_B';
  const input = step.messages && 'FBI'.includes(action.kind) && step.messages.filter(message => message.to === item.rank.rank
    && message.message.endsWith(kind + action.microbatch) && message.landed_ns <= action.end_ns)
    .sort((one, other) => other.landed_ns - one.landed_ns)[0];
  return `rank ${item.rank.rank} ${action.action}: starts at ${Drawing.milliseconds(action.start_ns)}, takes ${Drawing.milliseconds(action.end_ns - action.start_ns)}`
    + `; planned at ${Drawing.milliseconds(step.begin_ns + action.planned_start_ns)} for ${Drawing.milliseconds(action.planned_end_ns - action.planned_start_ns)}`
    + (input ? `; input ${input.message} of rank ${input.from} landed at ${Drawing.milliseconds(input.landed_ns)}, ${Drawing.milliseconds(input.landed_ns - input.sent_ns)} after it was sent, ${size(input.bytes)}`
      + (input.without_credit_ns ? `, ${Drawing.milliseconds(input.without_credit_ns)} without credit` : '') : '');
}

function choose(item) {
  if (item && item !== page.chosen) {
    page.chosen = item;
    page.drawn = Drawing.timeline($('timeline'), page.step, page.chosen, page.marked);
  }
  if (item) {
    text($('detail'), describe(item) + (page.marked && page.marked !== item
      ? ` · ${Drawing.milliseconds(item.from - page.marked.from)} after ${page.marked.action ? page.marked.action.action : 'the gap'} of rank ${page.marked.rank.rank}` : ''));
  }
}

function keys(event) {
  const rows = page.drawn && page.drawn.rows;
  if (!rows) {
    return;
  }
  const row = page.chosen ? page.step.ranks.indexOf(page.chosen.rank) : 0;
  const place = page.chosen ? rows[row].findIndex(item => item.from === page.chosen.from && item.to === page.chosen.to) : -1;
  const near = (items, ns) => items.reduce((best, item) => Math.abs(item.from - ns) < Math.abs(best.from - ns) ? item : best, items[0]);
  const next = { ArrowRight: () => rows[row][place + 1], ArrowLeft: () => rows[row][place - 1],
    ArrowDown: () => rows[row + 1] && near(rows[row + 1], page.chosen ? page.chosen.from : 0),
    ArrowUp: () => rows[row - 1] && near(rows[row - 1], page.chosen ? page.chosen.from : 0), Home: () => rows[row][0],
    End: () => rows[row][rows[row].length - 1], Enter: () => (page.marked = page.chosen) }[event.key];
  if (next) {
    event.preventDefault();
    choose(next());
  }
}

const TRENDS = [['loss', 'loss', step => step.loss], ['norm', 'gradient norm', step => step.gradient_norm === null ? NaN : step.gradient_norm],
  ['seconds', 'step time', step => step.seconds]];
const EXPERT_TRENDS = [['entropy', 'entropy of expert loads', step => step.expert_entropy],
  ['highest', 'highest load of an expert', step => step.expert_highest_load],
  ['idle', 'share of experts without tokens', step => step.expert_idle],
  ['dropped', 'share of dropped choices', step => step.expert_dropped]];

function drawTrend() {
  if (page.steps.length) {
    document.body.dataset.stepped = 'true';
  }
  const trends = page.steps.some(step => 'expert_entropy' in step) ? [...TRENDS, ...EXPERT_TRENDS] : TRENDS;
  if ($('trend').children.length < trends.length) {
    $('trend').replaceChildren(...trends.map(() => make('figure', {}, make('figcaption'), make('canvas', { role: 'img' }))));
  }
  const marks = page.events.filter(event => ['recovery-begins', 'checkpoint', 'checkpoint-failed'].includes(event.event))
    .map(event => ({ step: event.step, isFault: FAULTS.has(event.event) }));
  trends.forEach(([name, title, value], index) => {
    const figure = $('trend').children[index];
    const points = page.steps.map(step => ({ x: step.step, y: value(step) }));
    const last = points.length ? points[points.length - 1].y : NaN;
    const words = Number.isFinite(last) ? `${title}: ${name === 'seconds' ? duration(last) : last.toPrecision(4)}` : title;
    text(figure.firstChild, words);
    figure.lastChild.setAttribute('aria-label', words);
    Drawing.trend(figure.lastChild, points, marks, page.frozen ? page.shown : NaN,
      name === 'seconds' ? duration : value => value.toPrecision(4));
  });
  const brush = $('brush');
  if (page.steps.length) {
    brush.min = page.steps[0].step;
    brush.max = page.steps[page.steps.length - 1].step;
    if (!page.frozen) {
      brush.value = brush.max;
      text($('brush-text'), brush.max);
    }
  }
}

async function drawMemory() {
  const memory = await ask('memory');
  const largest = Math.max(...memory.ranks.map(rank => CLASSES.reduce((sum, [name]) => sum + rank[name], 0)), 1);
  const used = CLASSES.filter(([name]) => memory.ranks.some(rank => rank[name] > 0));
  const place = rank => Math.floor(rank / page.run.layout.ranks_per_place);
  $('memory').replaceChildren(
    make('div', { class: 'legend' }, ...used.map(([name]) => make('span', {}, make('canvas'), name))),
    ...memory.ranks.map(rank => make('div', { class: 'row', title: used.map(([name]) => `${name} ${size(rank[name])}`).join(', ') },
      make('span', { class: 'number' }, 'rank ' + rank.rank), make('canvas', { role: 'img', 'aria-label': used.map(([name]) => `${name} ${size(rank[name])}`).join(', ') }),
      make('span', { class: 'number' }, size(CLASSES.reduce((sum, [name]) => sum + rank[name], 0))))),
    make('p', { class: 'number' }, 'announced: the most that each rank takes; activations held at most, by place: '
      + memory.peak_activations.join(', ') + (memory.process && memory.process.resident_bytes
      ? `. The leading process, all its ranks together: ${size(memory.process.resident_bytes)} resident, ${size(memory.process.peak_resident_bytes)} at most, of it ${size(memory.process.shared_bytes)} shared and ${size(memory.process.heap_bytes)} heap.` : '.')));
  used.forEach(([, colour], index) => Drawing.bar($('memory').firstChild.children[index].firstChild, [{ colour, ns: 1 }]));
  memory.ranks.forEach((rank, index) => {
    const sum = CLASSES.reduce((all, [name]) => all + rank[name], 0);
    Drawing.bar($('memory').children[index + 1].children[1], used.map(([name, colour]) => ({ colour, ns: rank[name] }))
      .concat([{ colour: '--ground', ns: largest - sum }]));
  });
}

function microseconds(us) {
  return us >= 1e3 ? (us / 1e3).toFixed(us >= 1e5 ? 0 : 1) + ' ms' : us.toFixed(0) + ' µs';
}

async function drawHops() {
  const hops = await ask('edges');
  const ranks = [...new Set(hops.edges.flatMap(edge => [edge.from, edge.to]))].sort((one, other) => one - other);
  const of = new Map(hops.edges.map(edge => [edge.from + '>' + edge.to, edge]));
  const most = Math.max(...hops.edges.map(edge => edge.p50_us), 1);
  const cell = edge => {
    const td = make('td', edge ? { class: 'edge', title: `${edge.messages} messages, ${size(edge.bytes)}, ${(edge.bytes / edge.messages / Math.max(1, edge.p50_us) / 1e3).toPrecision(3)} GB/s at the median; 99 in 100 within ${microseconds(edge.p99_us)}; `
      + `the longest ${microseconds(edge.longest_us)}; without credit ${Drawing.milliseconds(edge.without_credit_ns)} in all` } : {},
      edge ? `${microseconds(edge.p50_us)} / ${microseconds(edge.p99_us)}` + (edge.without_credit_ns > 0 ? ' ·c' : '') : '');
    if (edge) {
      td.style.setProperty('--heat', (60 * edge.p50_us / most).toFixed(0) + '%');
    }
    return td;
  };
  const table = ranks.length <= 12
    ? make('table', {}, make('tr', {}, make('th', {}, 'from \\ to'), ...ranks.map(rank => make('th', {}, rank))),
      ...ranks.map(from => make('tr', {}, make('th', {}, from), ...ranks.map(to => cell(of.get(from + '>' + to))))))
    : make('table', {}, make('tr', {}, ...['from', 'to', 'messages', 'median / 99 of 100'].map(name => make('th', {}, name))),
      ...[...hops.edges].sort((one, other) => other.p50_us - one.p50_us).slice(0, 40).map(edge => make('tr', {}, make('td', {}, edge.from),
        make('td', {}, edge.to), make('td', {}, edge.messages), cell(edge))));
  $('hops').replaceChildren(table, make('p', { class: 'quiet' }, ranks.length === 0 ? 'No message between ranks is recorded yet.'
    : `From sent to landed, median / 99 of 100, in the newest ${hops.steps} traced steps; ·c: messages waited for credit${ranks.length > 12 ? '; the slowest 40 edges' : ''}.`));
}

function drawEvents() {
  const begins = new Map(page.events.filter(event => event.event === 'recovery-begins').map(event => [event.epoch, event]));
  const items = page.events.slice(-200).reverse().map(event => {
    const cause = event.event === 'recovery' && begins.get(event.epoch);
    const hang = /hang-step-/.test(event.sentence) && event.ranks && event.ranks.length > 0;
    const item = make('li', { class: FAULTS.has(event.event) ? 'fault' : cause ? 'chain' : '' },
      make('span', { class: 'number' }, new Date(event.time_ms).toLocaleTimeString('en-GB')), make('span', { class: 'number' }, 'step ' + event.step),
      make('span', { class: 'number' }, 'ep ' + event.epoch), make('span', { class: 'kind' }, event.event),
      make('span', { class: 'text' }, cause ? `${!event.ranks ? 'no rank had to start again' : event.ranks.length === 1 ? `rank ${event.ranks[0]} has caught up` : `ranks ${event.ranks.join(', ')} have caught up`}, ${duration((event.time_ms - cause.time_ms) / 1e3)} after: ${cause.sentence}` : event.sentence));
    if (hang) {
      const button = make('button', { type: 'button' }, 'stack of rank ' + event.ranks[0]);
      button.addEventListener('click', () => stack(event.ranks[0]));
      item.lastChild.append(' ', button);
    }
    return item;
  });
  $('events').replaceChildren(...(items.length ? items : [make('li', {}, 'Nothing has happened yet.')]));
}

async function stack(rank) {
  const answer = await ask('stack?rank=' + rank).catch(problem => ({ sentence: problem.message, stack: [] }));
  $('stack').hidden = false;
  text($('stack'), [answer.sentence, answer.situation || '', ...answer.stack].join('\n'));
}

async function compare() {
  try {
    const ab = await ask('compare');
    const ratio = ab.ratio;
    $('ab').replaceChildren(make('p', { class: 'number' }, `${ab.runs[0]} against ${ab.runs[1]}, ${ab.pairs} steps in pairs: `
      + (ratio ? `the step times are ${ratio.median.toFixed(4)} to 1 (${percent(ratio.confidence)}: ${ratio.low.toFixed(4)} to ${ratio.high.toFixed(4)}).` : '')),
    make('p', {}, ...ab.sentences.map(sentence => make('span', {}, sentence + ' '))), make('figure', {}, make('figcaption', {}, 'step time ratio'), make('canvas')));
    const canvas = $('ab').querySelector('canvas');
    canvas.style.height = '110px';
    Drawing.trend(canvas, ab.steps.map(step => ({ x: step.step, y: step.ratio })), [], NaN, value => value.toFixed(3));
  } catch (problem) {
    text($('ab'), problem.isAbsent ? '' : problem.message); // one run has nothing to be compared with
  }
}

async function whatIf(event) {
  event.preventDefault();
  const query = new URLSearchParams(new FormData($('whatif')));
  try {
    const answer = await ask('whatif?' + query);
    text($('whatif-answer'), answer.sentences.join(' '));
  } catch (problem) {
    text($('whatif-answer'), problem.message);
  }
}

// A step in the format of Chrome's traces, with an arrow for each message.
async function chromeTrace() {
  const { step } = page;
  await messages(step);
  const events = step.ranks.flatMap(rank => [{ ph: 'M', name: 'thread_name', pid: 0, tid: rank.rank, args: { name: 'rank ' + rank.rank } },
    ...rank.actions.map(action => ({ ph: 'X', pid: 0, tid: rank.rank, name: action.action, cat: action.kind, ts: action.start_ns / 1e3, dur: (action.end_ns - action.start_ns) / 1e3 })),
    ...rank.gaps.filter(gap => !gap.inside).map(gap => ({ ph: 'X', pid: 1, tid: rank.rank, name: gap.parts.map(part => part.cause).join(' '), ts: gap.start_ns / 1e3, dur: gap.ns / 1e3 }))]);
  step.messages.forEach((message, id) => events.push(
    { ph: 's', id, pid: 0, tid: message.from, name: message.message, cat: 'message', ts: message.sent_ns / 1e3 },
    { ph: 'f', bp: 'e', id, pid: 0, tid: message.to, name: message.message, cat: 'message', ts: message.landed_ns / 1e3 }));
  const link = make('a', { download: `step-${step.step}.json` });
  link.href = URL.createObjectURL(new Blob([JSON.stringify({ traceEvents: events })], { type: 'application/json' }));
  link.click();
  URL.revokeObjectURL(link.href);
}

function freeze(isFrozen) {
  page.frozen = isFrozen;
  $('freeze').setAttribute('aria-pressed', isFrozen);
  if (!isFrozen && page.now && page.now.traced) {
    show(page.now.traced.step);
  }
  drawTrend();
}

function traced(number) {
  const all = page.steps.filter(step => step.traced).map(step => step.step);
  return all.length === 0 ? null : all.reduce((best, step) => Math.abs(step - number) < Math.abs(best - number) ? step : best);
}

async function pick(number) {
  if (number !== null && number !== undefined) {
    freeze(true);
    await show(number);
    drawTrend();
  }
}

async function steps() {
  const answer = await ask('steps'); // which of them still have a file changes
  page.steps = answer.steps;
  page.validations = answer.validations;
  drawTrend();
}

const actions = {
  b: async () => {
    await steps();
    const before = page.steps.filter(step => step.traced && step.step < page.shown);
    await pick(before.length ? before[before.length - 1].step : null);
  },
  f: () => freeze(!page.frozen),
  s: async () => {
    await steps();
    const all = page.steps.filter(step => step.traced).sort((one, other) => other.ns - one.ns);
    await pick(all.length ? all[0].step : null);
  },
  t: chromeTrace,
};

const waiting = new Set();
// At most once in a while, and not for a page that nobody sees.
function seldom(name, work, millis) {
  if (!waiting.has(name)) {
    waiting.add(name);
    setTimeout(() => {
      waiting.delete(name);
      if (!document.hidden) {
        work().catch(problem => text($('step-text'), problem.message));
      }
    }, millis);
  }
}

function listen() {
  const source = new EventSource('/troupe/v1/events');
  const hear = (name, use) => source.addEventListener(name, event => {
    page.heard = performance.now();
    use(JSON.parse(event.data));
  });
  hear('step', step => {
    const last = page.steps[page.steps.length - 1];
    if (!last || step.step > last.step) {
      page.steps.push(step);
      seldom('trend', async () => drawTrend(), 200);
    }
  });
  hear('event', event => {
    if (!page.events.some(known => known.id === event.id)) {
      page.events.push(event);
      seldom('events', async () => drawEvents(), 100);
    }
  });
  hear('now', now => {
    page.now = now;
    page.ahead = now.time_ms - Date.now();
    if (!document.body.dataset.ready && !page.isBeginning) {
      seldom('run', begin, 500);
    }
    if (!page.run) {
      return;
    }
    header();
    if (now.traced && now.traced.step !== page.shown && !page.frozen && !document.hidden) {
      show(now.traced.step);
      seldom('hops', drawHops, 3000);
      seldom('memory', drawMemory, 5000);
    }
  });
}

// What a run that has only just begun cannot tell yet is asked for again with its next news.
async function begin() {
  page.isBeginning = true;
  try {
    await drawAll();
    document.body.dataset.ready = 'true';
  } finally {
    page.isBeginning = false;
  }
}

async function drawAll() {
  page.run = await ask('run');
  document.body.dataset.answered = 'true';
  page.now = page.run.now;
  page.ahead = page.now.time_ms - Date.now();
  page.heard = performance.now();
  header();
  $('whatif-stage').replaceChildren(...page.run.layout.stages.map(stage => make('option', {}, stage.stage)));
  $('whatif-schedule').replaceChildren(make('option', {}, page.run.plan.schedule));
  ask('whatif').then(answer => $('whatif-schedule').replaceChildren(...answer.schedules.map(name => make('option', name === page.run.plan.schedule ? { selected: '' } : {}, name))), problem => text($('whatif-answer'), problem.message));
  await steps();
  drawEvents();
  if (page.now.traced) {
    await show(page.now.traced.step);
  }
  await Promise.all([drawMemory(), drawHops(), compare()]);
}

function redraw() {
  Drawing.theme();
  delete $('legend').dataset.names;
  drawStep();
  if (page.run) {
    drawTrend();
    seldom('memory', drawMemory, 0);
  }
}

Drawing.theme();
$('timeline').addEventListener('mousemove', event => choose(page.drawn && page.drawn.find(event.offsetX, event.offsetY)));
$('timeline').addEventListener('click', event => {
  page.marked = page.drawn && page.drawn.find(event.offsetX, event.offsetY);
  choose(page.marked);
});
$('timeline').addEventListener('keydown', keys);
for (const [key, id] of Object.entries({ b: 'back', f: 'freeze', s: 'slowest', t: 'trace' })) {
  $(id).addEventListener('click', actions[key]);
}
document.addEventListener('keydown', event => {
  if (!event.ctrlKey && !event.metaKey && !event.altKey && !['INPUT', 'SELECT'].includes(event.target.tagName) && actions[event.key]) {
    actions[event.key]();
  }
});
$('brush').addEventListener('input', () => text($('brush-text'), $('brush').value));
$('brush').addEventListener('change', () => pick(traced(Number($('brush').value))));
$('whatif').addEventListener('submit', whatIf);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
addEventListener('resize', redraw);
setInterval(freshness, 1000);
begin().catch(problem => text($('sentences'), problem.message)).finally(listen);
