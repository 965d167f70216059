import {
  approveRun,
  answerRun,
  callTool,
  chat,
  createSession,
  deleteSession,
  listSessions,
} from '../generated/hey-api';

export async function calls(): Promise<string> {
  const { data, error } = await chat({
    body: { query: 'Calculate 100 + 200', includeDetails: true, toolChoice: { name: 'calculator' } },
  });
  if (!data) throw new Error(String(error));
  const { data: sessions } = await listSessions({ query: { limit: 10 } });
  const { data: made } = await createSession({ body: {} });
  await approveRun({ path: { id: data.run_id } });
  await answerRun({ path: { id: data.run_id }, body: { value: ['any', 1] } });
  await callTool({ path: { name: 'calculator' }, body: { arguments: { expression: '1 + 1' } } });
  await deleteSession({ path: { id: made?.id ?? '' } });
  return `${sessions?.sessions.length ?? 0}`;
}
