import {
  answerRun,
  approveRun,
  callTool,
  chat,
  createSession,
  deleteSession,
  listSessions,
} from '../generated/orval/client';

export async function calls(): Promise<string> {
  const answer = await chat({ query: 'Calculate 100 + 200', includeDetails: true, toolChoice: { name: 'calculator' } });
  if (answer.status !== 200) throw new Error(String(answer.status));
  const sessions = await listSessions({ limit: 10 });
  await createSession({});
  await approveRun(answer.data.run_id);
  await answerRun(answer.data.run_id, { value: ['any', 1] });
  await callTool('calculator', { arguments: { expression: '1 + 1' } });
  await deleteSession('x');
  return `${answer.data.result} ${sessions.status === 200 ? sessions.data.sessions.length : 0}`;
}
