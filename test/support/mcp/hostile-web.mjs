// MCP servers over HTTP that misbehave: the path has the mode and the era of the protocol: `/drip/legacy`.
// `GET /sockets` returns the number of open connections, by path.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { answer, denseResult, endlessPage, floodLine, hugeText, resultOf, text } from './hostile-talk.mjs';

const MIB = 1024 * 1024;
const BOMB = gzipSync(Buffer.alloc(100 * MIB, 0x20));
const sockets = new Map();
const json = (response, message, headers = {}) => {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message }));
};
const events = (response) => response.writeHead(200, { 'content-type': 'text/event-stream' });
const event = (message) => `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;

function* hugeEvent(message) {
  yield 'event: message\ndata: ';
  yield* hugeText(message);
  yield '\n\n';
}

/** Writes endlessly, as fast as the reader reads. */
function flood(response, chunk) {
  const more = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}

function drip(response, chunk) {
  const timer = setInterval(() => response.write(chunk), 20);
  response.on('close', () => clearInterval(timer));
}

const STRIKES = {
  exit: (_request, response) => response.destroy(),
  hang: () => undefined,
  huge: (request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    Readable.from(hugeText(answer('legacy', request))).pipe(response);
  },
  'huge-event': (request, response) => {
    Readable.from(hugeEvent(answer('legacy', request))).pipe(events(response));
  },
  'endless-line': (_request, response) => flood(events(response), 'x'.repeat(65_536)),
  'endless-body': (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    flood(response, ' '.repeat(65_536));
  },
  'wrong-ids': ({ id }, response) => {
    events(response);
    for (const wrong of [id + 1000, `${id}x`, null, [id]])
      response.write(event({ id: wrong, result: text('not yours') }));
  },
  duplicates: (request, response, era) => {
    events(response);
    for (let n = 0; n < 5; n++) response.write(event(answer(era, request)));
    response.end();
  },
  'bad-json': (_request, response) => json(response, '{"jsonrpc":'),
  drip: (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    drip(response, ' ');
  },
  'drip-events': (_request, response) => drip(events(response), ': still here\n\n'),
  cut: (_request, response) => {
    events(response).write('event: message\ndata: {"jsonrpc"');
    setTimeout(() => response.destroy(), 50);
  },
  end: (_request, response) => events(response).end(': nothing to say\n\n'),
  resume: (_request, response) => events(response).end('id: 1\nretry: 0\ndata:\n\n'),
  'never-ends': (request, response, era) => {
    events(response).write(event(answer(era, request)));
    drip(response, ': still here\n\n');
  },
  redirect: (_request, response, era) => {
    response.writeHead(307, { location: `http://localhost:${server.address().port}/steady/${era}` }).end();
  },
  'redirect-loop': (_request, response, era) => response.writeHead(307, { location: `/redirect-loop/${era}` }).end(),
  'wrong-type': (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hello</p>'),
  'endless-type': (_request, response) =>
    flood(response.writeHead(200, { 'content-type': 'text/html' }), 'x'.repeat(65_536)),
  'endless-fault': (_request, response) => flood(response.writeHead(500, {}), 'x'.repeat(65_536)),
  'gzip-bomb': (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(BOMB);
  },
  'huge-headers': (_request, response) => json(response, '{}', { 'x-huge': 'x'.repeat(200_000) }),
  dense: ({ id }, response, era) => json(response, { id, result: denseResult(era) }),
  'no-object': ({ id }, response) => json(response, { id, result: 'done' }),
  nonsense: ({ id }, response) => json(response, { id, result: { content: 'no list' } }),
  garbage: (_request, response) => response.socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
};

const LISTS = {
  'endless-pages': (request, era) => endlessPage(era, request, 1, 1),
  'huge-pages': (request, era) => endlessPage(era, request, 1000, 8000),
  'many-tools': (request, era) => endlessPage(era, request, 100_000, 1),
};

function serve({ mode, era }, request, response) {
  const { id, method, params } = request;
  if (id === undefined) return void response.writeHead(202).end();
  if (mode === 'mute') return;
  if (method === 'tools/list' && LISTS[mode]) json(response, { id, result: LISTS[mode](request, era) });
  else if (method === 'tools/call' && params.name === 'strike') strike({ mode, era }, request, response);
  else reply(request, response, era);
}

function strike({ mode, era }, request, response) {
  const again = floodLine(mode, request);
  if (again) flood(events(response), `data: ${again}\n`);
  else (STRIKES[mode] ?? reply)(request, response, era);
}

function reply(request, response, era) {
  if (resultOf(era, request)) return json(response, answer(era, request));
  response.writeHead(400, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', ...answer(era, request) }));
}

const server = createServer((message, response) => {
  const { url, method, socket } = message;
  if (url === '/sockets') return json(response, JSON.stringify(Object.fromEntries(sockets)));
  const [, mode, era] = url.split('/');
  count(socket, mode);
  response.on('error', () => undefined);
  if (method !== 'POST') return resumed(mode, method, response);
  let body = '';
  message.setEncoding('utf8').on('data', (chunk) => (body += chunk));
  message.on('end', () => serve({ mode, era }, JSON.parse(body), response));
});

let resumptions = 0;
/** The stream that a client resumes, or opens for notifications. */
function resumed(mode, method, response) {
  if (mode !== 'resume' || method !== 'GET') return void response.writeHead(405).end();
  sockets.set('resumptions', ++resumptions);
  events(response).end('id: 1\nretry: 0\ndata:\n\n');
}

function count(socket, mode) {
  if (socket.mode) return;
  socket.mode = mode;
  sockets.set(mode, (sockets.get(mode) ?? 0) + 1);
  socket.on('close', () => sockets.set(mode, sockets.get(mode) - 1));
  socket.on('error', () => undefined);
}

server.listen(0, '127.0.0.1', () => process.stdout.write(`ready ${server.address().port}\n`));
