import { describe, expect, it } from 'vitest';
import { Clock, TimestampTool } from './builtin.tool.js';
import { toIsoInZone } from './time-format.mapper.js';

const NEW_YEAR = Date.UTC(2026, 0, 1);

describe('toIsoInZone', () => {
  it.each([
    ['UTC', '2026-01-01T00:00:00Z'],
    ['Asia/Shanghai', '2026-01-01T08:00:00+08:00'],
    ['America/New_York', '2025-12-31T19:00:00-05:00'],
    ['Asia/Kolkata', '2026-01-01T05:30:00+05:30'],
    ['Europe/London', '2026-01-01T00:00:00+00:00'],
  ])('formats the time in %s', (zone, expected) => {
    expect(toIsoInZone(NEW_YEAR, zone)).toBe(expected);
  });

  it('follows daylight saving time', () => {
    expect(toIsoInZone(Date.UTC(2026, 6, 1, 12), 'Europe/Berlin')).toBe('2026-07-01T14:00:00+02:00');
  });

  it.each(['Mars/Base', '', 'x'.repeat(1_000)])('refuses the zone %.20s', (zone) => {
    expect(() => toIsoInZone(NEW_YEAR, zone)).toThrow('Unknown time zone');
  });
});

describe('get_timestamp', () => {
  class FixedClock extends Clock {
    override now(): number {
      return NEW_YEAR + 999;
    }
  }
  const tools = new TimestampTool(new FixedClock());

  it('returns ISO in UTC by default, and epoch formats on request', () => {
    expect(tools.getTimestamp({})).toBe('2026-01-01T00:00:00Z');
    expect(tools.getTimestamp({ format: 'epoch_s' })).toBe(NEW_YEAR / 1000);
    expect(tools.getTimestamp({ format: 'epoch_ms' })).toBe(NEW_YEAR + 999);
  });

  it.each([
    ['date', '2026-01-01'],
    ['time', '08:00:00'],
    ['datetime', '2026-01-01 08:00:00'],
    ['rfc2822', 'Thu, 01 Jan 2026 08:00:00 +0800'],
    ['YYYY-MM-DDTHH:mm:ss.SSSZ', '2026-01-01T08:00:00.999+08:00'],
    ['YYYY/M/D h:mm A', '2026/1/1 8:00 AM'],
    ['YYYY年MM月DD日 HH:mm:ss.SSS', '2026年01月01日 08:00:00.999'],
    ['dddd, D MMMM YY [at] H Z', 'Thursday, 1 January 26 at 8 +08:00'],
  ])('writes %s', (format, expected) => {
    expect(tools.getTimestamp({ timezone: 'Asia/Shanghai', format })).toBe(expected);
  });

  it.each(['isoo', 'YYYY-QQ', '', '--', 'constructor', 'x'.repeat(99)])('refuses the format %.20s', (format) => {
    expect(() => tools.getTimestamp({ format })).toThrow(/Unknown format .*use iso, .* YYYY/);
  });

  it.each(['', ' '])('reads the empty zone %j as UTC', (empty) => {
    expect(tools.getTimestamp({ timezone: empty })).toBe(tools.getTimestamp({}));
  });

  it.each([
    ['CST', 'America/Chicago, UTC-06:00'],
    ['cst', 'America/Chicago, UTC-06:00'],
    [' IST ', 'Asia/Calcutta, UTC+05:30'],
    ['BST', 'Asia/Dhaka, UTC+06:00'],
    ['PST', 'America/Los_Angeles, UTC-08:00'],
    ['AST', 'America/Anchorage, UTC-09:00'],
  ])('reports the zone of the abbreviation %s', (timezone, zone) => {
    for (const format of ['iso', 'date', 'HH:mm'])
      expect(tools.getTimestamp({ timezone, format })).toMatch(
        ` ("${timezone.trim()}" was read as ${zone}; for another zone give its IANA name, such as Asia/Shanghai)`,
      );
    expect(typeof tools.getTimestamp({ timezone, format: 'epoch_s' })).toBe('number');
  });

  it.each(['UTC', 'GMT', 'CET', 'PRC', 'Cuba', 'Japan', 'Asia/Tokyo', '+08:00', 'CST6CDT'])(
    'adds nothing to a time in the clear zone %s',
    (timezone) => {
      expect(tools.getTimestamp({ timezone })).not.toMatch(/read as/);
    },
  );

  it('refuses an unknown zone in every format', () => {
    expect(() => tools.getTimestamp({ timezone: 'Nowhere', format: 'epoch_s' })).toThrow('Unknown time zone "Nowhere"');
  });
});
