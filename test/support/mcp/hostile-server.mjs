// An MCP server over stdio that misbehaves as its first argument says, either at its start or when its tool `strike`
// is called; the second argument is the era of its protocol, and the third one is a text that identifies the process
// and its children in the list of processes.
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { answer, denseResult, endlessPage, floodLine, hugeText, line, text } from './hostile-talk.mjs';

const [, , mode, era = 'legacy', place = ''] = process.argv;
const say = (message) => process.stdout.write(line(message));

/**
 * Writes endlessly, as fast as the reader reads, since a buffer would exhaust its memory. It reads input in between.
 */
function flood(stream, chunk) {
  const more = () => {
    let hasRoom = true;
    for (let n = 0; n < 50; n++) hasRoom = stream.write(chunk);
    if (hasRoom) setImmediate(more);
    else stream.once('drain', more);
  };
  more();
}

/** A process that outlives its parent, and holds its pipes open. */
function bear(detached) {
  const script = 'process.on("SIGTERM", () => undefined); setInterval(() => undefined, 1000);';
  spawn(process.execPath, ['-e', script, place], { stdio: 'inherit', detached }).unref();
}

const STRIKES = {
  exit: () => process.exit(7),
  hang: () => undefined,
  'endless-line': () => flood(process.stdout, 'x'.repeat(65_536)),
  'stderr-flood': (request) => {
    flood(process.stderr, `${'x'.repeat(1023)}\n`);
    setTimeout(() => say({ ...answer(era, request) }), 300);
  },
  'wrong-ids': ({ id }) => {
    for (const wrong of [id + 1000, `${id}x`, -1, 1e300]) say({ id: wrong, result: text('not yours') });
    process.stdout.write(
      line({ id: null, result: text('no request') }) + line({ id: [id], result: text('no request') }),
    );
  },
  duplicates: (request) => {
    for (let n = 0; n < 5; n++) say(answer(era, request));
  },
  huge: (request) => Readable.from(hugeText(answer(era, request))).pipe(process.stdout),
  'close-stdout': () => {
    closeSync(1);
    setInterval(() => undefined, 1000);
  },
  'close-stdin': () => {
    process.stdin.destroy();
    setInterval(() => undefined, 1000);
  },
  'leave-grandchild': () => {
    bear(false);
    setTimeout(() => process.exit(7), 200);
  },
  'leave-daemon': () => {
    bear(true);
    setTimeout(() => process.exit(7), 200);
  },
  freeze: () => process.kill(process.pid, 'SIGSTOP'),
  dense: ({ id }) => say({ id, result: denseResult(era) }),
  'no-object': ({ id }) => say({ id, result: 'done' }),
  nonsense: ({ id }) => say({ id, result: { content: 'no list', structuredContent: [] } }),
  deep: ({ id }) =>
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${'['.repeat(200_000)}${']'.repeat(200_000)}}\n`),
};

const LISTS = {
  'endless-pages': (request) => endlessPage(era, request, 1, 1),
  'huge-pages': (request) => endlessPage(era, request, 1000, 8000),
  'many-tools': (request) => endlessPage(era, request, 100_000, 1),
};

/** Unanswered messages: responses, notifications, and the requests that the mode ignores. */
const MUTE = { mute: () => true, 'mute-list': (method) => method === 'tools/list' };
const isLeft = ({ id, method }) => id === undefined || method === undefined || MUTE[mode]?.(method);

const INITIALIZED = {
  'bad-initialize': { protocolVersion: 7 },
  'old-initialize': { protocolVersion: '1999-01-01', capabilities: {}, serverInfo: { name: 'x', version: '1' } },
};

function hear(request) {
  const { id, method, params } = request;
  if (isLeft(request)) return;
  if (method === 'initialize' && INITIALIZED[mode]) say({ id, result: INITIALIZED[mode] });
  else if (method === 'tools/list' && LISTS[mode]) say({ id, result: LISTS[mode](request) });
  else if (method === 'tools/call' && params.name === 'strike') strike(request);
  else say(answer(era, request));
}

function strike(request) {
  const again = floodLine(mode, request);
  if (again) return flood(process.stdout, again);
  STRIKES[mode](request);
}

if (mode === 'stillborn') process.exit(1);
if (mode === 'deaf' || mode === 'stubborn') {
  process.on('SIGTERM', () => undefined);
  setInterval(() => undefined, 1000);
}
if (mode === 'stubborn' || mode === 'parent') bear(false);
if (mode === 'daemon') bear(true);
STRIKES.deaf = STRIKES.hang;
if (mode === 'babble') flood(process.stdout, 'a log line\n');
createInterface({ input: process.stdin }).on('line', (words) => hear(JSON.parse(words)));
process.stdin.on('error', () => undefined);
process.stdout.on('error', () => undefined);
