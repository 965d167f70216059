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
} from '../generated/orval/client';

/** Its functions have the URL of the server from the generation. */
export async function calls(): Promise<string> {
  const answer = await chat({ query: 'Calculate 100 + 200', includeDetails: true, toolChoice: { name: 'calculator' } });
  if (answer.status !== 200) throw new Error(String(answer.status));
  const sessions = await listSessions({ limit: 1 });
  const made = await createSession({});
  await approveRun(answer.data.run_id);
  await answerRun(answer.data.run_id, { value: ['any', 1] });
  await callTool('calculator', { arguments: { expression: '1 + 1' } });
  if (made.status === 201) await deleteSession(made.data.id);
  const page = await listRuns({ limit: 100 });
  const refused = await getRun('unknown');
  const count = sessions.status === 200 ? sessions.data.sessions.length : sessions.status;
  const status = page.status === 200 ? page.data.runs[0]?.status : page.status;
  return `${answer.data.result} ${count} ${status} ${refused.status === 404 ? refused.data.code : refused.status}`;
}
