import { check } from './check.js';
it('calls a tool of the host', async () => {
  expect(await check()).toEqual({ result: '["Emma"]', isAppError: true, isHttpException: true });
}, 30_000);
