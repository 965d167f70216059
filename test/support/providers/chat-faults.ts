import type { FakeRequest } from '../fake-llm.types.js';
import { callsIn, callsOf, isEmpty } from './request-parts.js';

/** A fault in the pairs of calls and results of a history. */
interface PairFault {
  readonly at: number;
  /** A call without a result before the next message, a result without such a call, or one id for two calls. */
  readonly kind: 'unanswered' | 'orphan' | 'twice';
  readonly id: string;
}

/** The first fault of a kind: tool messages answer each call of the message before them, once. */
export function pairFault({ messages }: FakeRequest, kind: PairFault['kind']): PairFault | undefined {
  const faults: PairFault[] = [];
  let open = new Set<string>();
  const close = (at: number) => {
    for (const id of open) faults.push({ at, kind: 'unanswered', id });
  };
  for (const [at, message] of messages.entries()) {
    if (message.role === 'tool') {
      const id = message.tool_call_id ?? '';
      if (!open.delete(id)) faults.push({ at, kind: 'orphan', id });
      continue;
    }
    close(at);
    const ids = callsOf(message).map((call) => call.id);
    open = new Set(ids);
    for (const id of ids.filter((one, n) => ids.indexOf(one) !== n)) faults.push({ at, kind: 'twice', id });
  }
  close(messages.length);
  return faults.find((fault) => fault.kind === kind);
}

/** The index of the first message of a role whose content is empty, and that has no calls. */
export function emptyMessage({ messages }: FakeRequest, ...roles: readonly string[]): number | undefined {
  const at = messages.findIndex(
    (message) => roles.includes(message.role) && isEmpty(message.content) && callsOf(message).length === 0,
  );
  return at < 0 ? undefined : at;
}

/** The index of the first system message that is not the first message. */
export function lateSystem({ messages }: FakeRequest): number | undefined {
  const at = messages.findIndex(({ role }, n) => n > 0 && role === 'system');
  return at < 0 ? undefined : at;
}

/** The first message with a role that the provider does not know. */
export function unknownRole(
  { messages }: FakeRequest,
  roles: readonly string[],
): { at: number; role: string } | undefined {
  const at = messages.findIndex(({ role }) => !roles.includes(role));
  return at < 0 ? undefined : { at, role: messages[at]!.role };
}

/** The first adjacent roles that a test accepts. */
export function adjacentRoles(
  { messages }: FakeRequest,
  isWrong: (before: string, role: string) => boolean,
): { at: number; before: string; role: string } | undefined {
  const at = messages.findIndex(({ role }, n) => n > 0 && isWrong(messages[n - 1]!.role, role));
  return at < 0 ? undefined : { at, before: messages[at - 1]!.role, role: messages[at]!.role };
}

/** The first call whose id does not match. */
export function wrongCallId(request: FakeRequest, pattern: RegExp): { at: number; id: string } | undefined {
  const found = callsIn(request).find(({ call }) => !pattern.test(call.id));
  return found && { at: found.at, id: found.call.id };
}
