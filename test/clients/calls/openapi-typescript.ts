import createClient from 'openapi-fetch';
import type { components, paths } from '../generated/openapi-typescript/schema';

/** The payloads of streams have a type too. */
export const EVENT: components['schemas']['RunEvent'] = {
  type: 'stream.closed',
  run_id: 'r',
  code: 'SHUTTING_DOWN',
};

export async function calls(baseUrl: string): Promise<string> {
  const client = createClient<paths>({ baseUrl });
  const { data, error } = await client.POST('/api/agent/chat', {
    body: { query: 'Calculate 100 + 200', includeDetails: true, toolChoice: { name: 'calculator' } },
  });
  if (error) throw new Error(error.detail);
  const { data: sessions } = await client.GET('/api/sessions', { params: { query: { limit: 1 } } });
  const { data: made } = await client.POST('/api/sessions', { body: {} });
  await client.POST('/api/runs/{id}/approve', { params: { path: { id: data.run_id } } });
  await client.POST('/api/runs/{id}/input', { params: { path: { id: data.run_id } }, body: { value: ['any', 1] } });
  await client.POST('/api/tools/{name}/call', {
    params: { path: { name: 'calculator' }, header: { 'idempotency-key': data.run_id } },
    body: { arguments: { expression: '1 + 1' } },
  });
  await client.DELETE('/api/sessions/{id}', { params: { path: { id: made?.id ?? '' } } });
  const { data: page } = await client.GET('/api/runs', { params: { query: { limit: 100 } } });
  const { error: problem } = await client.GET('/api/runs/{id}', { params: { path: { id: 'unknown' } } });
  return `${data.result} ${sessions?.sessions.length} ${page?.runs[0]?.status} ${problem?.code}`;
}
