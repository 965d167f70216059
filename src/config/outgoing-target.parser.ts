import { isIP } from 'node:net';
import { z } from 'zod';
import { list } from './env-value.schema.js';

/**
 * One entry of `OUTGOING_ALLOW`: a name (`*.` before it matches any further labels) or an address range, on one port or
 * on all.
 */
export type OutgoingTarget =
  | { readonly kind: 'name'; readonly name: string; readonly port?: number }
  | { readonly kind: 'range'; readonly address: string; readonly prefix: number; readonly port?: number };

const NAME = /^(\*\.)?([a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}$/;
const PARTS = /^(?:\[([^\]]+)\]|([^[\]]*?))(?:\/(\d{1,3}))?(?::(\d{1,5}))?$/;
const ALLOWED = 'hosts as db.internal:8080, *.internal.example, 10.1.0.0/16, 10.1.2.3:8080 or [fd00::1]:8080';

/** Non-public targets that tools may call, comma-separated. */
export function outgoingTargets() {
  return z.string().transform((text, context): readonly OutgoingTarget[] => {
    const entries = text.split(',').map((part) => part.trim().toLowerCase());
    const targets = entries.map(parseTarget);
    const wrong = entries.filter((_, index) => targets[index] === undefined);
    if (wrong.length === 0) return targets as OutgoingTarget[];
    const message = `is not allowed because of ${wrong.map((entry) => JSON.stringify(entry)).join(', ')}: give ${ALLOWED}`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

/** TCP ports, comma-separated. */
export function portList() {
  return list(toPort, 'ports from 1 to 65535, comma-separated');
}

/** Parses one entry; undefined if it is invalid. */
export function parseTarget(entry: string): OutgoingTarget | undefined {
  if (isIP(entry) === 6) return { kind: 'range', address: entry, prefix: 128 };
  const [, bracketed, bare = '', prefix, portText] = PARTS.exec(entry) ?? [];
  const host = bracketed ?? bare;
  const target = isIP(host) === 0 ? toName(bare, prefix) : toRange(host, prefix);
  if (!target || portText === undefined) return target;
  const port = toPort(portText);
  return port === undefined ? undefined : { ...target, port };
}

function toName(name: string, prefix: string | undefined): OutgoingTarget | undefined {
  return prefix === undefined && isName(name) ? { kind: 'name', name } : undefined;
}

function toRange(address: string, prefix: string | undefined): OutgoingTarget | undefined {
  const bits = isIP(address) === 4 ? 32 : 128;
  const length = prefix === undefined ? bits : Number(prefix);
  return length <= bits ? { kind: 'range', address, prefix: length } : undefined;
}

/** Whether a name is no address for a URL parser, as `0x7f.1` is. */
function isName(host: string): boolean {
  const plain = host.replace(/^\*\./, '');
  return NAME.test(host) && URL.parse(`http://${plain}`)?.hostname === plain;
}

function toPort(text: string | undefined): number | undefined {
  const port = text !== undefined && /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}
