/** No JSON text begins so. */
export const SEALED = 'enc:';
/** The one form there is: AES-256-GCM, `base64url(IV 12 bytes, text, tag 16 bytes)`. */
export const SEALED_VERSION = '1';
/** The longest head, in characters. */
export const MAX_HEAD = SEALED.length + SEALED_VERSION.length + 18;

export interface SealedText {
  /** All before the body. */
  readonly head: string;
  readonly version: string;
  readonly keyId: string;
  readonly body: string;
}

export function headOf(keyId: string): string {
  return `${SEALED}${SEALED_VERSION}:${keyId}:`;
}

/** @returns `null` when it only begins as a sealed text */
export function parseSealed(stored: string): SealedText | null {
  const [head, version, keyId] = /^enc:(\d{1,4}):([A-Za-z0-9_-]{1,16}):/.exec(stored) ?? [];
  if (head === undefined || version === undefined || keyId === undefined) return null;
  return { head, version, keyId, body: stored.slice(head.length) };
}
