import { createHash, createHmac } from 'node:crypto';

/** A shared key that receivers identify by its id. */
export interface SigningKey {
  readonly id: string;
  /** Base64. */
  readonly key: string;
}

/** The signed parts of a request. */
export interface SignedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly body: string;
}

const COMPONENTS = '("@method" "@path" "@query" "content-digest")';

/**
 * Headers that authenticate a request and protect its integrity: an HTTP message signature with HMAC-SHA256 (RFC 9421)
 * over method, path, query and the body's digest (RFC 9530).
 * @param now epoch ms
 */
export function signatureHeaders(request: SignedRequest, { id, key }: SigningKey, now: number): [string, string][] {
  const digest = `sha-256=:${createHash('sha256').update(request.body).digest('base64')}:`;
  const parameters = `${COMPONENTS};created=${Math.floor(now / 1000)};keyid="${id}";alg="hmac-sha256"`;
  const [path, query = ''] = split(request.path);
  const base = [
    `"@method": ${request.method}`,
    `"@path": ${path}`,
    `"@query": ?${query}`,
    `"content-digest": ${digest}`,
    `"@signature-params": ${parameters}`,
  ].join('\n');
  const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(base).digest('base64');
  return [
    ['content-digest', digest],
    ['signature-input', `jackdaw=${parameters}`],
    ['signature', `jackdaw=:${signature}:`],
  ];
}

function split(path: string): [string, string?] {
  const at = path.indexOf('?');
  return at === -1 ? [path] : [path.slice(0, at), path.slice(at + 1)];
}
