'use strict';
// What is drawn, from the objects of /troupe/v1: no state but the colours of the theme.
const Drawing = (() => {
  const KINDS = { F: '--f', I: '--i', W: '--w', B: '--b', RECOMPUTE: '--r', UNSHARD: '--group', RESHARD: '--group', REDUCE_GRAD: '--group', NORM: '--group' };
  const GROUPS = { F: 'F', I: 'I', W: 'W', B: 'B', RECOMPUTE: 'recompute', UNSHARD: 'collectives', RESHARD: 'collectives', REDUCE_GRAD: 'collectives',
    NORM: 'collectives', UPDATE: 'optimizer' };
  const ORDER = ['F', 'I', 'W', 'B', 'recompute', 'collectives', 'optimizer', 'other'];
  const CAUSES = ['plan', 'producer', 'wire', 'credit', 'control', 'group', 'pause', 'cpu', 'state', 'data', 'commit', 'recovery', 'unknown'];
  // Strokes on a tile of 8 by 8, so that causes differ without colours.
  const HATCHES = {
    plan: [], producer: [[0, 8, 8, 0]], wire: [[0, 0, 8, 8]], credit: [[0, 0, 8, 8], [0, 8, 8, 0]], control: [[0, 4, 8, 4]],
    group: [[0, 4, 8, 4], [4, 0, 4, 8]], pause: [[2, 0, 2, 8], [6, 0, 6, 8]], cpu: [[4, 0, 4, 8]], state: [[0, 2, 8, 2], [0, 6, 8, 6]],
    data: [[0, 4, 4, 0], [4, 8, 8, 4], [0, 8, 8, 0]], commit: [[4, 1, 4, 4]], recovery: [[0, 0, 4, 4], [4, 4, 8, 0]], unknown: [[1, 1, 3, 3]],
  };
  let colours = {};
  let patterns = {};

  function theme() {
    const style = getComputedStyle(document.documentElement);
    colours = {};
    for (const name of ['--ground', '--ink', '--quiet', '--line', '--f', '--i', '--w', '--b', '--r', '--group', '--other', '--idle', '--hatch', '--fault',
      '--m1', '--m2', '--m3', '--m4', '--m5', '--m6', '--m7']) {
      colours[name] = style.getPropertyValue(name).trim();
    }
    patterns = {};
  }

  function pattern(context, cause) {
    if (!patterns[cause]) {
      const tile = document.createElement('canvas');
      tile.width = tile.height = 8;
      const brush = tile.getContext('2d');
      brush.fillStyle = colours['--idle'];
      brush.fillRect(0, 0, 8, 8);
      brush.strokeStyle = colours['--hatch'];
      brush.lineWidth = cause === 'recovery' || cause === 'pause' ? 2 : 1.2;
      for (const [x, y, toX, toY] of HATCHES[cause] || HATCHES.unknown) {
        brush.beginPath();
        brush.moveTo(x, y);
        brush.lineTo(toX, toY);
        brush.stroke();
      }
      patterns[cause] = context.createPattern(tile, 'repeat');
    }
    return patterns[cause];
  }

  // Who knows its size need not have the browser lay the page out for it.
  function prepare(canvas, height, knownWidth, knownHeight) {
    const ratio = window.devicePixelRatio || 1;
    if (height && canvas.style.height !== height + 'px') {
      canvas.style.height = height + 'px';
    }
    const width = knownWidth || canvas.clientWidth;
    const tall = height || knownHeight || canvas.clientHeight;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(tall * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(tall * ratio);
    }
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, tall);
    context.font = '11px ui-monospace, "DejaVu Sans Mono", monospace';
    context.textBaseline = 'middle';
    return { context, width, height: tall };
  }

  const colour = kind => colours[KINDS[kind] || '--other'];

  function milliseconds(ns) {
    const ms = ns / 1e6;
    return (Math.abs(ms) >= 100 ? ms.toFixed(0) : Math.abs(ms) >= 1 ? ms.toFixed(1) : ms.toPrecision(2)) + ' ms';
  }

  function sizes(rows) {
    return rows <= 16 ? { planned: 7, measured: 17, row: 31 } : rows <= 40 ? { planned: 5, measured: 10, row: 18 } : { planned: 3, measured: 7, row: 12 };
  }

  // Returns what can be pointed at: for each rank its actions and the gaps between them, by their start.
  function timeline(canvas, step, chosen, marked) {
    const size = sizes(step.ranks.length);
    const left = 58;
    const top = 18;
    const area = prepare(canvas, top + size.row * step.ranks.length + 2);
    const context = area.context;
    const length = Math.max(step.end_ns, step.begin_ns + step.planned_ns, 1);
    const at = ns => left + (area.width - left - 1) * ns / length;
    context.fillStyle = colours['--quiet'];
    for (let tick = 0; tick <= 4; tick++) {
      context.textAlign = tick === 4 ? 'right' : tick === 0 ? 'left' : 'center';
      context.fillText(milliseconds(length * tick / 4), at(length * tick / 4), 7);
    }
    context.textAlign = 'left';
    const rows = step.ranks.map((rank, row) => {
      const y = top + row * size.row;
      const items = [];
      context.fillStyle = colours['--quiet'];
      context.fillText('rank ' + rank.rank, 0, y + (size.planned + size.measured) / 2);
      context.globalAlpha = 0.38;
      for (const action of rank.actions) {
        const from = at(step.begin_ns + action.planned_start_ns);
        context.fillStyle = colour(action.kind);
        context.fillRect(from, y, Math.max(0.5, at(step.begin_ns + action.planned_end_ns) - from), size.planned);
      }
      context.globalAlpha = 1;
      const below = y + size.planned + 1;
      for (const action of rank.actions) {
        const from = at(action.start_ns);
        const wide = Math.max(0.6, at(action.end_ns) - from - 0.4);
        context.fillStyle = colour(action.kind);
        context.fillRect(from, below, wide, size.measured);
        if (wide > 30 && size.measured > 12) {
          context.fillStyle = colours['--ground'];
          context.fillText(action.action, from + 4, below + size.measured / 2 + 0.5, wide - 6);
        }
        items.push({ rank, action, from: action.start_ns, to: action.end_ns });
      }
      for (const gap of rank.gaps) {
        let from = gap.start_ns;
        const half = gap.inside ? size.measured / 2 : 0;
        context.fillStyle = colours['--idle'];
        context.fillRect(at(from), below + half, at(from + gap.ns) - at(from), size.measured - half);
        for (const part of gap.parts) {
          const wide = at(from + part.ns) - at(from);
          if (wide >= 0.5 && part.cause !== 'plan') { // what is narrower cannot be told from the ground
            context.fillStyle = pattern(context, part.cause);
            context.fillRect(at(from), below + half, wide, size.measured - half);
          }
          from += part.ns;
        }
        if (!gap.inside) {
          items.push({ rank, gap, from: gap.start_ns, to: gap.start_ns + gap.ns });
        }
      }
      items.sort((one, other) => one.from - other.from);
      return { items, y: below };
    });
    context.strokeStyle = colours['--ink'];
    context.setLineDash([3, 3]);
    context.beginPath();
    context.moveTo(at(step.begin_ns + step.planned_ns), top - 3);
    context.lineTo(at(step.begin_ns + step.planned_ns), area.height);
    context.stroke();
    context.setLineDash([]);
    for (const [item, width] of [[marked, 1.5], [chosen, 2.5]]) {
      const row = item ? step.ranks.indexOf(item.rank) : -1;
      if (row >= 0) {
        context.lineWidth = width;
        context.strokeRect(at(item.from), rows[row].y - 1, Math.max(2, at(item.to) - at(item.from)), size.measured + 2);
      }
    }
    return {
      rows: rows.map(row => row.items),
      find(x, y) {
        const row = Math.floor((y - top) / size.row);
        const ns = (x - left) / (area.width - left - 1) * length;
        const items = rows[row] ? rows[row].items : [];
        return items.find(item => item.from <= ns && ns < item.to) || null;
      },
    };
  }

  // The parts of a rank's time: computing by group of kinds, and idle time by cause.
  function shares(rank) {
    const parts = new Map();
    const inside = new Map();
    for (const gap of rank.gaps.filter(each => each.inside)) {
      inside.set(gap.action, (inside.get(gap.action) || 0) + gap.ns);
    }
    for (const action of rank.actions) {
      const name = GROUPS[action.kind] || 'other';
      const ns = action.end_ns - action.start_ns - (inside.get(action.action) || 0);
      const part = parts.get(name) || { name, kind: action.kind, ns: 0 };
      part.ns += Math.max(0, ns);
      parts.set(name, part);
    }
    const computing = ORDER.filter(name => parts.has(name)).map(name => parts.get(name));
    return computing.concat(CAUSES.filter(cause => rank.idle_ns[cause]).map(cause => ({ name: cause, cause, ns: rank.idle_ns[cause] })));
  }

  function bar(canvas, parts, knownWidth, knownHeight) {
    const { context, width, height } = prepare(canvas, 0, knownWidth, knownHeight);
    const whole = parts.reduce((sum, part) => sum + part.ns, 0) || 1;
    let from = 0;
    for (const part of parts) {
      const wide = part.ns / whole * width;
      context.fillStyle = part.cause ? pattern(context, part.cause) : part.colour ? colours[part.colour] : colour(part.kind);
      context.fillRect(from, 0, wide, height);
      from += wide;
    }
  }

  // Lines of one figure over the steps, with a mark for each event; no more points than there are columns.
  function trend(canvas, points, marks, shown, write) {
    const { context, width, height } = prepare(canvas);
    const known = points.filter(point => Number.isFinite(point.y));
    if (known.length === 0) {
      return;
    }
    const first = known[0].x;
    const last = Math.max(known[known.length - 1].x, first + 1);
    const sorted = known.map(point => point.y).sort((a, b) => a - b);
    const low = sorted[0];
    const high = Math.max(sorted[Math.min(sorted.length - 1, Math.floor((sorted.length - 1) * 0.98))], low + Math.abs(low) * 1e-6 + 1e-12);
    const x = step => 2 + (width - 4) * (step - first) / (last - first);
    const y = value => height - 14 - (height - 22) * (Math.min(value, high) - low) / (high - low);
    for (const mark of marks.filter(each => each.step >= first && each.step <= last)) {
      context.strokeStyle = mark.isFault ? colours['--fault'] : colours['--line'];
      context.beginPath();
      context.moveTo(x(mark.step), 0);
      context.lineTo(x(mark.step), height - 12);
      context.stroke();
    }
    context.strokeStyle = colours['--ink'];
    context.lineWidth = 1.3;
    context.beginPath();
    const every = Math.max(1, Math.floor(known.length / Math.max(1, width)));
    known.forEach((point, index) => {
      if (index % every === 0 || index === known.length - 1) {
        context.lineTo(x(point.x), y(point.y));
      }
    });
    context.stroke();
    if (shown >= first && shown <= last) {
      context.strokeStyle = colours['--f'];
      context.beginPath();
      context.moveTo(x(shown), 0);
      context.lineTo(x(shown), height - 12);
      context.stroke();
    }
    context.fillStyle = colours['--quiet'];
    context.textAlign = 'left';
    context.fillText('step ' + first, 2, height - 5);
    context.textAlign = 'right';
    context.fillText(String(last), width - 2, height - 5);
    context.textAlign = 'left';
    if (sorted[sorted.length - 1] > low) {
      context.strokeStyle = colours['--ground'];
      context.lineWidth = 4; // of the ground around each digit, since the curve passes there
      for (const [value, at] of [[high, 8], [low, height - 20]]) {
        context.strokeText(write(value), 2, at);
        context.fillText(write(value), 2, at);
      }
    }
  }

  return { CAUSES, theme, timeline, shares, bar, trend, milliseconds };
})();
