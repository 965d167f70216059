import { Api, type HttpResponse, type Problem } from '../generated/swagger-typescript-api/client';

/** The problem of a refused request: this client rejects with its response. */
async function problemOf(request: Promise<unknown>): Promise<Problem> {
  try {
    await request;
  } catch (response) {
    return (response as HttpResponse<unknown, Problem>).error;
  }
  throw new Error('The request was not refused.');
}

export async function calls(baseUrl: string): Promise<string> {
  const { api } = new Api({ baseUrl });
  const { data } = await api.chat({
    query: 'Calculate 100 + 200',
    includeDetails: true,
    toolChoice: { name: 'calculator' },
  });
  const { data: sessions } = await api.listSessions({ limit: 1 });
  const { data: made } = await api.createSession({});
  await problemOf(api.approveRun(data.run_id, {}));
  await problemOf(api.answerRun(data.run_id, { value: ['any', 1] }));
  await api.callTool('calculator', { arguments: { expression: '1 + 1' } });
  await api.deleteSession(made.id);
  const { data: page } = await api.listRuns({ limit: 100 });
  const { code } = await problemOf(api.getRun('unknown'));
  return `${data.result} ${sessions.sessions.length} ${page.runs[0]?.status} ${code}`;
}
