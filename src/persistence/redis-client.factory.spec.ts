import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { AnswerDeadline, type Awaited } from './redis-client.factory.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class FakeRequest implements Awaited {
  isResolved = false;
  readonly failures: string[] = [];

  reject(error: Error): void {
    this.failures.push(error.message);
  }
}

it('rejects only requests without an answer in time', () => {
  const deadline = new AnswerDeadline(800);
  const [first, answered, second] = [new FakeRequest(), new FakeRequest(), new FakeRequest()];
  for (const request of [first, answered]) deadline.watch(request);
  vi.advanceTimersByTime(450);
  deadline.watch(second);
  answered.isResolved = true;
  vi.advanceTimersByTime(349);
  expect(first.failures).toEqual([]);
  vi.advanceTimersByTime(101);
  expect([first.failures, answered.failures, second.failures]).toEqual([['no answer in 800 ms'], [], []]);
  vi.advanceTimersByTime(450);
  expect([first.failures.length, second.failures]).toEqual([1, ['no answer in 800 ms']]);
});

it('has no timer while no request is pending', () => {
  const deadline = new AnswerDeadline(800);
  const request = new FakeRequest();
  deadline.watch(request);
  expect(vi.getTimerCount()).toBe(1);
  request.isResolved = true;
  vi.advanceTimersByTime(100);
  expect(vi.getTimerCount()).toBe(0);
  deadline.watch(new FakeRequest());
  expect(vi.getTimerCount()).toBe(1);
});
