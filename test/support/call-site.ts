import { ToolRequest } from '../../src/tool/call/tool-request.factory.js';
import type { CallSite, Tool, ToolContext } from '../../src/tool/tool.types.js';

/** A call outside of any run, for tests. */
export function callSite(given: Partial<CallSite> = {}): CallSite {
  return {
    principal: { id: 'p', tenant: 't', roles: [] },
    agent: null,
    sessionId: null,
    runId: 'r',
    callId: 'c',
    key: 'r:tool:1:1',
    signal: new AbortController().signal,
    isTainted: false,
    ...given,
  };
}

const probe: Tool = {
  definition: { name: 'probe', description: 'For a test.', inputSchema: { type: 'object' } },
  metadata: { effect: 'read', source: 'Test.probe', egress: false, untrusted: false },
  validate: (value) => ({ valid: true, value }),
  invoke: () => null,
};

/** The tool context of such a call. */
export function toolContext(given: Partial<CallSite> = {}): ToolContext {
  return new ToolRequest({ tool: probe, input: null }, callSite(given));
}
