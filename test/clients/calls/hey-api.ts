import {
  answerRun,
  approveRun,
  callTool,
  chat,
  createSession,
  deleteSession,
  getRun,
  listRuns,
  listSessions,
} from '../generated/hey-api';
import { client } from '../generated/hey-api/client.gen';

export async function calls(baseUrl: string): Promise<string> {
  client.setConfig({ baseUrl });
  const { data, error } = await chat({
    body: { query: 'Calculate 100 + 200', includeDetails: true, toolChoice: { name: 'calculator' } },
  });
  if (!data) throw new Error(String(error));
  const { data: sessions } = await listSessions({ query: { limit: 1 } });
  const { data: made } = await createSession({ body: {} });
  await approveRun({ path: { id: data.run_id } });
  await answerRun({ path: { id: data.run_id }, body: { value: ['any', 1] } });
  await callTool({ path: { name: 'calculator' }, body: { arguments: { expression: '1 + 1' } } });
  await deleteSession({ path: { id: made?.id ?? '' } });
  const { data: page } = await listRuns({ query: { limit: 100 } });
  const { error: problem } = await getRun({ path: { id: 'unknown' } });
  return `${data.result} ${sessions?.sessions.length} ${page?.runs[0]?.status} ${problem?.code}`;
}
