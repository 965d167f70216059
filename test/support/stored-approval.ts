import type { Principal } from '../../src/kernel/index.js';
import { Database } from '../../src/persistence/index.js';
import type { RunRecord } from '../../src/run/index.js';
import type { WaitingRequest } from '../../src/run/decision/index.js';
import { CallApprovalStore } from '../../src/tool-policy/index.js';
import type { Jackdaw } from './jackdaw.js';

/** Stores an approval with the scope `session` for calls of the tool `send`. @returns its id */
export async function storeApproval(
  { app }: Pick<Jackdaw, 'app'>,
  principal: Principal,
  sessionId: string,
  addresses = ['docs.example'],
): Promise<string> {
  const run = { tenant: principal.tenant, id: 'a-run', sessionId, principal } as RunRecord;
  const covers = { definition: 'd', addresses };
  const request = { tool: 'send', covers } as Partial<WaitingRequest> as WaitingRequest;
  const { id, statements } = app.get(CallApprovalStore).prepare(run, request, 'session', principal);
  await app.get(Database).commit(statements);
  return id;
}
