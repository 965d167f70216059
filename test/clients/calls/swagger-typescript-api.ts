import { Api } from '../generated/swagger-typescript-api/client';

const { api } = new Api({ baseUrl: 'http://127.0.0.1:3000' });

export async function calls(): Promise<string> {
  const { data } = await api.chat({
    query: 'Calculate 100 + 200',
    includeDetails: true,
    toolChoice: { name: 'calculator' },
  });
  const { data: sessions } = await api.listSessions({ limit: 10 });
  await api.createSession({});
  await api.approveRun(data.run_id, {});
  await api.answerRun(data.run_id, { value: ['any', 1] });
  await api.callTool('calculator', { arguments: { expression: '1 + 1' } });
  await api.deleteSession('x');
  return `${data.result} ${sessions.sessions.length}`;
}
