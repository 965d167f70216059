// The regular replies of hostile servers, in either era of the protocol: `legacy` is before 2026.
const LISTED = ['echo', 'strike', 'pid', 'cwd'].map((name) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object' },
}));

export const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });

/** The result of a request; undefined for an unknown method. */
export function resultOf(era, { method, params }) {
  const result = legacyResultOf(method, params);
  if (era === 'legacy' || !result) return method === 'server/discover' ? undefined : result;
  return { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result };
}

function legacyResultOf(method, params) {
  const capabilities = { tools: { listChanged: false } };
  switch (method) {
    case 'server/discover':
      return { supportedVersions: ['2026-07-28'], capabilities };
    case 'initialize':
      return { protocolVersion: params.protocolVersion, capabilities, serverInfo: { name: 'hostile', version: '1' } };
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: LISTED };
    case 'tools/call':
      return text(saidBy(params));
    default:
      return undefined;
  }
}

function saidBy({ name, arguments: args = {} }) {
  if (name === 'pid') return process.pid;
  return name === 'cwd' ? process.cwd() : (args.text ?? '');
}

/** The text of a message with a padding of a hundred MiB, in pieces, so that the sender stays responsive. */
export function* hugeText(message) {
  const whole = JSON.stringify({ jsonrpc: '2.0', ...message, padding: '' });
  const piece = 'x'.repeat(65_536);
  yield whole.slice(0, -2);
  for (let n = 0; n < 1600; n++) yield piece;
  yield whole.slice(-2);
}

/** A message as one line. */
export const line = (message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;

export const answer = (era, request) => {
  const result = resultOf(era, request);
  return result ? { id: request.id, result } : { id: request.id, error: { code: -32_601, message: 'Not known here' } };
};

/** A page of an endless list, with this number of tools of this size in bytes. */
export function endlessPage(era, { params }, tools, bytes) {
  const at = Number(params?.cursor ?? 0);
  const listed = Array.from({ length: tools }, (_, n) => ({
    name: `tool_${at}_${n}`,
    description: 'x'.repeat(bytes),
    inputSchema: { type: 'object' },
  }));
  const more = era === 'modern' ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {};
  return { ...more, tools: listed, nextCursor: String(at + 1) };
}

/** A result of ten million bytes that takes many times as much memory when it is parsed. */
export const denseResult = (era) => ({
  ...(era === 'modern' && { resultType: 'complete' }),
  content: [],
  structuredContent: { dense: Array.from({ length: 3_300_000 }, () => []) },
});

/** A message that is sent endlessly during a call. */
export function floodLine(kind, request) {
  const progressToken = request.params?._meta?.progressToken ?? 0;
  switch (kind) {
    case 'progress':
      return line({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
    case 'notifications':
      return line({ method: 'notifications/message', params: { level: 'info', data: 'again' } });
    case 'requests':
      return line({ id: 'again', method: 'ping' });
    case 'junk':
      return 'this is {no JSON}\n';
    case 'foreign':
      return line({ id: 999_999, result: text('for no request') });
    default:
      return undefined;
  }
}
