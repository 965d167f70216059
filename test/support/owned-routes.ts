import { CASES, type Things } from './route-cases.js';

/** The kinds of ids that have an owner; the other ids are those of keys and users. */
const OWNED: readonly (keyof Things)[] = [
  'ended',
  'flow',
  'waiting',
  'session',
  'state',
  'approval',
  'schedule',
  'eval',
];

/** Lists of owned items, and the list's field. Each is empty for a caller without items. */
export const LISTS: Readonly<Record<string, string>> = {
  'GET /api/runs': 'runs',
  'GET /api/sessions': 'sessions',
  'GET /api/tool-states': 'contexts',
  'GET /api/approvals': 'approvals',
  'GET /api/waiting': 'requests',
  'GET /api/schedules': 'schedules',
  'GET /api/feedback': 'feedback',
  'GET /api/feedback/summary': 'agents',
  'GET /api/feedback/dataset': 'lines',
  'GET /api/evals': 'evals',
  'GET /api/usage': 'entries',
  'GET /api/usage/latency': 'entries',
};

/** Requests that name a session of another owner, and their answers. Nothing but the existence of an id is known. */
export const JOINING: Readonly<
  Record<string, { readonly body: Readonly<Record<string, unknown>>; readonly status: number }>
> = {
  'POST /api/agent/chat': { body: { query: 'x' }, status: 404 },
  'POST /api/agent/chat/stream': { body: { query: 'x' }, status: 404 },
  'POST /api/agent/runs': { body: { query: 'x' }, status: 404 },
  'POST /api/tools/{name}/call': { body: { arguments: { text: 'x' } }, status: 404 },
  'POST /api/workflows/{name}/runs': { body: { input: { prompt: 'x' } }, status: 404 },
  'POST /api/schedules': { body: { query: 'x', cron: '0 9 1 1 *' }, status: 404 },
};
/** A fork names a new session. Ids are unique in a tenant, so one that is in use is refused. */
export const NEW_SESSION = ['POST /api/runs/{id}/fork'];

/** Routes without an item of an owner, or with a scope that covers the tenant (`keys`, `webhooks`, `erase`, `audit`, `operate`). */
export const WITHOUT_OWNER = [
  'DELETE /api/keys/{id}',
  'DELETE /api/login',
  'DELETE /api/mcp/servers/{name}',
  'DELETE /api/users/{id}',
  'DELETE /api/webhooks/{id}',
  'GET /api/webhooks',
  'GET /api/webhooks/{id}',
  'GET /api/webhooks/{id}/deliveries',
  'PATCH /api/webhooks/{id}',
  'POST /api/webhooks',
  'POST /api/webhooks/{id}/deliveries/{delivery}/retry',
  'POST /api/webhooks/{id}/secret',
  'POST /api/webhooks/{id}/test',
  'DELETE /mcp',
  'GET /api/access-log',
  'GET /api/agent/health',
  'GET /api/agents',
  'GET /api/agents/{name}',
  'GET /api/skills',
  // test/run-changes.spec.ts follows runs of several owners.
  'GET /api/events',
  // test/run-counts.spec.ts counts runs of several owners.
  'GET /api/runs/counts',
  'GET /api/health/live',
  'GET /api/health/ready',
  'GET /api/keys',
  'GET /api/mcp/servers',
  'GET /api/me',
  'GET /api/mcp/servers/{name}',
  'GET /api/mcp/servers/{name}/prompts',
  'GET /api/mcp/servers/{name}/resource',
  'GET /api/mcp/servers/{name}/resource-templates',
  'GET /api/mcp/servers/{name}/resources',
  'GET /api/tools',
  'GET /api/tools/{name}',
  // The budgets of the tenant.
  'GET /api/usage/budgets',
  'GET /api/usage/tenants',
  'GET /api/workflows',
  'GET /api/workflows/{name}',
  'GET /mcp',
  'POST /api/evals',
  'POST /api/keys',
  'POST /api/login',
  'POST /api/mcp/servers',
  'POST /api/mcp/servers/{name}/accept',
  'POST /api/mcp/servers/{name}/prompt',
  'POST /api/mcp/servers/{name}/reconnect',
  'POST /api/mcp/servers/{name}/tools/accept',
  'POST /api/runs/release',
  'POST /api/sessions',
  'POST /api/sessions/import',
  'POST /api/sessions/prune',
  'POST /api/tools/{name}/disable',
  'POST /api/tools/{name}/enable',
  'POST /api/usage/rebuild',
  // Its calls and resources have tests below.
  'POST /mcp',
];

const CASE_LIST = Object.entries(CASES).map(([route, given]) => ({ route, ...given }));
export const WITH_ID = CASE_LIST.flatMap((each) => {
  const { id } = each;
  return id !== undefined && OWNED.includes(id) ? [{ ...each, id }] : [];
});
export const READS = WITH_ID.filter(({ route }) => route.startsWith('GET '));
/** In an order in which each write finds its item: deletions are last, and of them sessions. */
export const WRITES = WITH_ID.filter(({ route }) => !route.startsWith('GET ')).toSorted(
  (a, b) => lateness(a) - lateness(b),
);

function lateness({ route }: { route: string }): number {
  return ['DELETE /api/sessions/{id}/messages', 'DELETE /api/tool-states/{id}', 'DELETE /api/sessions/{id}'].indexOf(
    route,
  );
}
