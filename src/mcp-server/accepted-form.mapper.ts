const JSON_TYPE = 'application/json';
const EVENTS_TYPE = 'text/event-stream';

/** The form of a response: the SDK chooses JSON or an event stream only for a client that accepts both. */
export type AcceptedForm = 'any' | 'json' | 'events' | 'none';

/** @param accept the header `Accept`; without it, everything is accepted (RFC 9110) */
export function acceptedForm(accept: string | null): AcceptedForm {
  const ranges = rangesOf(accept?.trim() || '*/*');
  const takesJson = accepts(ranges, JSON_TYPE);
  const takesEvents = accepts(ranges, EVENTS_TYPE);
  if (takesJson && takesEvents) return 'any';
  return takesJson ? 'json' : takesEvents ? 'events' : 'none';
}

/** Whether the response is a stream that only the client ends: as JSON it would never be complete. */
export function isListening(body: unknown): boolean {
  return (body as { method?: unknown } | null | undefined)?.method === 'subscriptions/listen';
}

/** The request of a client that accepts both forms. */
export function acceptingBoth(request: Request): Request {
  const headers = new Headers(request.headers);
  headers.set('accept', `${JSON_TYPE}, ${EVENTS_TYPE}`);
  return new Request(request, { headers });
}

/** The response in the accepted form; errors and empty responses are unchanged. */
export async function inForm(response: Response, form: AcceptedForm): Promise<Response> {
  const type = response.headers.get('content-type') ?? '';
  if (!response.ok || !response.body) return response;
  if (form === 'json' && type.startsWith(EVENTS_TYPE)) {
    const [first = '', ...others] = messagesOf(await response.text());
    return replaced(response, JSON_TYPE, others.length === 0 ? first : `[${[first, ...others].join(',')}]`);
  }
  if (form === 'events' && type.startsWith(JSON_TYPE))
    return replaced(response, EVENTS_TYPE, `event: message\ndata: ${await response.text()}\n\n`);
  return response;
}

function replaced({ status, headers: given }: Response, type: string, body: string): Response {
  const headers = new Headers(given);
  headers.set('content-type', type);
  headers.delete('content-length');
  return new Response(body, { status, headers });
}

/** The responses in an event stream, as JSON; a client that accepts only JSON gets no notifications. */
function messagesOf(stream: string): string[] {
  const events = stream.split(/\r?\n\r?\n/).map((event) =>
    event
      .split(/\r?\n/)
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice('data:'.length))
      .join('\n'),
  );
  return events.filter((data) => data.trim() !== '' && !('method' in (JSON.parse(data) as object)));
}

interface MediaRange {
  readonly type: string;
  readonly isRefused: boolean;
}

function rangesOf(accept: string): readonly MediaRange[] {
  return accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return { type, isRefused: parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) };
  });
}

/** The most specific range decides. */
function accepts(ranges: readonly MediaRange[], type: string): boolean {
  const [kind] = type.split('/');
  for (const name of [type, `${kind}/*`, '*/*']) {
    const range = ranges.find((one) => one.type === name);
    if (range) return !range.isRefused;
  }
  return false;
}
