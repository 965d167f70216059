import { describe, expect, it } from 'vitest';
import { ScheduleTimes } from './schedule-times.js';

const at = (time: string) => Date.parse(`2026-11-30T${time}Z`);
const textOf = (time: number | null) => time && new Date(time).toISOString().slice(11, 19);

describe('ScheduleTimes', () => {
  it.each([
    ['once', '09:20:30', '09:00:00', '10:00:00'],
    ['skip', '09:20:30', null, '10:00:00'],
    ['all', '09:20:30', '07:00:00', '08:00:00'],
    // The time of nine o'clock is not missed yet: with `skip` the next round starts its run.
    ['once', '09:00:30', '09:00:00', '10:00:00'],
    ['skip', '09:00:30', null, '09:00:00'],
  ] as const)('resolves times from seven o’clock on by %s at %s', async (policy, now, time, next) => {
    const times = await ScheduleTimes.of({ cron: '0 * * * *', at: null, timeZone: 'UTC' });
    const resolved = times.resolve(at('07:00:00'), at(now), policy);
    expect([textOf(resolved.at), textOf(resolved.nextAt)]).toEqual([time, next]);
  });

  it.each([
    ['once', '07:00:00'],
    ['skip', null],
    ['all', '07:00:00'],
  ] as const)('resolves a single time by %s', async (policy, time) => {
    const times = await ScheduleTimes.of({ cron: null, at: at('07:00:00'), timeZone: 'UTC' });
    const resolved = times.resolve(at('07:00:00'), at('09:20:30'), policy);
    expect([textOf(resolved.at), resolved.nextAt]).toEqual([time, null]);
  });

  it('limits the missed times of `all` to the last 100', async () => {
    const times = await ScheduleTimes.of({ cron: '* * * * *', at: null, timeZone: 'UTC' });
    expect(textOf(times.resolve(at('00:00:00'), at('09:20:30'), 'all').at)).toBe('07:41:00');
  });
});
