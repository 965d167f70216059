import createClient from 'openapi-fetch';
import type { components, paths } from '../generated/openapi-typescript/schema';

const client = createClient<paths>({ baseUrl: 'http://127.0.0.1:3000' });

export async function calls(): Promise<string> {
  const { data, error } = await client.POST('/api/agent/chat', {
    body: { query: 'Calculate 100 + 200', includeDetails: true, toolChoice: { name: 'calculator' } },
  });
  if (error) throw new Error(error.detail);
  const { data: sessions } = await client.GET('/api/sessions', { params: { query: { limit: 10 } } });
  const { data: made } = await client.POST('/api/sessions', { body: {} });
  await client.POST('/api/runs/{id}/approve', { params: { path: { id: data.run_id } } });
  await client.POST('/api/runs/{id}/input', { params: { path: { id: data.run_id } }, body: { value: ['any', 1] } });
  await client.POST('/api/tools/{name}/call', {
    params: { path: { name: 'calculator' }, header: { 'idempotency-key': 'k' } },
    body: { arguments: { expression: '1 + 1' } },
  });
  await client.DELETE('/api/sessions/{id}', { params: { path: { id: made?.id ?? '' } } });
  const event: components['schemas']['RunEvent'] = { type: 'stream.closed', run_id: 'r', code: 'SHUTTING_DOWN' };
  return `${data.result} ${sessions?.sessions.length ?? 0} ${event.type}`;
}
