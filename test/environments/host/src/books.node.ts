import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from './check.js';
test('an agent of the host calls its tool', async () => {
  assert.deepEqual(await check(), { result: '["Emma"]', isAppError: true, isHttpException: true });
});
